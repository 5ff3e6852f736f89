#pragma once

#include "limb/dynamics/momentum.hpp"

/// Derivatives of the mass centre's motion (3 x n each) and of centroidal momentum (6 x n each).
/// dq is a tangent as in rnea_derivatives; the derivative of the mass centre itself is
/// center_of_mass_jacobian. No allocation; each throws Error for a wrong size, kinematics that lack
/// what it needs, or a robot without mass. O(n).
/// Derivation: docs/derivations/frame_derivatives.md.
namespace limb {

/// Of center_of_mass_velocity; dv_dv is center_of_mass_jacobian. From order velocity on.
template <typename T>
void center_of_mass_velocity_derivatives(const Model<T>& model, const Kinematics<T>& kinematics,
                                         SubtreeScratch<T>& scratch, PointJacobianOut<T> dv_dq,
                                         PointJacobianOut<T> dv_dv);

/// Of center_of_mass_acceleration; da_da is center_of_mass_jacobian. Of order acceleration.
template <typename T>
void center_of_mass_acceleration_derivatives(const Model<T>& model, const Kinematics<T>& kinematics,
                                             SubtreeScratch<T>& scratch, PointJacobianOut<T> da_dq,
                                             PointJacobianOut<T> da_dv, PointJacobianOut<T> da_da);

/// Of centroidal_momentum; dh_dv is centroidal_matrix. From order velocity on.
template <typename T>
void centroidal_momentum_derivatives(const Model<T>& model, const Kinematics<T>& kinematics,
                                     SubtreeScratch<T>& scratch, JacobianOut<T> dh_dq,
                                     JacobianOut<T> dh_dv);

/// Of centroidal_momentum_rate; df_da is centroidal_matrix. Of order acceleration.
template <typename T>
void centroidal_momentum_rate_derivatives(const Model<T>& model, const Kinematics<T>& kinematics,
                                          SubtreeScratch<T>& scratch, JacobianOut<T> df_dq,
                                          JacobianOut<T> df_dv, JacobianOut<T> df_da);

}  // namespace limb
