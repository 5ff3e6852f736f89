#pragma once

#include "limb/dynamics/recursive/external.hpp"
#include "limb/dynamics/recursive/workspace.hpp"

namespace limb {

/// Inverse dynamics: tau = M(q) a + h(q, v), by the recursive Newton-Euler algorithm on the
/// canonical model. O(n), no allocation. [Luh 1980], docs/derivations/canonical_algorithms.md.
/// @throws Error if a vector has the wrong size, before anything is computed.
template <typename T>
void rnea(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a,
          VectorOut<T> tau, const JointEffects& effects = {});

/// The same with wrenches that the environment exerts on frames: tau - sum J^T F.
template <typename T>
void rnea(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a,
          WrenchesIn<T> external, VectorOut<T> tau, const JointEffects& effects = {});

/// Alias of rnea.
template <typename T>
void inverse_dynamics(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, VectorIn<T>& v,
                      VectorIn<T>& a, VectorOut<T> tau, const JointEffects& effects = {}) {
  rnea<T>(model, work, q, v, a, tau, effects);
}
template <typename T>
void inverse_dynamics(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, VectorIn<T>& v,
                      VectorIn<T>& a, WrenchesIn<T> external, VectorOut<T> tau,
                      const JointEffects& effects = {}) {
  rnea<T>(model, work, q, v, a, external, tau, effects);
}

/// h(q, v): torques at zero acceleration, gravity included.
template <typename T>
void bias(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, VectorIn<T>& v,
          VectorOut<T> tau, const JointEffects& effects = {});

/// g(q): torques that hold the robot at rest.
template <typename T>
void gravity(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, VectorOut<T> tau);

}  // namespace limb
