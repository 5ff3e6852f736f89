#pragma once

#include <random>

#include "limb/math/se3.hpp"

namespace limb::testing {

/// Seeded source of everything random in tests; the seed is in the test, so a failure repeats.
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}

  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  template <typename T>
  Vector3<T> vector(double size = 1) {
    return Vector3<T>(T(uniform(-size, size)), T(uniform(-size, size)), T(uniform(-size, size)));
  }
  /// Uniform on the sphere.
  template <typename T>
  Vector3<T> direction() {
    std::normal_distribution<double> normal;
    const Eigen::Vector3d v(normal(engine_), normal(engine_), normal(engine_));
    return v.normalized().cast<T>();
  }
  template <typename T>
  Matrix3<T> rotation() {
    return so3::exp<T>(direction<T>() * T(uniform(0, 3.1)));
  }
  template <typename T>
  Pose<T> pose(double size = 1) {
    return {rotation<T>(), vector<T>(size)};
  }
  template <typename T>
  Motion<T> motion(double size = 1) {
    return {vector<T>(size), vector<T>(size)};
  }
  template <typename T>
  Force<T> force(double size = 1) {
    return {vector<T>(size), vector<T>(size)};
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace limb::testing
