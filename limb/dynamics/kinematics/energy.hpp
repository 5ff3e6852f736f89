#pragma once

#include "limb/dynamics/kinematics/forward_kinematics.hpp"

/// Energies, each O(n) and without allocation. Links welded to the world are excluded.
namespace limb {

/// Sum of V . I V / 2 over the bodies, J, plus armature v^2 / 2 of each joint velocity unless
/// effects.armature is false. Needs kinematics of order velocity.
template <typename T>
T kinetic_energy(const Model<T>& model, const Kinematics<T>& kinematics,
                 const JointEffects& effects = {});

/// -sum of m g . p_WC over the bodies, J: zero for a mass at the origin of the world. Needs
/// kinematics of order position.
template <typename T>
T potential_energy(const Model<T>& model, const Kinematics<T>& kinematics);

}  // namespace limb
