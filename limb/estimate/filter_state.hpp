#pragma once

#include <array>

#include "limb/estimate/imu.hpp"
#include "limb/math/spatial.hpp"

/// What the filters of this room estimate, and how its errors are ordered. Sizes are bounded, so
/// that nothing allocates.
namespace limb {

inline constexpr int kMaxFeet = 8;
inline constexpr int kCoreSize = 15;
inline constexpr int kMaxErrors = kCoreSize + 3 * kMaxFeet;

/// Where the parts of an error stand, three numbers each; then those of the feet on the ground.
struct ErrorPlace {
  static constexpr int position = 0, rotation = 3, velocity = 6, gyro_bias = 9, accel_bias = 12;
  static constexpr int foot(int slot) { return kCoreSize + 3 * slot; }
};

using FilterMatrix =
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, kMaxErrors, kMaxErrors>;
using FilterVector = Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, kMaxErrors, 1>;

/// The sensor S in the world, its biases, and where the feet F that stand on the ground are. Feet
/// are numbered by their user; those on the ground have a slot each, in the order of coming.
struct FilterState {
  Vector3<double> p_WS = Vector3<double>::Zero();
  Matrix3<double> R_WS = Matrix3<double>::Identity();
  Vector3<double> v_WS = Vector3<double>::Zero();
  Vector3<double> gyro_bias = Vector3<double>::Zero();
  Vector3<double> accel_bias = Vector3<double>::Zero();
  int feet = 0;  ///< on the ground
  std::array<int, kMaxFeet> foot{};
  std::array<Vector3<double>, kMaxFeet> p_WF;

  int errors() const { return kCoreSize + 3 * feet; }
  /// -1 where this foot is in the air.
  int slot_of(int number) const {
    for (int i = 0; i < feet; ++i) {
      if (foot[static_cast<std::size_t>(i)] == number) return i;
    }
    return -1;
  }
};

}  // namespace limb
