#pragma once

#include "limb/model/convert/convert.hpp"

namespace limb {

/// Pinocchio (facts checked with 3.7 and 4.1).
///
/// The order of the joints is that of its URDF reader, which sorts joints by name; a model made
/// with addJoint has the order of the calls: give the names. Mimic joints are independent joints,
/// the default of its reader. JointModelPlanar moves in the xy plane of its frame: for limb's
/// normal n, rotate both of its frames by Joint::plane().
inline constexpr ConventionFacts kPinocchioFacts = {
    .library = "Pinocchio",
    .call = "PinocchioConvention",
    .joint_order = JointOrder::alphabetical,
    .spatial_order = SpatialOrder::linear_first,
    .quaternion = QuaternionOrder::xyzw,
    .continuous = AngleCoordinates::cos_sin,    // nq = 2, nv = 1
    .planar_angle = AngleCoordinates::cos_sin,  // q = (x, y, cos, sin)
    .planar_velocity = VelocityAxes::child,
    .spherical = SphericalCoordinates::quaternion,
    .spherical_velocity = VelocityAxes::child,
    .free_position = SpatialOrder::linear_first,  // q = (p, xyzw)
    .free_velocity = BaseVelocityConvention::body,
    .free_velocity_order = SpatialOrder::linear_first,
    .free_reference = FreeJointReference::joint_frame,
    .has_helical = true,
};

using PinocchioConvention = ConventionOf<kPinocchioFacts>;

}  // namespace limb
