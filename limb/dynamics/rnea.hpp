#pragma once

#include "limb/dynamics/external.hpp"
#include "limb/dynamics/workspace.hpp"

namespace limb {

/// Inverse dynamics: tau = M(q) a + h(q, v), by the recursion of Newton and Euler on the canonical
/// model. O(n), no allocation. [Luh 1980], docs/derivations/canonical_algorithms.md.
/// @throws Error if a vector has the wrong size, before anything is computed.
template <typename T>
void rnea(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a,
          VectorOut<T> tau, const JointEffects& effects = {});

/// The same with wrenches that the environment exerts on frames: tau - sum J^T F.
template <typename T>
void rnea(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a,
          WrenchesIn<T> external, VectorOut<T> tau, const JointEffects& effects = {});

/// h(q, v): torques at rest acceleration, gravity included.
template <typename T>
void bias(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, VectorIn<T>& v,
          VectorOut<T> tau, const JointEffects& effects = {});

/// g(q): torques that hold the robot still.
template <typename T>
void gravity(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, VectorOut<T> tau);

}  // namespace limb
