#pragma once

#include "limb/model/convert.hpp"

namespace limb {

/// Drake (facts checked with 1.51): MultibodyPlant with QuaternionFloatingJoint, BallRpyJoint,
/// PlanarJoint, UniversalJoint, ScrewJoint.
///
/// A ball joint is stored as three angles, so near pitch = +-pi/2 a configuration read back may
/// have other angles for the same orientation; its velocity is an angular velocity and never
/// singular. ScrewJoint's pitch is m per turn, limb's m per rad. Cylindrical and translation joints
/// are sequences of prismatic and revolute joints. PlanarJoint moves in the xy plane of its frame:
/// for limb's normal n, turn both of its frames by Joint::plane().
inline constexpr ConventionFacts kDrakeFacts = {
    .library = "Drake",
    .call = "DrakeConvention",
    .joint_order = JointOrder::file,  // the order of AddJoint, depth first
    .spatial_order = PartOrder::angular_first,
    .quaternion = QuaternionForm::wxyz,
    .continuous = AngleForm::angle,
    .planar_angle = AngleForm::angle,
    .planar_velocity = Axes::parent,
    .ball = BallForm::roll_pitch_yaw,
    .ball_velocity = Axes::parent,
    .free_position = PartOrder::angular_first,  // q = (wxyz, p)
    .free_velocity = FreeVelocity::hybrid,      // v = (w, v), both in axes of the parent
    .free_velocity_order = PartOrder::angular_first,
    .free_place = FreePlace::joint_frame,
    .has_helical = true,
};

using DrakeConvention = ConventionOf<kDrakeFacts>;

}  // namespace limb
