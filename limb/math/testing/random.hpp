#pragma once

#include <random>
#include <string>
#include <vector>

#include "limb/math/inertia.hpp"
#include "limb/math/se3.hpp"

namespace limb::testing {

/// Seeded random values for tests. The seed is in the test, so a failure is reproducible;
/// SCOPED_TRACE(random.text()) also prints it.
class Random {
 public:
  explicit Random(unsigned seed) : seed_(seed), engine_(seed) {}
  [[nodiscard]] std::string text() const { return "seed " + std::to_string(seed_); }

  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  double normal() { return std::normal_distribution<double>()(engine_); }
  /// Each entry between -size and size.
  template <typename T, int N = 3>
  Eigen::Matrix<T, N, 1> vector(double size = 1) {
    Eigen::Matrix<T, N, 1> x;
    for (int i = 0; i < N; ++i) x[i] = T(uniform(-size, size));
    return x;
  }
  /// Uniform on the sphere.
  template <typename T>
  Vector3<T> direction() {
    const double x = normal(), y = normal(), z = normal();
    return Vector3<double>(x, y, z).normalized().cast<T>();
  }
  /// A quaternion of any nonzero length.
  template <typename T>
  Quaternion<T> quaternion() {
    const double x = normal(), y = normal(), z = normal(), w = normal();
    return quat_xyzw(T(x), T(y), T(z), T(w));
  }
  /// Uniform over the rotations.
  template <typename T>
  Quaternion<T> unit_quaternion() {
    return quaternion<T>().normalized();
  }
  template <typename T>
  Matrix3<T> rotation() {
    const Vector3<T> axis = direction<T>();
    return so3::exp<T>(axis * T(uniform(0, 3.1)));
  }
  template <typename T>
  Pose<T> pose(double size = 1) {
    const Matrix3<T> R = rotation<T>();
    return {R, vector<T>(size)};
  }
  template <typename T>
  Motion<T> motion(double size = 1) {
    return Motion<T>::from_vector(vector<T, 6>(size));
  }
  template <typename T>
  Force<T> force(double size = 1) {
    return Force<T>::from_vector(vector<T, 6>(size));
  }
  std::vector<PointMass<double>> points(int n) {
    std::vector<PointMass<double>> result;
    for (int i = 0; i < n; ++i) {
      const double mass = uniform(0.1, 2);
      result.push_back({mass, vector<double>()});
    }
    return result;
  }
  /// A body of eight random point masses: consistent, its mass centre off the origin.
  Inertia<double> body() { return Inertia<double>::from_point_masses(points(8)); }

 private:
  unsigned seed_;
  std::mt19937_64 engine_;
};

}  // namespace limb::testing
