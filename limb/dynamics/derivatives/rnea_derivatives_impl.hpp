#pragma once

#include "limb/dynamics/derivatives/derivative_entries_impl.hpp"
#include "limb/dynamics/derivatives/rnea_derivatives.hpp"
#include "limb/dynamics/recursive/crba_impl.hpp"

// Derivatives of the recursive Newton-Euler algorithm [Singh 2022, analytical derivatives]. Symbols
// as in root_frame_pass_impl.hpp; entries: derivative_entries_impl.hpp.

namespace limb {
namespace kernel {

/// Derivatives for the rigid bodies only, without drives; after update_joint_transforms().
template <bool kExternal, bool kFloating, typename T>
void derivative_pass(const Canonical<T>& robot, DerivativeWorkspaceData<T>& work, const T* v,
                     const T* a, const DerivativeOut<true, T> out) {
  using Work = DerivativeWorkspaceData<T>;
  BaseState<T> base;
  set_root_state<kExternal, kFloating>(robot, work, v, a, base);
  typename Work::RootFrameState* const states = work.states.data();
  compute_root_poses(robot, work);
  const typename Work::DofGroup* const dof_groups = work.dof_groups.data();
  const int n = static_cast<int>(work.dof_groups.size());
  for (int i = 1; i < n; ++i) {
    const typename Work::DofGroup& group = dof_groups[i];
    const int level = group.level;
    group_forward<kExternal, true>(work, group, states[level - 1], v, a, states[level]);
    // Depth first: a branch is finished before the next starts, so one state per level is enough.
    const int next = i + 1 < n ? dof_groups[i + 1].parent : 0;
    for (int j = i; j != next; j = dof_groups[j].parent) {
      const typename Work::DofGroup& done = dof_groups[j];
      typename Work::RootFrameState& b = states[done.level];
      accumulate_subtree<Work::kSums>(
          done.children, b.x + Work::kInertia, states[done.level + 1].x + Work::kInertia,
          b.subtree_sums, done.parent > 0 ? dof_groups[done.parent].children == 1 : !kFloating,
          states[done.level - 1].subtree_sums);
      write_group_entries<kFloating>(
          work, j, [&](const auto& group_at) -> auto& { return states[group_at.level]; }, base,
          out);
    }
  }
  if constexpr (kFloating) {
    add_subtree(states[0].subtree_sums, base.inertia);
    write_floating_entries(base, out);
  }
}

template <bool kExternal, typename T>
void rnea_derivatives(const Canonical<T>& robot, DerivativeWorkspaceData<T>& work, const T* v,
                      const T* a, const DerivativeOut<true, T>& out) {
  if (work.floating) {
    derivative_pass<kExternal, true>(robot, work, v, a, out);
  } else {
    derivative_pass<kExternal, false>(robot, work, v, a, out);
  }
}

template <bool kMass, typename T>
void add_drive_derivatives(const Canonical<T>& robot, const JointEffects& effects, const T* v,
                           const DerivativeOut<kMass, T>& out) {
  const Eigen::Index next = out.stride + 1;
  if (kMass && effects.armature && robot.has_armature) {
    for (int i = 0; i < robot.nv; ++i) out.da[i * next] += robot.armature[i];
  }
  if (effects.damping && robot.has_damping) {
    for (int i = 0; i < robot.nv; ++i) out.dv[i * next] += robot.damping[i];
  }
  add_turning_armature_derivatives(robot, effects, v, out.dv, out.stride);
}

/// All terms, in the coordinates of the model; calls update_joint_transforms().
template <bool kExternal, typename T>
void inverse_dynamics_derivatives(const Model<T>& model, DerivativeWorkspaceData<T>& work,
                                  VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a,
                                  const JointEffects& effects, MatrixOut<T>& dtau_dq,
                                  MatrixOut<T>& dtau_dv, MatrixOut<T>& dtau_da) {
  const Canonical<T>& robot = model.canonical();
  WorkspaceData<T>& tree = work.tree;
  update_joint_transforms(robot, joint_position(model, q, tree), tree);
  const T* joint_v = joint_velocity(model, v, tree.v);
  const T* joint_a = joint_velocity(model, a, tree.a);
  const auto run = [&](auto& dq, auto& dv, auto& da) {
    const DerivativeOut<true, T> out = {dq.data(), dv.data(), da.data(), dq.outerStride()};
    rnea_derivatives<kExternal>(robot, work, joint_v, joint_a, out);
    add_drive_derivatives(robot, effects, joint_v, out);
  };
  if (!model.coupling().is_identity()) {
    run(work.joint_dtau_dq, work.joint_dtau_dv, work.joint_dtau_da);
    reduce_mass_matrix(model.coupling(), work.joint_dtau_dq, dtau_dq);
    reduce_mass_matrix(model.coupling(), work.joint_dtau_dv, dtau_dv);
    reduce_mass_matrix(model.coupling(), work.joint_dtau_da, dtau_da);
  } else if (dtau_dq.outerStride() == dtau_dv.outerStride() &&
             dtau_dq.outerStride() == dtau_da.outerStride()) {
    run(dtau_dq, dtau_dv, dtau_da);
  } else {
    run(work.reduced_dtau_dq, work.reduced_dtau_dv, work.reduced_dtau_da);
    dtau_dq = work.reduced_dtau_dq;
    dtau_dv = work.reduced_dtau_dv;
    dtau_da = work.reduced_dtau_da;
  }
}

template <typename T>
void check_derivatives(const char* call, const Model<T>& model,
                       const DerivativeWorkspaceData<T>& work, const char* const (&names)[3],
                       const MatrixOut<T>& first, const MatrixOut<T>& second,
                       const MatrixOut<T>& third) {
  work.tree.check(call, model);
  const int n = model.nv();
  check_shape(call, names[0], first.rows(), first.cols(), n, n);
  check_shape(call, names[1], second.rows(), second.cols(), n, n);
  check_shape(call, names[2], third.rows(), third.cols(), n, n);
}

}  // namespace kernel

template <typename T>
void rnea_derivatives(const Model<T>& model, DerivativeWorkspace<T>& workspace, VectorIn<T>& q,
                      VectorIn<T>& v, VectorIn<T>& a, MatrixOut<T> dtau_dq, MatrixOut<T> dtau_dv,
                      MatrixOut<T> dtau_da, const JointEffects& effects) {
  DerivativeWorkspaceData<T>& work = workspace.data();
  constexpr const char* kCall = "rnea_derivatives";
  check_position(kCall, "q", model, q);
  check_velocity(kCall, "v", model, v);
  check_velocity(kCall, "a", model, a);
  kernel::check_derivatives<T>(kCall, model, work, {"dtau_dq", "dtau_dv", "dtau_da"}, dtau_dq,
                               dtau_dv, dtau_da);
  kernel::inverse_dynamics_derivatives<false, T>(model, work, q, v, a, effects, dtau_dq, dtau_dv,
                                                 dtau_da);
}

template <typename T>
void rnea_derivatives(const Model<T>& model, DerivativeWorkspace<T>& workspace, VectorIn<T>& q,
                      VectorIn<T>& v, VectorIn<T>& a, WrenchesIn<T> external, MatrixOut<T> dtau_dq,
                      MatrixOut<T> dtau_dv, MatrixOut<T> dtau_da, const JointEffects& effects) {
  DerivativeWorkspaceData<T>& work = workspace.data();
  constexpr const char* kCall = "rnea_derivatives";
  check_position(kCall, "q", model, q);
  check_velocity(kCall, "v", model, v);
  check_velocity(kCall, "a", model, a);
  kernel::check_derivatives<T>(kCall, model, work, {"dtau_dq", "dtau_dv", "dtau_da"}, dtau_dq,
                               dtau_dv, dtau_da);
  kernel::set_external<T>(kCall, model, work.tree, external);
  kernel::inverse_dynamics_derivatives<true, T>(model, work, q, v, a, effects, dtau_dq, dtau_dv,
                                                dtau_da);
}

}  // namespace limb
