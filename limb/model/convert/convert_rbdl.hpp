#pragma once

#include "limb/model/convert/convert.hpp"

namespace limb {

/// RBDL (facts from the documentation and source of 3.x).
///
/// JointTypeSpherical stores x y z at the joint and w after all joints, in the order of the
/// bodies. JointTypeFloatingBase is JointTypeTranslationXYZ, then JointTypeSpherical. The order of
/// the joints is that of its URDF reader (depth first, siblings sorted by name); a model made with
/// AddBody has the order of the calls: give the names. Planar, cylindrical and universal joints are
/// multi-axis joints with limb's coordinates, one axis each. The URDF type "floating" inside a tree
/// becomes Euler angles in RBDL's reader and is not covered.
inline constexpr ConventionFacts kRbdlFacts = {
    .library = "RBDL",
    .call = "RbdlConvention",
    .joint_order = JointOrder::alphabetical,
    .spatial_order = SpatialOrder::angular_first,
    .quaternion = QuaternionOrder::w_at_end,
    .continuous = AngleCoordinates::angle,
    .planar_angle = AngleCoordinates::angle,
    .planar_velocity = VelocityAxes::parent,
    .spherical = SphericalCoordinates::quaternion,
    .spherical_velocity = VelocityAxes::child,
    .free_position = SpatialOrder::linear_first,      // q = (p, xyz, ..., w)
    .free_velocity = BaseVelocityConvention::mujoco,  // v = (rates of p, w in the body)
    .free_velocity_order = SpatialOrder::linear_first,
    .free_reference = FreeJointReference::joint_frame,
    .has_helical = true,
};

using RbdlConvention = ConventionOf<kRbdlFacts>;

}  // namespace limb
