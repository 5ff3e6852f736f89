#pragma once

#include "limb/dynamics/kinematics/frames.hpp"

/// The dynamics are linear in the inertial parameters of the bodies. For each body, in the order of
/// the model, ten parameters about the origin and in the axes of its frame:
///
///   m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz
///
/// Regressors Y multiply the parameters p: tau = Y p and so on, for the rigid bodies only. No
/// allocation; each function throws Error for a wrong size or kinematics of too low an order.
namespace limb {

inline constexpr int kBodyParameters = 10;

/// Number of parameters of a model: ten for each body but the world.
template <typename T>
int parameter_count(const Model<T>& model) {
  return kBodyParameters * (model.body_count() - 1);
}
template <typename T>
void inertial_parameters(const Model<T>& model, VectorOut<T> p);

/// Scratch of torque_regressor; made once for a model.
template <typename T>
struct RegressorScratch {
  explicit RegressorScratch(const Model<T>& model)
      : J(Matrix6X<T>::Constant(6, model.nv(), T(0))) {}
  Matrix6X<T> J;
};

/// Y, nv() x parameter_count(), with rnea(q, v, a) = Y p. Needs kinematics of order acceleration.
/// [Atkeson 1986, linear in the parameters]
template <typename T>
void torque_regressor(const Model<T>& model, const Kinematics<T>& kinematics,
                      RegressorScratch<T>& scratch, MatrixOut<T> Y);
/// The same at rest: gravity(q) = Y p. Needs kinematics of order position.
template <typename T>
void static_regressor(const Model<T>& model, const Kinematics<T>& kinematics,
                      RegressorScratch<T>& scratch, MatrixOut<T> Y);

/// Regressors of kinetic and of potential energy: energy = y . p. Need kinematics of order velocity
/// and position.
template <typename T>
void kinetic_energy_regressor(const Model<T>& model, const Kinematics<T>& kinematics,
                              VectorOut<T> y);
template <typename T>
void potential_energy_regressor(const Model<T>& model, const Kinematics<T>& kinematics,
                                VectorOut<T> y);

/// Y, 6 x parameter_count(): momentum about the world's origin, in world axes. Needs kinematics of
/// order velocity.
template <typename T>
void momentum_regressor(const Model<T>& model, const Kinematics<T>& kinematics, JacobianOut<T> Y);

}  // namespace limb
