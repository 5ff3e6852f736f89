#pragma once

#include "limb/model/convert.hpp"

namespace limb {

/// RBDL (facts from the documentation and source of 3.x).
///
/// JointTypeSpherical keeps x y z in the joint's place and w behind all joints, in the order of the
/// bodies. JointTypeFloatingBase is JointTypeTranslationXYZ, then JointTypeSpherical. The order of
/// the joints is that of its URDF reader (depth first, siblings sorted by name); a model made by
/// AddBody has the order of the calls: give the names. Planar, cylindrical and universal joints are
/// multi-axis joints with limb's coordinates, one axis each. URDF's type "floating" inside a tree
/// becomes Euler angles in RBDL's reader and is not meant here.
inline constexpr ConventionFacts kRbdlFacts = {
    .library = "RBDL",
    .call = "RbdlConvention",
    .joint_order = JointOrder::alphabetical,
    .spatial_order = PartOrder::angular_first,
    .quaternion = QuaternionForm::w_at_end,
    .continuous = AngleForm::angle,
    .planar_angle = AngleForm::angle,
    .planar_velocity = Axes::parent,
    .ball = BallForm::quaternion,
    .ball_velocity = Axes::child,
    .free_position = PartOrder::linear_first,  // q = (p, xyz, ..., w)
    .free_velocity = FreeVelocity::mixed,      // v = (rates of p, w in the body)
    .free_velocity_order = PartOrder::linear_first,
    .free_place = FreePlace::joint_frame,
    .has_helical = true,
};

using RbdlConvention = ConventionOf<kRbdlFacts>;

}  // namespace limb
