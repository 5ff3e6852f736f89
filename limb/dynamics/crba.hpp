#pragma once

#include "limb/dynamics/workspace.hpp"

namespace limb {

/// Mass matrix M(q), both triangles, by composite rigid bodies on the canonical model. O(n d), d
/// the depth of the tree; no allocation. [Walker 1982], docs/derivations/canonical_algorithms.md.
/// Armature stands on the diagonal unless left out.
/// @throws Error if an argument has the wrong size, before anything is computed.
template <typename T>
void crba(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, MatrixOut<T> M,
          const JointEffects& effects = {});

}  // namespace limb
