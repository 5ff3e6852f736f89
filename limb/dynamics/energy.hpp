#pragma once

#include "limb/dynamics/kinematics.hpp"

/// Energies, each O(n) and without allocation. What is welded to the world does not count.
namespace limb {

/// Sum of V . I V / 2 over the bodies, J; with the armature of the drives, armature v^2 / 2 for
/// each joint velocity, unless left out. From order velocity on.
template <typename T>
T kinetic_energy(const Model<T>& model, const Kinematics<T>& kinematics,
                 const JointEffects& effects = {});

/// -sum of m g . p_WC over the bodies, J: zero for a mass at the origin of the world. From order
/// position on.
template <typename T>
T potential_energy(const Model<T>& model, const Kinematics<T>& kinematics);

}  // namespace limb
