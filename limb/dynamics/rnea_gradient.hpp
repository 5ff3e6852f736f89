#pragma once

#include "limb/dynamics/derivative_workspace.hpp"
#include "limb/dynamics/external.hpp"

namespace limb {

/// The scratch memory of rnea_gradient: one for each thread and model.
template <typename T>
class GradientWorkspace {
 public:
  explicit GradientWorkspace(const Model<T>& model);

  DerivativeWorkspace<T> first;  ///< where the steps stand, seen from the root

  // For the algorithms of this room; all is seen from the root.

  /// A step as it moves, and as it would with the multipliers for velocities.
  struct Step {
    kernel::Triple<T> w, v, wd, a;  ///< velocity, and spatial acceleration with gravity
    kernel::Triple<T> n, f;         ///< what its masses need, with all it carries
    kernel::Triple<T> W_w, W_v;     ///< W, the velocity of the multipliers
    kernel::Triple<T> G_n, G_f;     ///< G: momentum of that, with all it carries
    kernel::Triple<T> H;            ///< product of both motions, with all it carries
  };
  /// Of one velocity: S, and what S gains as its carrier moves.
  struct Column {
    kernel::Triple<T> z, l, rate, bend_w, bend_v, sum_w, sum_v;
  };
  std::vector<Step> steps;
  std::vector<Column> columns;
  VectorX<T> lambda, q, v, a;  ///< of the joints, where some follow others
};

/// The gradient of lambda . rnea(q, v, a): products of the multipliers with the derivatives of
/// inverse dynamics, without these,
///
///   by_q = dtau_dq^T lambda,    by_v = dtau_dv^T lambda,    by_a = M lambda
///
/// in one walk over the tree, O(n), no allocation. Tangents, wrenches (constant in the frames'
/// axes) and effects of drives as in rnea_derivatives. docs/derivations/second_derivatives.md.
///
/// @throws Error if a size is wrong, before anything is computed.
template <typename T>
void rnea_gradient(const Model<T>& model, GradientWorkspace<T>& work, VectorIn<T>& q,
                   VectorIn<T>& v, VectorIn<T>& a, VectorIn<T>& lambda, VectorOut<T> by_q,
                   VectorOut<T> by_v, VectorOut<T> by_a, WrenchesIn<T> external = {},
                   const JointEffects& effects = {});

}  // namespace limb
