#pragma once

#include <Eigen/Core>
#include <array>
#include <cmath>

#include "limb/math/dual.hpp"

/// Two scalars that represent the types limb must support besides machine numbers: one with a
/// derivative, and one with several values at once, on which code cannot branch.
namespace limb::testing {

/// One derivative.
using Dual = limb::Dual<double, 1>;

inline constexpr int kLanes = 4;

struct Mask {
  std::array<bool, kLanes> lane{};
  Mask operator!() const {
    Mask m;
    for (int i = 0; i < kLanes; ++i) m.lane[i] = !lane[i];
    return m;
  }
};

/// Four doubles that are processed together; a comparison has four results.
struct Pack {
  std::array<double, kLanes> lane{};

  Pack() = default;
  Pack(double v) { lane.fill(v); }  // NOLINT: implicit on purpose

  template <typename F>
  static Pack map(const Pack& a, F f) {
    Pack r;
    for (int i = 0; i < kLanes; ++i) r.lane[i] = f(a.lane[i]);
    return r;
  }
  template <typename F>
  static Pack map(const Pack& a, const Pack& b, F f) {
    Pack r;
    for (int i = 0; i < kLanes; ++i) r.lane[i] = f(a.lane[i], b.lane[i]);
    return r;
  }
  friend Pack operator-(const Pack& a) {
    return map(a, [](double x) { return -x; });
  }
  friend Pack operator+(const Pack& a, const Pack& b) {
    return map(a, b, [](double x, double y) { return x + y; });
  }
  friend Pack operator-(const Pack& a, const Pack& b) {
    return map(a, b, [](double x, double y) { return x - y; });
  }
  friend Pack operator*(const Pack& a, const Pack& b) {
    return map(a, b, [](double x, double y) { return x * y; });
  }
  friend Pack operator/(const Pack& a, const Pack& b) {
    return map(a, b, [](double x, double y) { return x / y; });
  }
  Pack& operator+=(const Pack& b) { return *this = *this + b; }
  Pack& operator-=(const Pack& b) { return *this = *this - b; }
  Pack& operator*=(const Pack& b) { return *this = *this * b; }
  Pack& operator/=(const Pack& b) { return *this = *this / b; }
  friend Mask operator<(const Pack& a, const Pack& b) {
    Mask m;
    for (int i = 0; i < kLanes; ++i) m.lane[i] = a.lane[i] < b.lane[i];
    return m;
  }
  friend Pack select(const Mask& m, const Pack& a, const Pack& b) {
    Pack r;
    for (int i = 0; i < kLanes; ++i) r.lane[i] = m.lane[i] ? a.lane[i] : b.lane[i];
    return r;
  }
  friend Pack sqrt(const Pack& a) {
    return map(a, [](double x) { return std::sqrt(x); });
  }
  friend Pack sin(const Pack& a) {
    return map(a, [](double x) { return std::sin(x); });
  }
  friend Pack cos(const Pack& a) {
    return map(a, [](double x) { return std::cos(x); });
  }
  friend Pack exp(const Pack& a) {
    return map(a, [](double x) { return std::exp(x); });
  }
  friend Pack log(const Pack& a) {
    return map(a, [](double x) { return std::log(x); });
  }
  friend Pack atan2(const Pack& a, const Pack& b) {
    return map(a, b, [](double y, double x) { return std::atan2(y, x); });
  }
};

}  // namespace limb::testing

namespace Eigen {

template <>
struct NumTraits<limb::testing::Pack> : NumTraits<double> {
  using Real = limb::testing::Pack;
  using NonInteger = limb::testing::Pack;
  using Nested = limb::testing::Pack;
};

}  // namespace Eigen

namespace limb::testing {

/// x + e d as dual numbers.
template <int Rows, int Cols>
Eigen::Matrix<Dual, Rows, Cols> dual(const Eigen::Matrix<double, Rows, Cols>& x,
                                     const Eigen::Matrix<double, Rows, Cols>& d) {
  Eigen::Matrix<Dual, Rows, Cols> r = x.template cast<Dual>();
  for (int i = 0; i < r.size(); ++i) r.data()[i].tangent[0] = d.data()[i];
  return r;
}

template <int Rows, int Cols>
Eigen::Matrix<double, Rows, Cols> value(const Eigen::Matrix<Dual, Rows, Cols>& x) {
  return x.unaryExpr([](const Dual& d) { return d.value; });
}

template <int Rows, int Cols>
Eigen::Matrix<double, Rows, Cols> derivative(const Eigen::Matrix<Dual, Rows, Cols>& x) {
  return x.unaryExpr([](const Dual& d) { return d.tangent[0]; });
}

}  // namespace limb::testing
