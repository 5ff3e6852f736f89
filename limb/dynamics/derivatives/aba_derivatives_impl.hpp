#pragma once

#include <limits>

#include "limb/dynamics/derivatives/aba_derivatives.hpp"
#include "limb/dynamics/derivatives/rnea_derivatives_impl.hpp"

// Derivatives of forward dynamics, docs/derivations/derivatives.md:
//   da_dq = -M^-1 dtau_dq,   da_dv = -M^-1 dtau_dv,   da_dtau = M^-1     at a = M^-1 (tau - h)
//
// One forward and backward pass at zero accelerations gives M and h; the accelerations a are then
// added to the same states. Symbols as in root_frame_pass_impl.hpp, and
//   M = L^T D L, M^-1 = W D^-1 W^T with W = L^-1   (branch_inverse.hpp)

namespace limb {
namespace kernel {

/// Entries of the mass matrix of a group with the groups on its path from the root, in the
/// columns of the group only; and the torques S^T F of its joints.
template <bool kFloating, typename T>
LIMB_INLINE void write_mass_entries(DerivativeWorkspaceData<T>& work, int number, T* M,
                                    Eigen::Index stride, T* tau) {
  using Work = DerivativeWorkspaceData<T>;
  const auto& group = work.dof_groups[static_cast<size_t>(number)];
  auto& b = work.states[static_cast<size_t>(number)];
  const InertiaAtRoot<Pack4<T>> inertia = load_inertia(b.x + Work::kInertia);
  const auto z = get(b.x + Work::kAngular), l = get(b.x + Work::kLinear);
  const LinearAngular<Pack4<T>> IS = inertia_times(inertia.I, z, l);
  T(*const unit_force)[4] = b.x + Work::kUnitForce;
  put(IS.angular, unit_force);
  put(IS.linear, unit_force + 3);
  const auto inner = [](const auto& x, const auto& y) __attribute__((always_inline)) {
    return x.x * y.x + x.y * y.y + x.z * y.z;
  };
  store_lanes(inner(z, inertia.n) + inner(l, inertia.f), group.count, tau + group.v);
  T* const columns = M + group.v * stride;
  if constexpr (kFloating) write_base_rows(unit_force, group.count, stride, columns);
  for (int j = number; j > 0; j = work.dof_groups[static_cast<size_t>(j)].parent) {
    const auto& before = work.dof_groups[static_cast<size_t>(j)];
    const auto& y = work.states[static_cast<size_t>(j)].x;
    const auto z_j = get(y + Work::kAngular), l_j = get(y + Work::kLinear);
    for (int i = 0; i < group.count; ++i) {
      store_lanes(dot(unit_force, i, z_j) + dot(unit_force + 3, i, l_j), before.count,
                  columns + before.v + i * stride);
    }
  }
}

/// Mass matrix (related entries of the upper triangle) and torques h at zero accelerations, after
/// update_joint_transforms().
template <bool kExternal, bool kFloating, typename T>
void mass_and_bias_pass(const Canonical<T>& robot, DerivativeWorkspaceData<T>& work, const T* v,
                        BaseState<T>& base, T* M, Eigen::Index stride, T* tau) {
  using Work = DerivativeWorkspaceData<T>;
  set_root_state<kExternal, kFloating>(robot, work, v, static_cast<const T*>(nullptr), base);
  compute_root_poses(robot, work);
  typename Work::RootFrameState* const states = work.states.data();
  const typename Work::DofGroup* const dof_groups = work.dof_groups.data();
  const int n = static_cast<int>(work.dof_groups.size());
  for (int i = 1; i < n; ++i) {
    group_forward<kExternal, false>(work, dof_groups[i], states[dof_groups[i].parent], v,
                                    static_cast<const T*>(nullptr), states[i]);
  }
  for (int i = n - 1; i > 0; --i) {
    const typename Work::DofGroup& done = dof_groups[i];
    accumulate_subtree<Work::kSums>(
        done.children, states[i].x + Work::kInertia, states[i + 1].x + Work::kInertia,
        states[i].subtree_sums,
        done.parent > 0 ? dof_groups[done.parent].children == 1 : !kFloating,
        states[done.parent].subtree_sums);
    write_mass_entries<kFloating>(work, i, M, stride, tau);
  }
  if constexpr (kFloating) {
    add_subtree(states[0].subtree_sums, base.inertia);
    write_base_mass(base.inertia.I, M, stride);
    const Vec3<T>&f = base.inertia.f, &m = base.inertia.n;
    const T six[6] = {f.x, f.y, f.z, m.x, m.y, m.z};
    for (int k = 0; k < 6; ++k) tau[k] = six[k];
  }
}

/// Adds the accelerations a to the psi_ddot and the force of a group computed without them. The
/// kVelocity components then have the accelerations due to a.
template <typename T>
LIMB_INLINE void add_accelerations(
    const typename DerivativeWorkspaceData<T>::DofGroup& group,
    const typename DerivativeWorkspaceData<T>::RootFrameState& parent, const T* a,
    typename DerivativeWorkspaceData<T>::RootFrameState& b) {
  using Work = DerivativeWorkspaceData<T>;
  using X = Vec3<Pack4<T>>;
  const X z = get(b.x + Work::kAngular), l = get(b.x + Work::kLinear);
  const LaneCoefficients<T> qdd = lane_coefficients(a + group.v, group.count);
  X wd = prefix_sums(last_lane(parent.x + Work::kVelocity), b.x + Work::kAngular, qdd);
  X ac = prefix_sums(last_lane(parent.x + Work::kVelocity + 3), b.x + Work::kLinear, qdd);
  put(wd + scaled(qdd.own, z), b.x + Work::kVelocity);
  put(ac + scaled(qdd.own, l), b.x + Work::kVelocity + 3);
  // Force: I times the acceleration before the lane, here; I S a of the lane and of its subtree is
  // added in the backward pass.
  const LinearAngular<Pack4<T>> F = inertia_times(load_inertia(b.x + Work::kInertia).I, wd, ac);
  put(get(b.x + Work::kForce) + F.angular, b.x + Work::kForce);
  put(get(b.x + Work::kForce + 3) + F.linear, b.x + Work::kForce + 3);
  put(scaled(qdd.own, get(b.x + Work::kUnitForce)), b.x + Work::kUnitForce);
  put(scaled(qdd.own, get(b.x + Work::kUnitForce + 3)), b.x + Work::kUnitForce + 3);
  if (group.has_multi_dof) {
    select_joint_parent<T>(group, parent.wd_p, wd);
    select_joint_parent<T>(group, parent.a_p, ac);
    b.wd_p = wd;
    b.a_p = ac;
  }
  put(add_cross(get(b.x + Work::kPsiDdot), wd, z), b.x + Work::kPsiDdot);
  put(add_cross(add_cross(get(b.x + Work::kPsiDdot + 3), wd, l), ac, z), b.x + Work::kPsiDdot + 3);
  if (group.children > 1) clear_sums(b.subtree_sums);
}

/// dtau_dq and dtau_dv at the accelerations a, after mass_and_bias_pass().
template <bool kFloating, typename T>
void acceleration_pass(DerivativeWorkspaceData<T>& work, const T* a, BaseState<T>& base,
                       const DerivativeOut<false, T>& out) {
  using Work = DerivativeWorkspaceData<T>;
  typename Work::RootFrameState* const states = work.states.data();
  const typename Work::DofGroup* const dof_groups = work.dof_groups.data();
  const int n = static_cast<int>(work.dof_groups.size());
  const T o = T(0);
  T base_a[6] = {o, o, o, o, o, o};
  if constexpr (kFloating) {
    for (int k = 0; k < 3; ++k) {
      base_a[k] = a[3 + k];
      base_a[3 + k] = a[k];
    }
  }
  for (int k = 0; k < 6; ++k) states[0].x[Work::kVelocity + k][3] = base_a[k];
  clear_sums(states[0].subtree_sums);
  for (int i = 1; i < n; ++i)
    add_accelerations<T>(dof_groups[i], states[dof_groups[i].parent], a, states[i]);
  for (int i = n - 1; i > 0; --i) {
    const typename Work::DofGroup& done = dof_groups[i];
    typename Work::RootFrameState& b = states[i];
    accumulate_subtree<6>(done.children, b.x + Work::kUnitForce, states[i + 1].x + Work::kUnitForce,
                          b.subtree_sums,
                          done.parent > 0 ? dof_groups[done.parent].children == 1 : !kFloating,
                          states[done.parent].subtree_sums);
    for (int c = 0; c < 6; ++c) {
      store_pack4(load_pack4(b.x[Work::kForce + c]) + load_pack4(b.x[Work::kUnitForce + c]),
                  b.x[Work::kForce + c]);
    }
    write_group_entries<kFloating>(
        work, i,
        [&](const auto& group) __attribute__((always_inline))->auto& {
          return states[&group - dof_groups];
        },
        base, out);
  }
  if constexpr (kFloating) write_floating_entries(base, out);
}

template <typename T>
int fail_singular(int singular, VectorOut<T>& a, MatrixOut<T>& first, MatrixOut<T>& second,
                  MatrixOut<T>& third) {
  const T nan = T(std::numeric_limits<double>::quiet_NaN());
  a.setConstant(nan);
  first.setConstant(nan);
  second.setConstant(nan);
  third.setConstant(nan);
  return singular;
}

/// Copies the upper to the lower triangle; the reduction of couplings reads both.
template <typename T>
void mirror_upper_triangle(MatrixX<T>& M) {
  for (Eigen::Index c = 0; c < M.cols(); ++c) {
    for (Eigen::Index r = 0; r < c; ++r) M(c, r) = M(r, c);
  }
}

/// All results, the factor of M and the accelerations. @returns as aba_derivatives.
template <bool kExternal, bool kFloating, typename T>
int forward_dynamics_derivatives(const Model<T>& model, DerivativeWorkspaceData<T>& work,
                                 VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
                                 const JointEffects& effects, MatrixOut<T>& da_dq,
                                 MatrixOut<T>& da_dv, MatrixOut<T>& da_dtau) {
  const Canonical<T>& robot = model.canonical();
  const Coupling<T>& coupling = model.coupling();
  const bool coupled = !coupling.is_identity();
  const int n = model.nv();
  WorkspaceData<T>& tree = work.tree;
  MatrixX<T>& M = work.factor.M_buffer();
  update_joint_transforms(robot, joint_position(model, q, tree), tree);
  const T* joint_v = joint_velocity(model, v, tree.v);

  // Mass matrix and torques without accelerations, then the accelerations.
  BaseState<T> base;
  MatrixX<T>& joint_M = coupled ? work.joint_dtau_da : M;
  T* const bias = tree.tau.data();
  if (coupled) joint_M.setConstant(T(0));
  mass_and_bias_pass<kExternal, kFloating>(robot, work, joint_v, base, joint_M.data(),
                                           joint_M.outerStride(), bias);
  if (effects.armature && robot.has_armature) {
    for (int i = 0; i < robot.nv; ++i) joint_M(i, i) += robot.armature[i];
  }
  add_velocity_torques(robot, effects, joint_v, T(1), bias);
  if (coupled) {
    mirror_upper_triangle(joint_M);
    MatrixOut<T> reduced = M;
    reduce_mass_matrix(coupling, joint_M, reduced);
    coupling.reduce_force(bias, work.a.data());
  }
  const int singular = factorize_mass<T>(model, M, work.factor).velocity;
  if (singular >= 0) return singular;
  const T* const model_bias = coupled ? work.a.data() : bias;
  for (int i = 0; i < n; ++i) work.residual[i] = tau[i] - model_bias[i];
  const PackedFactor<T>& F = work.factor.packed();
  BranchInverse<T>& inverse = work.inverse;
  invert(F, inverse);
  form_inverse(F, inverse);
  multiply_inverse(F, inverse, work.residual.data(), work.a.data());

  // Derivatives of inverse dynamics at a, then of the accelerations.
  const T* joint_a = joint_velocity(model, work.a, tree.a);
  const auto run = [&](MatrixX<T>& dq, MatrixX<T>& dv) {
    const DerivativeOut<false, T> out = {dq.data(), dv.data(), nullptr, dq.outerStride()};
    acceleration_pass<kFloating>(work, joint_a, base, out);
    add_drive_derivatives(robot, effects, joint_v, out);
  };
  if (coupled) {
    run(work.joint_dtau_dq, work.joint_dtau_dv);
    MatrixOut<T> reduced_dtau_dq = work.reduced_dtau_dq, reduced_dtau_dv = work.reduced_dtau_dv;
    reduce_mass_matrix(coupling, work.joint_dtau_dq, reduced_dtau_dq);
    reduce_mass_matrix(coupling, work.joint_dtau_dv, reduced_dtau_dv);
  } else {
    run(work.reduced_dtau_dq, work.reduced_dtau_dv);
  }
  multiply_inverse<T>(F, inverse, work.reduced_dtau_dq.data(), work.reduced_dtau_dv.data(),
                      work.reduced_dtau_dq.outerStride(), da_dq.data(), da_dq.outerStride(),
                      da_dv.data(), da_dv.outerStride());
  for (int c = 0; c < n; ++c) {
    const T* const from = inverse.data(inverse.inverse) + c * inverse.stride;
    T* const to = da_dtau.data() + c * da_dtau.outerStride();
    for (int r = 0; r < n; r += 4) store_lanes(load_pack4(from + r), std::min(n - r, 4), to + r);
  }
  return -1;
}

template <bool kExternal, typename T>
int forward_dynamics_derivatives(const Model<T>& model, DerivativeWorkspaceData<T>& work,
                                 VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
                                 const JointEffects& effects, VectorOut<T>& a, MatrixOut<T>& da_dq,
                                 MatrixOut<T>& da_dv, MatrixOut<T>& da_dtau) {
  const int singular = work.floating ? forward_dynamics_derivatives<kExternal, true, T>(
                                           model, work, q, v, tau, effects, da_dq, da_dv, da_dtau)
                                     : forward_dynamics_derivatives<kExternal, false, T>(
                                           model, work, q, v, tau, effects, da_dq, da_dv, da_dtau);
  if (singular >= 0) return fail_singular<T>(singular, a, da_dq, da_dv, da_dtau);
  a = work.a;
  return -1;
}

template <typename T>
void check_aba_derivatives(const Model<T>& model, const DerivativeWorkspaceData<T>& work,
                           VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau, const VectorOut<T>& a,
                           const MatrixOut<T>& da_dq, const MatrixOut<T>& da_dv,
                           const MatrixOut<T>& da_dtau) {
  constexpr const char* kCall = "aba_derivatives";
  check_position(kCall, "q", model, q);
  check_velocity(kCall, "v", model, v);
  check_velocity(kCall, "tau", model, tau);
  check_velocity<T>(kCall, "a", model, a);
  check_derivatives<T>(kCall, model, work, {"da_dq", "da_dv", "da_dtau"}, da_dq, da_dv, da_dtau);
}

/// For a robot with loops, which stay closed.
template <typename T, typename... External>
FactorReport closed_derivatives(const Model<T>& model, LoopDerivatives<T>& loops, VectorIn<T>& q,
                                VectorIn<T>& v, VectorIn<T>& tau, const JointEffects& effects,
                                VectorOut<T>& a, MatrixOut<T>& da_dq, MatrixOut<T>& da_dv,
                                MatrixOut<T>& da_dtau, const External&... external) {
  auto& result = loops.result;
  const FactorReport report = constrained_derivatives<T>(model, loops.set, loops.work, q, v, tau,
                                                         external..., result, {effects})
                                  .factor();
  a = result.a;
  da_dq = result.da_dq;
  da_dv = result.da_dv;
  da_dtau = result.da_dtau;
  return report;
}

}  // namespace kernel

template <typename T>
FactorReport aba_derivatives(const Model<T>& model, DerivativeWorkspace<T>& workspace,
                             VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau, VectorOut<T> a,
                             MatrixOut<T> da_dq, MatrixOut<T> da_dv, MatrixOut<T> da_dtau,
                             const JointEffects& effects) {
  DerivativeWorkspaceData<T>& work = workspace.data();
  kernel::check_aba_derivatives<T>(model, work, q, v, tau, a, da_dq, da_dv, da_dtau);
  if (work.loops) {
    return kernel::closed_derivatives<T>(model, *work.loops, q, v, tau, effects, a, da_dq, da_dv,
                                         da_dtau);
  }
  return FactorReport::from_pivot(kernel::forward_dynamics_derivatives<false, T>(
      model, work, q, v, tau, effects, a, da_dq, da_dv, da_dtau));
}

template <typename T>
FactorReport aba_derivatives(const Model<T>& model, DerivativeWorkspace<T>& workspace,
                             VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
                             WrenchesIn<T> external, VectorOut<T> a, MatrixOut<T> da_dq,
                             MatrixOut<T> da_dv, MatrixOut<T> da_dtau,
                             const JointEffects& effects) {
  DerivativeWorkspaceData<T>& work = workspace.data();
  kernel::check_aba_derivatives<T>(model, work, q, v, tau, a, da_dq, da_dv, da_dtau);
  if (work.loops) {
    return kernel::closed_derivatives<T>(model, *work.loops, q, v, tau, effects, a, da_dq, da_dv,
                                         da_dtau, external);
  }
  kernel::set_external<T>("aba_derivatives", model, work.tree, external);
  return FactorReport::from_pivot(kernel::forward_dynamics_derivatives<true, T>(
      model, work, q, v, tau, effects, a, da_dq, da_dv, da_dtau));
}

}  // namespace limb
