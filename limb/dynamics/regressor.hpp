#pragma once

#include "limb/dynamics/frames.hpp"

/// What the dynamics are in the inertial parameters of the bodies: linear. For each body, in the
/// order of the model, ten numbers about the origin and in the axes of its frame:
///
///   m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz
///
/// Parameters p and regressors Y belong together: tau = Y p and so on, of the rigid bodies alone.
/// No allocation; each throws Error for a wrong size or kinematics that lack what it needs.
namespace limb {

inline constexpr int kBodyParameters = 10;

/// How many parameters a model has: ten for each body but the world.
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
      : J(Matrix6X<T>::Constant(6, model.velocity_size(), T(0))) {}
  Matrix6X<T> J;
};

/// Y, velocity_size() x parameter_count(), with rnea(q, v, a) = Y p. Of order acceleration.
/// [Atkeson 1986, linear in the parameters]
template <typename T>
void torque_regressor(const Model<T>& model, const Kinematics<T>& kinematics,
                      RegressorScratch<T>& scratch, MatrixOut<T> Y);
/// The same at rest: gravity(q) = Y p. From order position on.
template <typename T>
void static_regressor(const Model<T>& model, const Kinematics<T>& kinematics,
                      RegressorScratch<T>& scratch, MatrixOut<T> Y);

/// Rows of kinetic and of potential energy: energy = y . p. From order velocity on; position on.
template <typename T>
void kinetic_energy_regressor(const Model<T>& model, const Kinematics<T>& kinematics,
                              VectorOut<T> y);
template <typename T>
void potential_energy_regressor(const Model<T>& model, const Kinematics<T>& kinematics,
                                VectorOut<T> y);

/// Y, 6 x parameter_count(): momentum about the world's origin, in its axes. From order velocity
/// on.
template <typename T>
void momentum_regressor(const Model<T>& model, const Kinematics<T>& kinematics, JacobianOut<T> Y);

}  // namespace limb
