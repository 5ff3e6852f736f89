#pragma once

#include "limb/dynamics/kinematics.hpp"
#include "limb/model/free_velocity.hpp"

/// The floating base in the customs of other programs (limb/model/free_velocity.hpp): its velocity
/// and acceleration, and vectors and Jacobians of the robot with the base's six numbers in another
/// custom. Other joints are untouched. Nothing allocates. Each throws Error for a wrong size, for
/// kinematics that lack what it needs, or for a robot without a floating base.
namespace limb {

/// Whether a free joint hangs on the world.
template <typename T>
bool has_floating_base(const Model<T>& model);
/// The first body that a free joint hangs on the world.
template <typename T>
BodyId floating_base(const Model<T>& model);

/// From order velocity on.
template <typename T>
Motion<T> base_velocity(const Model<T>& model, const Kinematics<T>& kinematics,
                        FreeVelocity custom);
/// The time derivative of base_velocity in the same custom. Of order acceleration.
template <typename T>
Motion<T> base_acceleration(const Model<T>& model, const Kinematics<T>& kinematics,
                            FreeVelocity custom);

/// B with V_to = B V_from. From order position on, as the others where not said.
template <typename T>
Matrix6<T> base_velocity_matrix(const Model<T>& model, const Kinematics<T>& kinematics,
                                FreeVelocity from, FreeVelocity to);

/// v_to of the whole robot from v_from. Output may be the input.
template <typename T>
void convert_base_velocity(const Model<T>& model, const Kinematics<T>& kinematics, VectorIn<T>& v,
                           FreeVelocity from, FreeVelocity to, VectorOut<T> v_to);
/// a_to, the derivative of v_to, from the derivative of v_from. The velocity is that of the
/// kinematics: from order velocity on.
template <typename T>
void convert_base_acceleration(const Model<T>& model, const Kinematics<T>& kinematics,
                               VectorIn<T>& a, FreeVelocity from, FreeVelocity to,
                               VectorOut<T> a_to);
/// tau_to with the same power: tau_to . v_to = tau . v_from.
template <typename T>
void convert_base_force(const Model<T>& model, const Kinematics<T>& kinematics, VectorIn<T>& tau,
                        FreeVelocity from, FreeVelocity to, VectorOut<T> tau_to);
/// Columns of a Jacobian of any height, in place: J_to v_to = J v_from.
template <typename T>
void convert_base_columns(const Model<T>& model, const Kinematics<T>& kinematics, FreeVelocity from,
                          FreeVelocity to, MatrixOut<T> J);

}  // namespace limb
