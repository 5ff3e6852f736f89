#pragma once

#include "limb/dynamics/kinematics/centroidal_momentum.hpp"

/// Derivatives of the motion of the centre of mass (3 x n each) and of centroidal momentum (6 x n
/// each). dq is a tangent vector as in rnea_derivatives; the derivative of the centre of mass
/// itself is center_of_mass_jacobian. No allocation; each throws Error for a wrong size, kinematics
/// of too low an order, or a robot without mass. O(n). Derivation:
/// docs/derivations/frame_derivatives.md.
namespace limb {

/// Derivatives of center_of_mass_velocity; dv_dv is center_of_mass_jacobian. Needs kinematics of
/// order velocity or higher.
template <typename T>
void center_of_mass_velocity_derivatives(const Model<T>& model, const Kinematics<T>& kinematics,
                                         SubtreeScratch<T>& scratch, PointJacobianOut<T> dv_dq,
                                         PointJacobianOut<T> dv_dv);

/// Derivatives of center_of_mass_acceleration; da_da is center_of_mass_jacobian. Needs kinematics
/// of order acceleration.
template <typename T>
void center_of_mass_acceleration_derivatives(const Model<T>& model, const Kinematics<T>& kinematics,
                                             SubtreeScratch<T>& scratch, PointJacobianOut<T> da_dq,
                                             PointJacobianOut<T> da_dv, PointJacobianOut<T> da_da);

/// Derivatives of centroidal_momentum; dh_dv is centroidal_matrix. Needs kinematics of order
/// velocity or higher.
template <typename T>
void centroidal_momentum_derivatives(const Model<T>& model, const Kinematics<T>& kinematics,
                                     SubtreeScratch<T>& scratch, JacobianOut<T> dh_dq,
                                     JacobianOut<T> dh_dv);

/// Derivatives of centroidal_momentum_rate; df_da is centroidal_matrix. Needs kinematics of order
/// acceleration.
template <typename T>
void centroidal_momentum_rate_derivatives(const Model<T>& model, const Kinematics<T>& kinematics,
                                          SubtreeScratch<T>& scratch, JacobianOut<T> df_dq,
                                          JacobianOut<T> df_dv, JacobianOut<T> df_da);

}  // namespace limb
