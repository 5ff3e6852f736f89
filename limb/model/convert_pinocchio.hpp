#pragma once

#include "limb/model/convert.hpp"

namespace limb {

/// Pinocchio (facts checked with 3.7 and 4.1).
///
/// The order of the joints is that of its URDF reader, which keeps joints sorted by name; a model
/// made by addJoint has the order of the calls: give the names. Mimic joints are joints of their
/// own unless its reader is asked otherwise. JointModelPlanar moves in the xy plane of its frame:
/// for limb's normal n, turn both of its frames by Joint::plane().
inline constexpr ConventionFacts kPinocchioFacts = {
    .library = "Pinocchio",
    .call = "PinocchioConvention",
    .joint_order = JointOrder::alphabetical,
    .spatial_order = PartOrder::linear_first,
    .quaternion = QuaternionForm::xyzw,
    .continuous = AngleForm::cos_sin,    // nq = 2, nv = 1
    .planar_angle = AngleForm::cos_sin,  // q = (x, y, cos, sin)
    .planar_velocity = Axes::child,
    .ball = BallForm::quaternion,
    .ball_velocity = Axes::child,
    .free_position = PartOrder::linear_first,  // q = (p, xyzw)
    .free_velocity = FreeVelocity::body,
    .free_velocity_order = PartOrder::linear_first,
    .free_place = FreePlace::joint_frame,
    .has_helical = true,
};

using PinocchioConvention = ConventionOf<kPinocchioFacts>;

}  // namespace limb
