#pragma once

#include "limb/dynamics/constraints/constraint_set.hpp"

namespace limb {

/// All loops of a model, for forward dynamics: part of a Workspace.
template <typename T>
struct ClosedLoops {
  explicit ClosedLoops(const Model<T>& model)
      : set(model, {}, all_loops(model)),
        work(model, set),
        force(VectorX<T>::Constant(set.max_rows(), T(0))) {}

  ConstraintSet<T> set;
  ConstraintWorkspace<T> work;
  VectorX<T> force;
};

}  // namespace limb
