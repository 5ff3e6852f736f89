#pragma once

#include "limb/dynamics/constraints/constrained_derivatives.hpp"

namespace limb {

/// All loops of a model, for derivatives of its forward dynamics: part of a DerivativeWorkspace.
template <typename T>
struct LoopDerivatives {
  explicit LoopDerivatives(const Model<T>& model)
      : set(model, {}, all_loops(model)), work(model, set), result(model, set) {}

  ConstraintSet<T> set;
  ConstrainedDerivativeWorkspace<T> work;
  ConstrainedDerivatives<T> result;
};

}  // namespace limb
