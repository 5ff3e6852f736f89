#pragma once

#include <array>

#include "limb/estimate/filter/imu.hpp"
#include "limb/math/spatial.hpp"

/// State of the filters of this module, and the order of its errors. Sizes are bounded, so that
/// nothing allocates.
namespace limb {

inline constexpr int kMaxFeet = 8;
inline constexpr int kCoreSize = 15;
inline constexpr int kMaxErrors = kCoreSize + 3 * kMaxFeet;

/// First index of each part of an error, three entries each; then those of the feet in contact.
struct ErrorIndex {
  static constexpr int position = 0, rotation = 3, velocity = 6, gyro_bias = 9, accel_bias = 12;
  static constexpr int foot(int slot) { return kCoreSize + 3 * slot; }
};

using FilterMatrix =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, kMaxErrors, kMaxErrors>;
using FilterVector = Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, kMaxErrors, 1>;

/// Pose and velocity of the sensor S in the world, its biases, and the positions of the feet F in
/// contact. Feet are numbered by the caller; those in contact have a slot each, in order of
/// contact.
template <typename T>
struct FilterStateOf {
  Vector3<T> p_WS = Vector3<T>::Zero();
  Matrix3<T> R_WS = Matrix3<T>::Identity();
  Vector3<T> v_WS = Vector3<T>::Zero();
  Vector3<T> gyro_bias = Vector3<T>::Zero();
  Vector3<T> accel_bias = Vector3<T>::Zero();
  int feet = 0;  ///< in contact
  std::array<int, kMaxFeet> foot{};
  std::array<Vector3<T>, kMaxFeet> p_WF;

  int errors() const { return kCoreSize + 3 * feet; }
  /// -1 if this foot is not in contact.
  int slot_of(int number) const {
    for (int i = 0; i < feet; ++i) {
      if (foot[static_cast<std::size_t>(i)] == number) return i;
    }
    return -1;
  }
};
using FilterState = FilterStateOf<double>;

}  // namespace limb
