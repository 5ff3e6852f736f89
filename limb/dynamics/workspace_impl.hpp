#pragma once

#include "limb/dynamics/articulated_impl.hpp"
#include "limb/dynamics/closed_loops.hpp"
#include "limb/dynamics/constraint_set_impl.hpp"
#include "limb/dynamics/workspace.hpp"

namespace limb {

template <typename T>
Workspace<T>::Workspace(const Model<T>& model, Loops loops_of_model)
    : robot(model.shared_canonical()) {
  const std::size_t n = model.canonical().steps.size();
  const std::size_t nv = static_cast<std::size_t>(model.nv());
  const kernel::Triple<T> nothing = {T(0), T(0), T(0)};
  steps.resize(n);
  composites.resize(n);
  articulated.resize(n);
  for (const CanonicalStep<T>& step : model.canonical().steps) {
    own.push_back(kernel::own_articulated(step));
  }
  columns.resize(nv);
  R.assign(n, Matrix3<T>::Identity());
  p.assign(n, nothing);
  const std::size_t fours = (n + 3) / 4 * 4;
  angle.assign(fours, T(0));
  cosine.assign(fours, T(1));
  sine.assign(fours, T(0));
  for (auto& component : force)
    component.assign(static_cast<std::size_t>(model.canonical().slots) + 4, T(0));
  screw.assign(force[0].size(), T(0));
  f_external.assign(n, nothing);
  n_external.assign(n, nothing);
  F_B.resize(model.bodies().size());
  zero = VectorX<T>::Constant(model.nv(), T(0));
  tau = a = v = zero;
  q = VectorX<T>::Constant(model.nq(), T(0));
  if (!model.coupling().is_identity()) {
    M = MatrixX<T>::Constant(model.nv(), model.nv(), T(0));
    M_own = MatrixX<T>::Constant(model.velocity_size(), model.velocity_size(), T(0));
  }
  if (loops_of_model == Loops::closed && !model.loops().empty()) {
    loops = Owned<ClosedLoops<T>>::make(model);
  }
}

}  // namespace limb
