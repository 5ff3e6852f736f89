#pragma once

#include "limb/dynamics/recursive/external.hpp"
#include "limb/dynamics/recursive/workspace.hpp"

namespace limb {

template <typename T>
struct GradientWorkspaceData;

/// Scratch memory of rnea_gradient: one per thread and model.
template <typename T>
class GradientWorkspace {
 public:
  explicit GradientWorkspace(const Model<T>& model);

  /// @throws Error unless this was made for that model, or for a copy of it.
  void check(const char* call, const Model<T>& model) const;

  /// Internal: for the algorithms of this module, which include rnea_gradient_data.hpp.
  GradientWorkspaceData<T>& data() { return *data_; }
  const GradientWorkspaceData<T>& data() const { return *data_; }

 private:
  CopyablePtr<GradientWorkspaceData<T>> data_;
};

/// The gradient of lambda . rnea(q, v, a): products of the multipliers lambda with the derivatives
/// of inverse dynamics, without forming these,
///
///   by_q = dtau_dq^T lambda,    by_v = dtau_dv^T lambda,    by_a = M lambda
///
/// in one traversal of the tree, O(n), no allocation. Tangents, wrenches (constant in the frames'
/// axes) and effects of drives as in rnea_derivatives. docs/derivations/second_derivatives.md.
///
/// @throws Error if a size is wrong, before anything is computed.
template <typename T>
void rnea_gradient(const Model<T>& model, GradientWorkspace<T>& work, VectorIn<T>& q,
                   VectorIn<T>& v, VectorIn<T>& a, WrenchesIn<T> external, VectorIn<T>& lambda,
                   VectorOut<T> by_q, VectorOut<T> by_v, VectorOut<T> by_a,
                   const JointEffects& effects = {});
/// The same without external wrenches.
template <typename T>
void rnea_gradient(const Model<T>& model, GradientWorkspace<T>& work, VectorIn<T>& q,
                   VectorIn<T>& v, VectorIn<T>& a, VectorIn<T>& lambda, VectorOut<T> by_q,
                   VectorOut<T> by_v, VectorOut<T> by_a, const JointEffects& effects = {}) {
  rnea_gradient<T>(model, work, q, v, a, WrenchesIn<T>(), lambda, by_q, by_v, by_a, effects);
}

}  // namespace limb
