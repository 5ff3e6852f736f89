#pragma once

#include "limb/model/mjcf/read_mjcf_body.hpp"

namespace limb::mjcf {

/// Stiffness and damping of the joints with `springdamper` (time constant T, damping ratio z), as
/// MuJoCo's compiler computes them: with I = 1 / (M^-1)_ii of the joint at the pose of the file,
///
///   stiffness = I / (T z)^2,   damping = 2 I / T.
///
/// M is the mass matrix of the tree with armature, without couplings and loops. Needs all masses
/// and actuators; dense, n^3 for n degrees of freedom.
void set_spring_dampers(ReadContext& context);

}  // namespace limb::mjcf
