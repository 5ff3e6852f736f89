#pragma once

#include "limb/dynamics/arguments.hpp"

namespace limb {

/// Largest accepted deviation of a quaternion's norm from 1: single-precision data passes.
inline constexpr double kQuaternionTolerance = 1e-6;

/// Index of the quaternion's first entry among the coordinates of a joint, or -1.
constexpr int quaternion_offset(JointType type) {
  if (type == JointType::spherical) return 0;
  return type == JointType::free ? 3 : -1;
}

/// Checks a configuration: size, finite numbers, unit quaternions.
/// @throws Error with the index of the number, or the joint and norm of the quaternion.
void check_configuration(const char* call, const char* argument, const Model<double>& model,
                         VectorIn<double>& q);

}  // namespace limb
