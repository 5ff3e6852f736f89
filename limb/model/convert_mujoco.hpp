#pragma once

#include "limb/model/convert.hpp"

namespace limb {

/// MuJoCo (facts checked with 4.0).
///
/// qpos, qvel, qacc, qfrc_*. The free joint's qpos is a pose in the world, wherever the body was
/// declared. Hinges and slides are meant with ref = 0. Planar, cylindrical, universal and
/// translation joints are several MuJoCo joints of one body, in limb's order of coordinates; the
/// planar joint is slide, slide, hinge, so its velocities are in axes of the parent. Spatial
/// vectors are the "c" vectors (cvel, cacc, cfrc_*) and mj_objectVelocity; xfrc_applied alone has
/// the force first.
inline constexpr ConventionFacts kMujocoFacts = {
    .library = "MuJoCo",
    .call = "MujocoConvention",
    .joint_order = JointOrder::file,
    .spatial_order = PartOrder::angular_first,
    .quaternion = QuaternionForm::wxyz,
    .continuous = AngleForm::angle,
    .planar_angle = AngleForm::angle,
    .planar_velocity = Axes::parent,
    .ball = BallForm::quaternion,
    .ball_velocity = Axes::child,
    .free_position = PartOrder::linear_first,  // qpos = (p, wxyz)
    .free_velocity = FreeVelocity::mixed,      // qvel = (v in the world, w in the body)
    .free_velocity_order = PartOrder::linear_first,
    .free_place = FreePlace::world,
    .has_helical = false,
};

using MujocoConvention = ConventionOf<kMujocoFacts>;

}  // namespace limb
