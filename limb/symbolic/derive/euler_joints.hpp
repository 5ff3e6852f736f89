#pragma once

#include "limb/symbolic/derive/robot.hpp"

namespace limb::symbolic {

/// Replaces joints whose velocities are not time derivatives of coordinates by chains of joints
/// with one coordinate each, between links without mass:
///
///   planar      displacements x, y in the plane, then the angle about its normal
///   spherical   angles yaw about z, pitch about y, roll about x, each about the rotated axis
///   free        displacements x, y, z, then these angles
///
/// The new joints are named "base_x", ..., "base_roll" after the joint "base". The angles of
/// spherical and free joints are singular at pitch = 90 degrees; a note says so. With Base::free,
/// root links get a free joint first, and with Base::fixed free joints of the world are fixed, as
/// in build_model; the result is to be built with Base::described. The new joints of a free base
/// have no motors.
void replace_manifold_joints(Description<Polynomial>& description, Base base,
                             std::vector<std::string>& notes);

}  // namespace limb::symbolic
