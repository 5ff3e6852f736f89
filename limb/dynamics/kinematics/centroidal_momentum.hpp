#pragma once

#include "limb/dynamics/kinematics/center_of_mass.hpp"

/// Momentum of all moving bodies, in world axes: f linear (N s), n angular (N m s). Armature does
/// not contribute. Each function is O(n) (the matrices including their zeros) and does not
/// allocate; each throws Error for a wrong size or kinematics of too low an order, the centroidal
/// ones also if the robot has no mass. [Orin 2013, centroidal momentum matrix]
namespace limb {

/// About the origin of the world. Needs kinematics of order velocity.
template <typename T>
Force<T> spatial_momentum(const Model<T>& model, const Kinematics<T>& kinematics);

/// h_G, about the mass centre. Needs kinematics of order velocity.
template <typename T>
Force<T> centroidal_momentum(const Model<T>& model, const Kinematics<T>& kinematics);

/// d h_G/dt: by Newton and Euler the sum of the external forces, weight included, and their moment
/// about the mass centre. Needs kinematics of order acceleration.
template <typename T>
Force<T> centroidal_momentum_rate(const Model<T>& model, const Kinematics<T>& kinematics);

/// A_G with h_G = A_G v, 6 x n. Needs kinematics of order position.
template <typename T>
void centroidal_matrix(const Model<T>& model, const Kinematics<T>& kinematics,
                       SubtreeScratch<T>& scratch, JacobianOut<T> A_G);

/// d A_G/dt along the velocities of the kinematics, 6 x n. Needs kinematics of order velocity.
template <typename T>
void centroidal_matrix_rate(const Model<T>& model, const Kinematics<T>& kinematics,
                            SubtreeScratch<T>& scratch, JacobianOut<T> dA_G);

}  // namespace limb
