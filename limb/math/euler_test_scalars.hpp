#pragma once

#include <array>
#include <cmath>

#include "limb/math/scalar.hpp"

/// Two small scalars for tests: a dual number (exact derivatives) and a pack of two lanes (whose
/// comparisons are no bool). Only what the tested functions ask of a scalar.
namespace limb {

struct Dual {
  double value = 0, slope = 0;
  Dual() = default;
  Dual(double v, double s = 0) : value(v), slope(s) {}

  Dual operator-() const { return {-value, -slope}; }
  friend Dual operator+(const Dual& a, const Dual& b) {
    return {a.value + b.value, a.slope + b.slope};
  }
  friend Dual operator-(const Dual& a, const Dual& b) {
    return {a.value - b.value, a.slope - b.slope};
  }
  friend Dual operator*(const Dual& a, const Dual& b) {
    return {a.value * b.value, a.slope * b.value + a.value * b.slope};
  }
  friend Dual operator/(const Dual& a, const Dual& b) {
    return {a.value / b.value, (a.slope - a.value / b.value * b.slope) / b.value};
  }
  Dual& operator+=(const Dual& b) { return *this = *this + b; }
  friend bool operator<(const Dual& a, const Dual& b) { return a.value < b.value; }
  friend bool operator>=(const Dual& a, const Dual& b) { return a.value >= b.value; }
  friend Dual sin(const Dual& a) { return {std::sin(a.value), std::cos(a.value) * a.slope}; }
  friend Dual cos(const Dual& a) { return {std::cos(a.value), -std::sin(a.value) * a.slope}; }
  friend Dual sqrt(const Dual& a) {
    const double root = std::sqrt(a.value);
    return {root, a.slope / (2 * root)};
  }
  friend Dual atan2(const Dual& y, const Dual& x) {
    const double squared = x.value * x.value + y.value * y.value;
    return {std::atan2(y.value, x.value), (x.value * y.slope - y.value * x.slope) / squared};
  }
};

struct TwoBools {
  std::array<bool, 2> lane;
};

struct TwoLanes {
  std::array<double, 2> lane{};
  TwoLanes() = default;
  TwoLanes(double both) : lane{both, both} {}
  TwoLanes(double first, double second) : lane{first, second} {}

  template <typename F>
  static TwoLanes each(const F& f) {
    return {f(0), f(1)};
  }
  TwoLanes operator-() const { return {-lane[0], -lane[1]}; }
  friend TwoLanes operator+(const TwoLanes& a, const TwoLanes& b) {
    return each([&](std::size_t n) { return a.lane[n] + b.lane[n]; });
  }
  friend TwoLanes operator-(const TwoLanes& a, const TwoLanes& b) {
    return each([&](std::size_t n) { return a.lane[n] - b.lane[n]; });
  }
  friend TwoLanes operator*(const TwoLanes& a, const TwoLanes& b) {
    return each([&](std::size_t n) { return a.lane[n] * b.lane[n]; });
  }
  friend TwoLanes operator/(const TwoLanes& a, const TwoLanes& b) {
    return each([&](std::size_t n) { return a.lane[n] / b.lane[n]; });
  }
  TwoLanes& operator+=(const TwoLanes& b) { return *this = *this + b; }
  friend TwoBools operator<(const TwoLanes& a, const TwoLanes& b) {
    return {{a.lane[0] < b.lane[0], a.lane[1] < b.lane[1]}};
  }
  friend TwoLanes select(const TwoBools& mask, const TwoLanes& a, const TwoLanes& b) {
    return each([&](std::size_t n) { return mask.lane[n] ? a.lane[n] : b.lane[n]; });
  }
  friend TwoLanes sin(const TwoLanes& a) {
    return each([&](std::size_t n) { return std::sin(a.lane[n]); });
  }
  friend TwoLanes cos(const TwoLanes& a) {
    return each([&](std::size_t n) { return std::cos(a.lane[n]); });
  }
  friend TwoLanes sqrt(const TwoLanes& a) {
    return each([&](std::size_t n) { return std::sqrt(a.lane[n]); });
  }
  friend TwoLanes atan2(const TwoLanes& y, const TwoLanes& x) {
    return each([&](std::size_t n) { return std::atan2(y.lane[n], x.lane[n]); });
  }
};

}  // namespace limb

template <>
struct Eigen::NumTraits<limb::Dual> : Eigen::NumTraits<double> {
  using Real = limb::Dual;
  using NonInteger = limb::Dual;
  using Nested = limb::Dual;
};

template <>
struct Eigen::NumTraits<limb::TwoLanes> : Eigen::NumTraits<double> {
  using Real = limb::TwoLanes;
  using NonInteger = limb::TwoLanes;
  using Nested = limb::TwoLanes;
};

namespace limb {

inline Vector3<Dual> dual(const Vector3<double>& v, const Vector3<double>& s) {
  return {Dual(v[0], s[0]), Dual(v[1], s[1]), Dual(v[2], s[2])};
}

template <int Columns>
Eigen::Matrix<double, 3, Columns> values(const Eigen::Matrix<Dual, 3, Columns>& m) {
  return m.unaryExpr([](const Dual& x) { return x.value; });
}
template <int Columns>
Eigen::Matrix<double, 3, Columns> slopes(const Eigen::Matrix<Dual, 3, Columns>& m) {
  return m.unaryExpr([](const Dual& x) { return x.slope; });
}

inline Vector3<TwoLanes> lanes(const Vector3<double>& a, const Vector3<double>& b) {
  return {TwoLanes(a[0], b[0]), TwoLanes(a[1], b[1]), TwoLanes(a[2], b[2])};
}

}  // namespace limb
