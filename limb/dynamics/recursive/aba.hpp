#pragma once

#include "limb/dynamics/factor/factor_report.hpp"
#include "limb/dynamics/recursive/external.hpp"
#include "limb/dynamics/recursive/workspace.hpp"

namespace limb {

/// Forward dynamics: a = M(q)^-1 (tau - h(q, v)), by the articulated-body algorithm on the
/// canonical model.
/// O(n), no allocation. Robots with couplings: by the reduced mass matrix, O(n^3). Robots with
/// loops: by constrained_forward_dynamics with all loops closed, unless the workspace was made with
/// Loops::open.
/// [Featherstone 1983], docs/derivations/canonical_algorithms.md.
///
/// @returns singular, with the velocity, if the mass matrix is; then every entry of a is NaN.
/// @throws Error if a vector has the wrong size, before anything is computed.
template <typename T>
FactorReport aba(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, VectorIn<T>& v,
                 VectorIn<T>& tau, VectorOut<T> a, const JointEffects& effects = {});

/// The same with wrenches that the environment exerts on frames.
template <typename T>
FactorReport aba(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, VectorIn<T>& v,
                 VectorIn<T>& tau, WrenchesIn<T> external, VectorOut<T> a,
                 const JointEffects& effects = {});

/// Alias of aba.
template <typename T>
FactorReport forward_dynamics(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q,
                              VectorIn<T>& v, VectorIn<T>& tau, VectorOut<T> a,
                              const JointEffects& effects = {}) {
  return aba<T>(model, work, q, v, tau, a, effects);
}
template <typename T>
FactorReport forward_dynamics(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q,
                              VectorIn<T>& v, VectorIn<T>& tau, WrenchesIn<T> external,
                              VectorOut<T> a, const JointEffects& effects = {}) {
  return aba<T>(model, work, q, v, tau, external, a, effects);
}

}  // namespace limb
