#pragma once

#include "limb/dynamics/constraints/closed_loops.hpp"
#include "limb/dynamics/constraints/constraint_set_impl.hpp"
#include "limb/dynamics/recursive/articulated_impl.hpp"
#include "limb/dynamics/recursive/workspace_data.hpp"

namespace limb {

template <typename T>
WorkspaceData<T>::WorkspaceData(const Model<T>& model, Loops loops_of_model)
    : robot(model.shared_canonical()) {
  const std::size_t n = model.canonical().joints.size();
  const std::size_t nv = static_cast<std::size_t>(model.uncoupled_nv());
  const kernel::Vec3<T> zero_vector = {T(0), T(0), T(0)};
  states.resize(n);
  composites.resize(n);
  articulated.resize(n);
  for (const CanonicalJoint<T>& joint : model.canonical().joints) {
    link_inertias.push_back(kernel::link_articulated_inertia(joint));
  }
  columns.resize(nv);
  R.assign(n, Matrix3<T>::Identity());
  p.assign(n, zero_vector);
  const std::size_t padded = (n + 3) / 4 * 4;
  angle.assign(padded, T(0));
  cosine.assign(padded, T(1));
  sine.assign(padded, T(0));
  for (auto& component : force)
    component.assign(static_cast<std::size_t>(model.canonical().slots) + 4, T(0));
  screw.assign(force[0].size(), T(0));
  f_external.assign(n, zero_vector);
  n_external.assign(n, zero_vector);
  F_B.resize(model.bodies().size());
  zero = VectorX<T>::Constant(model.uncoupled_nv(), T(0));
  tau = a = v = zero;
  q = VectorX<T>::Constant(model.uncoupled_nq(), T(0));
  if (!model.coupling().is_identity()) {
    M = MatrixX<T>::Constant(model.uncoupled_nv(), model.uncoupled_nv(), T(0));
    M_reduced = MatrixX<T>::Constant(model.nv(), model.nv(), T(0));
  }
  if (loops_of_model == Loops::closed && !model.loops().empty()) {
    loops = CopyablePtr<ClosedLoops<T>>::make(model);
  }
}

template <typename T>
Workspace<T>::Workspace(const Model<T>& model, Loops loops_of_model)
    : data_(CopyablePtr<WorkspaceData<T>>::make(model, loops_of_model)) {}

template <typename T>
void Workspace<T>::check(const char* call, const Model<T>& model) const {
  data_->check(call, model);
}

}  // namespace limb
