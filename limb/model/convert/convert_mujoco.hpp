#pragma once

#include "limb/model/convert/convert.hpp"

namespace limb {

/// MuJoCo (facts checked with 4.0).
///
/// qpos, qvel, qacc, qfrc_*. The free joint's qpos is a pose in the world, wherever the body was
/// declared. Hinges and slides must have ref = 0. Planar, cylindrical, universal and
/// translation joints are several MuJoCo joints of one body, in limb's order of coordinates; the
/// planar joint is slide, slide, hinge, so its velocities are in axes of the parent. Spatial
/// vectors are the "c" vectors (cvel, cacc, cfrc_*) and mj_objectVelocity; only xfrc_applied has
/// the force first.
inline constexpr ConventionFacts kMujocoFacts = {
    .library = "MuJoCo",
    .call = "MujocoConvention",
    .joint_order = JointOrder::file,
    .spatial_order = SpatialOrder::angular_first,
    .quaternion = QuaternionOrder::wxyz,
    .continuous = AngleCoordinates::angle,
    .planar_angle = AngleCoordinates::angle,
    .planar_velocity = VelocityAxes::parent,
    .spherical = SphericalCoordinates::quaternion,
    .spherical_velocity = VelocityAxes::child,
    .free_position = SpatialOrder::linear_first,      // qpos = (p, wxyz)
    .free_velocity = BaseVelocityConvention::mujoco,  // qvel = (v in the world, w in the body)
    .free_velocity_order = SpatialOrder::linear_first,
    .free_reference = FreeJointReference::world,
    .has_helical = false,
};

using MujocoConvention = ConventionOf<kMujocoFacts>;

}  // namespace limb
