#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "limb/math/inertia.hpp"
#include "limb/math/so3.hpp"

// What the tests of inertia share: seeded random bodies, error texts, a dual number.
namespace limb::inertia_tests {

inline std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// Seeded source of numbers; put SCOPED_TRACE(random.text()) where it is used.
class Random {
 public:
  explicit Random(unsigned seed) : seed_(seed), engine_(seed) {}
  std::string text() const { return "seed " + std::to_string(seed_); }

  double in(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  template <int N>
  Eigen::Matrix<double, N, 1> vector(double size = 1) {
    Eigen::Matrix<double, N, 1> x;
    for (int i = 0; i < N; ++i) x[i] = in(-size, size);
    return x;
  }
  Matrix3<double> rotation() { return so3::exp<double>(vector<3>(2)); }
  Pose<double> pose() {
    Pose<double> X;
    X.R = rotation();
    X.p = vector<3>(2);
    return X;
  }
  Motion<double> motion() { return {vector<3>(2), vector<3>(2)}; }
  std::vector<PointMass<double>> points(int n) {
    std::vector<PointMass<double>> result;
    for (int i = 0; i < n; ++i) result.push_back({in(0.1, 2), vector<3>()});
    return result;
  }
  /// A body of eight random point masses: consistent, its mass centre off the origin.
  Inertia<double> body() { return Inertia<double>::from_point_masses(points(8)); }

 private:
  unsigned seed_;
  std::mt19937_64 engine_;
};

/// Largest difference of the ten numbers, each relative to the size of its kind in a.
template <typename T>
double relative_error(const Inertia<T>& a, const Inertia<T>& b) {
  const auto part = [](double difference, double size) {
    return size > 0 ? difference / size : difference;
  };
  const double mass = part(std::abs(double(a.mass() - b.mass())), std::abs(double(a.mass())));
  const double first =
      part(double((a.first_moment() - b.first_moment()).norm()), double(a.first_moment().norm()));
  const double tensor = part(double((a.tensor() - b.tensor()).norm()), double(a.tensor().norm()));
  return std::max({mass, first, tensor});
}

/// Value and one derivative. It has no comparison: what compiles with it does not branch.
struct Dual {
  double x = 0, d = 0;
  Dual() = default;
  Dual(double value, double derivative = 0) : x(value), d(derivative) {}  // NOLINT: as a number
  Dual operator-() const { return {-x, -d}; }
  Dual operator+(const Dual& o) const { return {x + o.x, d + o.d}; }
  Dual operator-(const Dual& o) const { return {x - o.x, d - o.d}; }
  Dual operator*(const Dual& o) const { return {x * o.x, d * o.x + x * o.d}; }
  Dual operator/(const Dual& o) const { return {x / o.x, (d * o.x - x * o.d) / (o.x * o.x)}; }
  Dual& operator+=(const Dual& o) { return *this = *this + o; }
  Dual& operator-=(const Dual& o) { return *this = *this - o; }
  Dual& operator*=(const Dual& o) { return *this = *this * o; }
  Dual& operator/=(const Dual& o) { return *this = *this / o; }
  friend Dual exp(const Dual& a) { return {std::exp(a.x), std::exp(a.x) * a.d}; }
  friend Dual log(const Dual& a) { return {std::log(a.x), a.d / a.x}; }
  friend Dual sqrt(const Dual& a) { return {std::sqrt(a.x), a.d / (2 * std::sqrt(a.x))}; }
};

}  // namespace limb::inertia_tests

template <>
struct Eigen::NumTraits<limb::inertia_tests::Dual> : Eigen::GenericNumTraits<double> {
  using Real = limb::inertia_tests::Dual;
  using NonInteger = limb::inertia_tests::Dual;
  using Nested = limb::inertia_tests::Dual;
  enum { RequireInitialization = 1 };
};
