#pragma once

#include "limb/model/convert/convert.hpp"

namespace limb {

/// Drake (facts checked with 1.51): MultibodyPlant with QuaternionFloatingJoint, BallRpyJoint,
/// PlanarJoint, UniversalJoint, ScrewJoint.
///
/// A ball joint is stored as three angles, so near pitch = +-pi/2 a configuration read back may
/// have other angles for the same orientation; its velocity is an angular velocity and never
/// singular. ScrewJoint's pitch is m per turn, limb's m per rad. Cylindrical and translation joints
/// are sequences of prismatic and revolute joints. PlanarJoint moves in the xy plane of its frame:
/// for limb's normal n, rotate both of its frames by Joint::plane().
inline constexpr ConventionFacts kDrakeFacts = {
    .library = "Drake",
    .call = "DrakeConvention",
    .joint_order = JointOrder::file,  // the order of AddJoint, depth first
    .spatial_order = SpatialOrder::angular_first,
    .quaternion = QuaternionOrder::wxyz,
    .continuous = AngleCoordinates::angle,
    .planar_angle = AngleCoordinates::angle,
    .planar_velocity = VelocityAxes::parent,
    .spherical = SphericalCoordinates::roll_pitch_yaw,
    .spherical_velocity = VelocityAxes::parent,
    .free_position = SpatialOrder::angular_first,    // q = (wxyz, p)
    .free_velocity = BaseVelocityConvention::mixed,  // v = (w, v), both in axes of the parent
    .free_velocity_order = SpatialOrder::angular_first,
    .free_reference = FreeJointReference::joint_frame,
    .has_helical = true,
};

using DrakeConvention = ConventionOf<kDrakeFacts>;

}  // namespace limb
