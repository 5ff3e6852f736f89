#pragma once

#include "limb/dynamics/kinematics/forward_kinematics.hpp"
#include "limb/model/convert/base_velocity_convention.hpp"

/// Velocity and acceleration of the floating base in the conventions of other programs
/// (limb/model/convert/base_velocity_convention.hpp), and conversion of the base's six entries in
/// vectors and Jacobians of the robot. Entries of other joints are unchanged. No allocation. Each
/// function throws Error for a wrong size, for kinematics of too low an order, or for a robot
/// without a floating base.
namespace limb {

/// Whether the world has a free joint as a child.
template <typename T>
bool has_floating_base(const Model<T>& model);
/// The first body that a free joint connects to the world.
template <typename T>
BodyId floating_base(const Model<T>& model);

/// Needs kinematics of order velocity.
template <typename T>
Motion<T> base_velocity(const Model<T>& model, const Kinematics<T>& kinematics,
                        BaseVelocityConvention convention);
/// Time derivative of base_velocity in the same convention. Needs kinematics of order acceleration.
template <typename T>
Motion<T> base_acceleration(const Model<T>& model, const Kinematics<T>& kinematics,
                            BaseVelocityConvention convention);

/// B with V_to = B V_from. This and the functions below need kinematics of order position, unless
/// stated otherwise.
template <typename T>
Matrix6<T> base_velocity_matrix(const Model<T>& model, const Kinematics<T>& kinematics,
                                BaseVelocityConvention from, BaseVelocityConvention to);

/// v_to of the whole robot from v_from. The output may alias the input.
template <typename T>
void convert_base_velocity(const Model<T>& model, const Kinematics<T>& kinematics, VectorIn<T>& v,
                           BaseVelocityConvention from, BaseVelocityConvention to,
                           VectorOut<T> v_to);
/// a_to, the derivative of v_to, from the derivative of v_from, at the velocity of the kinematics
/// (order velocity).
template <typename T>
void convert_base_acceleration(const Model<T>& model, const Kinematics<T>& kinematics,
                               VectorIn<T>& a, BaseVelocityConvention from,
                               BaseVelocityConvention to, VectorOut<T> a_to);
/// tau_to with the same power: tau_to . v_to = tau . v_from.
template <typename T>
void convert_base_force(const Model<T>& model, const Kinematics<T>& kinematics, VectorIn<T>& tau,
                        BaseVelocityConvention from, BaseVelocityConvention to,
                        VectorOut<T> tau_to);
/// Columns of a Jacobian of any height, in place: J_to v_to = J v_from.
template <typename T>
void convert_base_columns(const Model<T>& model, const Kinematics<T>& kinematics,
                          BaseVelocityConvention from, BaseVelocityConvention to, MatrixOut<T> J);

}  // namespace limb
