#pragma once

#include "limb/dynamics/recursive/workspace.hpp"

namespace limb {

/// Mass matrix M(q), both triangles, by the composite-rigid-body algorithm on the canonical model.
/// O(n d), d the depth of the tree; no allocation. [Walker 1982],
/// docs/derivations/canonical_algorithms.md. Armature is added to the diagonal unless `effects`
/// excludes it.
/// @throws Error if an argument has the wrong size, before anything is computed.
template <typename T>
void crba(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, MatrixOut<T> M,
          const JointEffects& effects = {});

/// Alias of crba.
template <typename T>
void mass_matrix(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, MatrixOut<T> M,
                 const JointEffects& effects = {}) {
  crba<T>(model, work, q, M, effects);
}

}  // namespace limb
