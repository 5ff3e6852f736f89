#pragma once

#include "limb/dynamics/external.hpp"
#include "limb/dynamics/workspace.hpp"

namespace limb {

/// Forward dynamics: a = M(q)^-1 (tau - h(q, v)), by articulated bodies on the canonical model.
/// O(n), no allocation. Robots with couplings: by their reduced mass matrix, O(n^3). Robots with
/// loops: as constrained_forward_dynamics with all of them closed, unless the workspace was made
/// with Loops::open.
/// [Featherstone 1983], docs/derivations/canonical_algorithms.md.
///
/// @returns -1; or, if the mass matrix is singular, the index of a velocity that no inertia
/// opposes. Then every entry of a is NaN.
/// @throws Error if a vector has the wrong size, before anything is computed.
template <typename T>
int aba(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
        VectorOut<T> a, const JointEffects& effects = {});

/// The same with wrenches that the environment exerts on frames.
template <typename T>
int aba(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
        WrenchesIn<T> external, VectorOut<T> a, const JointEffects& effects = {});

}  // namespace limb
