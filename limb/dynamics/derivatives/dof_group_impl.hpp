#pragma once

#include "limb/dynamics/constraints/constrained_derivatives_impl.hpp"
#include "limb/dynamics/constraints/loop_derivatives.hpp"
#include "limb/dynamics/derivatives/derivative_workspace_data.hpp"
#include "limb/dynamics/factor/branch_inverse_impl.hpp"
#include "limb/dynamics/factor/mass_factor_impl.hpp"
#include "limb/dynamics/recursive/joint_transforms_impl.hpp"
#include "limb/dynamics/recursive/workspace_impl.hpp"

namespace limb {
namespace kernel {

/// Writes the axis of degree of freedom k of a joint, and with its last one the inertia, to a lane.
template <typename T>
void fill_lane(const CanonicalJoint<T>& joint, int k, int lane,
               typename DerivativeWorkspaceData<T>::DofGroup& group) {
  T unit[6] = {T(0), T(0), T(0), T(0), T(0), T(0)};
  unit[k] = T(1);
  const LinearAngular<T> S = joint_motion(joint, unit);
  const T axis[6] = {S.angular.x, S.angular.y, S.angular.z, S.linear.x, S.linear.y, S.linear.z};
  for (int c = 0; c < 3; ++c) {
    group.angular[c][lane] = axis[c];
    group.linear[c][lane] = axis[3 + c];
  }
  if (k + 1 < dof_count(joint)) return;
  const Matrix3<T>& M = joint.second_moments;
  const T moments[6] = {M(0, 0), M(1, 0), M(2, 0), M(1, 1), M(2, 1), M(2, 2)};
  group.m[lane] = joint.mass;
  for (int c = 0; c < 3; ++c) group.h[c][lane] = joint.first_moment[c];
  for (int c = 0; c < 6; ++c) group.S[c][lane] = moments[c];
}

/// Partitions the degrees of freedom into groups. A new group starts where the tree branches, where
/// four lanes are full, and where a joint with several degrees of freedom would not fit.
template <typename T>
std::vector<typename DerivativeWorkspaceData<T>::DofGroup> dof_groups(const Canonical<T>& robot,
                                                                      bool floating) {
  using DofGroup = typename DerivativeWorkspaceData<T>::DofGroup;
  const auto& joints = robot.joints;
  const int count = static_cast<int>(joints.size()), root = floating ? 1 : 0;
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  std::vector<int> children(joints.size(), 0), ends_in(joints.size(), 0);
  for (int i = 1; i < count; ++i) ++children[at(joints[at(i)].parent)];
  std::vector<DofGroup> all(1);
  for (int i = root + 1; i < count; ++i) {
    const CanonicalJoint<T>& joint = joints[at(i)];
    const int dofs = dof_count(joint), parent = joint.parent;
    const bool follows = parent > root && children[at(parent)] == 1 &&
                         joint.v == joints[at(parent)].v + dof_count(joints[at(parent)]) &&
                         all.back().count + std::min(dofs, 4) <= 4;
    for (int k = 0; k < dofs; ++k) {
      if (k == 0 ? !follows : all.back().count == 4) {
        DofGroup next;
        next.v = joint.v + k;
        next.v_end = joint.v_end;
        next.parent = k > 0 ? static_cast<int>(all.size()) - 1 : ends_in[at(parent)];
        next.level = all[at(next.parent)].level + 1;
        ++all[at(next.parent)].children;
        all.push_back(next);
      }
      DofGroup& group = all.back();
      const int lane = group.count++;
      for (int m = lane; m < 4; ++m) {
        group.joint[m] = i;
        group.first[m] = group.last[m] = m;
      }
      group.first[lane] = k > lane ? -1 : lane - k;
      group.last[lane] = lane + dofs - 1 - k;
      group.all_revolute = group.all_revolute && joint.kind == CanonicalJoint<T>::Kind::revolute;
      group.has_multi_dof = group.has_multi_dof || dofs > 1;
      group.regrouped = group.regrouped && joint.regrouped;
      fill_lane(joint, k, lane, group);
    }
    ends_in[at(i)] = static_cast<int>(all.size()) - 1;
  }
  for (DofGroup& group : all) {
    for (int c = 0; c < 4; ++c) {
      for (int r = 0; r < 4; ++r) group.row_mask[c][r] = r >= group.first[c] ? -1 : 0;
    }
  }
  return all;
}

}  // namespace kernel

template <typename T>
DerivativeWorkspaceData<T>::DerivativeWorkspaceData(const Model<T>& model, Loops loops_of_model)
    : tree(model, Loops::open), factor(model) {
  if (loops_of_model == Loops::closed && !model.loops().empty()) {
    loops = CopyablePtr<LoopDerivatives<T>>::make(model);
  }
  const Canonical<T>& robot = model.canonical();
  using Kind = typename CanonicalJoint<T>::Kind;
  floating = robot.joints.size() > 1 && robot.joints[1].kind == Kind::free &&
             robot.joints[1].parent == 0 && robot.joints[1].v_end == robot.nv;
  root_poses.resize(robot.joints.size());
  dof_groups = kernel::dof_groups(robot, floating);
  states.resize(dof_groups.size() + 1);  // one unused entry after the last
  for (std::size_t i = 1; i < dof_groups.size(); ++i) {
    DofGroup& group = dof_groups[i];
    // Velocities neither on the path from the root nor in the group or its subtree.
    std::vector<bool> related(static_cast<std::size_t>(robot.nv), false);
    const auto mark = [&](int begin, int end) {
      std::fill(related.begin() + begin, related.begin() + end, true);
    };
    if (floating) mark(0, 6);
    mark(group.v, group.v_end);
    for (int b = group.parent; b > 0; b = dof_groups[static_cast<std::size_t>(b)].parent) {
      const DofGroup& before = dof_groups[static_cast<std::size_t>(b)];
      mark(before.v, before.v + before.count);
    }
    group.zeros_begin = static_cast<int>(zeros.size());
    for (int v = 0; v < robot.nv; ++v) {
      if (related[static_cast<std::size_t>(v)]) continue;
      const int begin = v;
      while (v < robot.nv && !related[static_cast<std::size_t>(v)]) ++v;
      zeros.push_back({begin, v});
    }
    group.zeros_end = static_cast<int>(zeros.size());
  }
  inverse = kernel::BranchInverse<T>(factor.packed());
  const int n = model.nv();
  a = residual = VectorX<T>::Constant(n, T(0));
  reduced_dtau_dq = reduced_dtau_dv = reduced_dtau_da = MatrixX<T>::Constant(n, n, T(0));
  if (!model.coupling().is_identity()) {
    joint_dtau_dq = joint_dtau_dv = joint_dtau_da =
        MatrixX<T>::Constant(model.uncoupled_nv(), model.uncoupled_nv(), T(0));
  }
}

template <typename T>
DerivativeWorkspace<T>::DerivativeWorkspace(const Model<T>& model, Loops loops_of_model)
    : data_(CopyablePtr<DerivativeWorkspaceData<T>>::make(model, loops_of_model)) {}

template <typename T>
void DerivativeWorkspace<T>::check(const char* call, const Model<T>& model) const {
  data_->tree.check(call, model);
}

}  // namespace limb
