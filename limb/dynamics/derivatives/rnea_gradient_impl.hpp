#pragma once

#include "limb/dynamics/derivatives/rnea_gradient_data.hpp"
#include "limb/dynamics/derivatives/root_frame_pass_impl.hpp"
#include "limb/dynamics/recursive/rnea_impl.hpp"

// The columns of rnea_derivatives multiplied by lambda, without forming them. Symbols as in
// root_frame_pass_impl.hpp, and docs/derivations/second_derivatives.md for
//   W   velocity of a link with lambda as joint velocities
//   G   sum of I W over the subtree
//   H   2 sum of B^T W over the subtree

namespace limb {

template <typename T>
GradientWorkspaceData<T>::GradientWorkspaceData(const Model<T>& model) : first(model, Loops::open) {
  states.resize(model.canonical().joints.size());
  columns.resize(static_cast<std::size_t>(model.uncoupled_nv()));
  lambda = q = v = a = VectorX<T>::Constant(model.uncoupled_nv(), T(0));
}

template <typename T>
GradientWorkspace<T>::GradientWorkspace(const Model<T>& model)
    : data_(CopyablePtr<GradientWorkspaceData<T>>::make(model)) {}

template <typename T>
void GradientWorkspace<T>::check(const char* call, const Model<T>& model) const {
  data_->first.tree.check(call, model);
}

namespace kernel {

/// The three gradients in uncoupled coordinates.
template <typename T>
struct GradientOut {
  T *by_q, *by_v, *by_a;
};

template <typename T>
LIMB_INLINE T dot(const Vec3<T>& a, const Vec3<T>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <typename T>
LIMB_INLINE Vec3<T> first_three(const Pack4<T>& x) {
  return {x.lane[0], x.lane[1], x.lane[2]};
}

/// Forward pass, one joint: its motion and W from those of the parent, and its columns.
template <typename T>
LIMB_INLINE void forward_gradient(const CanonicalJoint<T>& joint, const Axes<T>& axes,
                                  const Vec3<T>& r,
                                  const typename GradientWorkspaceData<T>::JointState& parent,
                                  const T* v, const T* a, const T* lambda,
                                  typename GradientWorkspaceData<T>::Column* columns,
                                  typename GradientWorkspaceData<T>::JointState& b) {
  b = parent;
  const int count = dof_count(joint);
  for (int k = 0; k < count; ++k) {
    T unit[6] = {T(0), T(0), T(0), T(0), T(0), T(0)};
    unit[k] = T(1);
    const LinearAngular<T> S = joint_motion(joint, unit);
    auto& [z, l, psi_dot_w, psi_ddot_w, psi_ddot_v, psi_s_dot_w, psi_s_dot_v] = columns[k];
    z = to_root_axes(axes, S.angular);
    l = add_cross(to_root_axes(axes, S.linear), r, z);
    psi_dot_w = cross(parent.w, z);
    const Vec3<T> psi_dot_v = add_cross(cross(parent.w, l), parent.v, z);
    psi_ddot_w = add_cross(cross(parent.wd, z), parent.w, psi_dot_w);
    psi_ddot_v =
        add_cross(add_cross(add_cross(cross(parent.wd, l), parent.a, z), parent.w, psi_dot_v),
                  parent.v, psi_dot_w);
    psi_s_dot_w = psi_dot_w;
    psi_s_dot_v = psi_dot_v;
    b.w = b.w + scaled(v[k], z);
    b.v = b.v + scaled(v[k], l);
    b.wd = b.wd + scaled(a[k], z) + scaled(v[k], psi_dot_w);
    b.a = b.a + scaled(a[k], l) + scaled(v[k], psi_dot_v);
    b.W_w = b.W_w + scaled(lambda[k], z);
    b.W_v = b.W_v + scaled(lambda[k], l);
  }
  for (int k = 0; k < count; ++k) {
    auto& column = columns[k];
    column.psi_s_dot_w = add_cross(column.psi_s_dot_w, b.w, column.z);
    column.psi_s_dot_v = add_cross(add_cross(column.psi_s_dot_v, b.w, column.l), b.v, column.z);
  }
}

/// Force, G and H of the link itself.
template <typename T>
LIMB_INLINE void link_terms(const InertiaAtRoot<T>& inertia,
                            typename GradientWorkspaceData<T>::JointState& b) {
  b.n = inertia.n;
  b.f = inertia.f;
  const LinearAngular<T> momentum = inertia_times(inertia.I, b.W_w, b.W_v);
  b.G_n = momentum.angular;
  b.G_f = momentum.linear;
  b.H = twice(coriolis_transposed(inertia.B, b.W_w, b.W_v));
}

/// Backward pass, one joint: its entries; adds the sums over its subtree to the parent.
template <typename T>
LIMB_INLINE void write_gradient(const CanonicalJoint<T>& joint, GradientWorkspaceData<T>& work,
                                const typename GradientWorkspaceData<T>::JointState& b,
                                typename GradientWorkspaceData<T>::JointState& parent,
                                const GradientOut<T>& out) {
  for (int i = joint.v; i < joint.v + dof_count(joint); ++i) {
    const auto& column = work.columns[static_cast<size_t>(i)];
    const Vec3<T>&z = column.z, &l = column.l;
    // W_p . (S x* F)
    const T force_term =
        dot(parent.W_w, add_cross(cross(z, b.n), l, b.f)) + dot(parent.W_v, cross(z, b.f));
    out.by_q[i] = dot(b.H, column.psi_dot_w) + dot(b.G_n, column.psi_ddot_w) +
                  dot(b.G_f, column.psi_ddot_v) + force_term;
    out.by_v[i] = dot(b.H, z) + dot(b.G_n, column.psi_s_dot_w) + dot(b.G_f, column.psi_s_dot_v);
    out.by_a[i] = dot(b.G_n, z) + dot(b.G_f, l);
  }
  parent.n = parent.n + b.n;
  parent.f = parent.f + b.f;
  parent.G_n = parent.G_n + b.G_n;
  parent.G_f = parent.G_f + b.G_f;
  parent.H = parent.H + b.H;
}

/// The entries of a floating base, whose axes are those of the root.
template <typename T>
void write_floating_gradient(const BaseState<T>& base,
                             const typename GradientWorkspaceData<T>::JointState& b,
                             const GradientOut<T>& out) {
  const T o = T(0);
  const auto write = [](T* to, const Vec3<T>& linear, const Vec3<T>& angular) {
    const T six[6] = {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z};
    for (int k = 0; k < 6; ++k) to[k] = six[k];
  };
  write(out.by_q, {o, o, o}, cross(b.G_f, base.gravity));
  write(out.by_v, cross(b.G_f, base.w), add_cross(add_cross(b.H, b.G_n, base.w), b.G_f, base.v));
  write(out.by_a, b.G_f, b.G_n);
}

/// Gradient for the rigid bodies only, after update_joint_transforms() and set_external().
template <bool kFloating, typename T>
void gradient_pass(const Canonical<T>& robot, GradientWorkspaceData<T>& work, const T* v,
                   const T* a, const T* lambda, const GradientOut<T>& out) {
  DerivativeWorkspaceData<T>& first = work.first;
  const Vec3<T> zero = {T(0), T(0), T(0)};
  constexpr size_t kRoot = kFloating ? 1 : 0;
  BaseState<T> base;
  set_root_state<true, kFloating>(robot, first, v, a, base);
  compute_root_poses(robot, first);
  auto& root = work.states[kRoot];
  const auto root_component = [&](int component) {
    const auto& x = first.states[0].x;
    return Vec3<T>{x[component][3], x[component + 1][3], x[component + 2][3]};
  };
  root.w = base.w;
  root.v = base.v;
  root.wd = root_component(DerivativeWorkspaceData<T>::kAcceleration);
  root.a = root_component(DerivativeWorkspaceData<T>::kAcceleration + 3);
  root.W_w = root.W_v = root.n = root.f = root.G_n = root.G_f = root.H = zero;
  if constexpr (kFloating) {
    root.W_v = {lambda[0], lambda[1], lambda[2]};
    root.W_w = {lambda[3], lambda[4], lambda[5]};
    link_terms(base.inertia, root);
  }
  const size_t n = robot.joints.size();
  for (size_t i = kRoot + 1; i < n; ++i) {
    const CanonicalJoint<T>& joint = robot.joints[i];
    auto& b = work.states[i];
    const auto& pose = first.root_poses[i];
    const Axes<T> axes = {first_three<T>(pose.x), first_three<T>(pose.y), first_three<T>(pose.z)};
    const Vec3<T> r = first_three<T>(pose.r);
    forward_gradient(joint, axes, r, work.states[static_cast<size_t>(joint.parent)], v + joint.v,
                     a + joint.v, lambda + joint.v, work.columns.data() + joint.v, b);
    const Matrix3<T>& M = joint.second_moments;
    const T S[6] = {M(0, 0), M(1, 0), M(2, 0), M(1, 1), M(2, 1), M(2, 2)};
    InertiaAtRoot<T> inertia = inertia_at_root<false>(axes, r, joint.mass, vec3(joint.first_moment),
                                                      S, b.w, b.v, b.wd, b.a);
    const Vec3<T> f = to_root_axes(axes, first.tree.f_external[i]);
    inertia.f = inertia.f - f;
    inertia.n = inertia.n - add_cross(to_root_axes(axes, first.tree.n_external[i]), r, f);
    link_terms(inertia, b);
  }
  for (size_t i = n - 1; i > kRoot; --i) {
    const CanonicalJoint<T>& joint = robot.joints[i];
    write_gradient(joint, work, work.states[i], work.states[static_cast<size_t>(joint.parent)],
                   out);
  }
  if constexpr (kFloating) write_floating_gradient(base, root, out);
}

}  // namespace kernel

template <typename T>
void rnea_gradient(const Model<T>& model, GradientWorkspace<T>& workspace, VectorIn<T>& q,
                   VectorIn<T>& v, VectorIn<T>& a, WrenchesIn<T> external, VectorIn<T>& lambda,
                   VectorOut<T> by_q, VectorOut<T> by_v, VectorOut<T> by_a,
                   const JointEffects& effects) {
  GradientWorkspaceData<T>& work = workspace.data();
  constexpr const char* kCall = "rnea_gradient";
  check_position(kCall, "q", model, q);
  check_velocity(kCall, "v", model, v);
  check_velocity(kCall, "a", model, a);
  check_velocity(kCall, "lambda", model, lambda);
  check_velocity<T>(kCall, "by_q", model, by_q);
  check_velocity<T>(kCall, "by_v", model, by_v);
  check_velocity<T>(kCall, "by_a", model, by_a);
  WorkspaceData<T>& tree = work.first.tree;
  tree.check(kCall, model);
  kernel::set_external<T>(kCall, model, tree, external);

  const Canonical<T>& robot = model.canonical();
  kernel::update_joint_transforms(robot, kernel::joint_position(model, q, tree), tree);
  const T* const joint_v = kernel::joint_velocity(model, v, tree.v);
  const T* const joint_a = kernel::joint_velocity(model, a, tree.a);
  const T* const multipliers = kernel::joint_velocity(model, lambda, work.lambda);
  const bool coupled = !model.coupling().is_identity();
  const kernel::GradientOut<T> out = {coupled ? work.q.data() : by_q.data(),
                                      coupled ? work.v.data() : by_v.data(),
                                      coupled ? work.a.data() : by_a.data()};
  if (work.first.floating) {
    kernel::gradient_pass<true>(robot, work, joint_v, joint_a, multipliers, out);
  } else {
    kernel::gradient_pass<false>(robot, work, joint_v, joint_a, multipliers, out);
  }
  for (int i = 0; i < robot.nv; ++i) {
    if (effects.damping && robot.has_damping) out.by_v[i] += robot.damping[i] * multipliers[i];
    if (effects.armature && robot.has_armature) out.by_a[i] += robot.armature[i] * multipliers[i];
  }
  kernel::add_turning_armature_gradient(robot, effects, joint_v, multipliers, out.by_v);
  if (!coupled) return;
  model.coupling().reduce_force(out.by_q, by_q.data());
  model.coupling().reduce_force(out.by_v, by_v.data());
  model.coupling().reduce_force(out.by_a, by_a.data());
}

}  // namespace limb
