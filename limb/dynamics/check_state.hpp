#pragma once

#include "limb/dynamics/arguments.hpp"

namespace limb {

/// A quaternion of a state may be off unit length by this much, as float sensors and typed numbers
/// are.
inline constexpr double kQuaternionTolerance = 1e-6;

/// Where the quaternion of a joint begins among its coordinates, or -1.
constexpr int quaternion_place(JointType type) {
  if (type == JointType::spherical) return 0;
  return type == JointType::free ? 3 : -1;
}

/// A configuration of the robot: right size, finite numbers, unit quaternions.
/// @throws Error with the index of the number, or the joint and norm of the quaternion.
void check_configuration(const char* call, const char* argument, const Model<double>& model,
                         VectorIn<double>& q);

}  // namespace limb
