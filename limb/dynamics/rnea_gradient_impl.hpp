#pragma once

#include "limb/dynamics/rnea_gradient.hpp"
#include "limb/dynamics/rnea_impl.hpp"
#include "limb/dynamics/seen_from_root_impl.hpp"

// The columns of rnea_derivatives, summed with multipliers before they are formed. Symbols as in
// seen_from_root_impl.hpp, and docs/derivations/second_derivatives.md for W, G, H.

namespace limb {

template <typename T>
GradientWorkspace<T>::GradientWorkspace(const Model<T>& model) : first(model, Loops::open) {
  steps.resize(model.canonical().steps.size());
  columns.resize(static_cast<std::size_t>(model.nv()));
  lambda = q = v = a = VectorX<T>::Constant(model.nv(), T(0));
}

namespace kernel {

/// Where the three gradients of the joints stand.
template <typename T>
struct GradientOut {
  T *by_q, *by_v, *by_a;
};

template <typename T>
LIMB_INLINE T dot(const Triple<T>& a, const Triple<T>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <typename T>
LIMB_INLINE Triple<T> first_three(const Four<T>& x) {
  return {x.lane[0], x.lane[1], x.lane[2]};
}

/// Motion of a step from its parent's, the columns of its velocities, and the motion W.
template <typename T>
LIMB_INLINE void move_with(const CanonicalStep<T>& step, const Axes<T>& axes, const Triple<T>& r,
                           const typename GradientWorkspace<T>::Step& parent, const T* v,
                           const T* a, const T* lambda,
                           typename GradientWorkspace<T>::Column* columns,
                           typename GradientWorkspace<T>::Step& b) {
  b = parent;
  const int count = freedoms(step);
  for (int k = 0; k < count; ++k) {
    T unit[6] = {T(0), T(0), T(0), T(0), T(0), T(0)};
    unit[k] = T(1);
    const Pair<T> S = motion_of(step, unit);
    auto& [z, l, rate, bend_w, bend_v, sum_w, sum_v] = columns[k];
    z = along(axes, S.angular);
    l = add_cross(along(axes, S.linear), r, z);
    rate = cross(parent.w, z);
    const Triple<T> rate_v = add_cross(cross(parent.w, l), parent.v, z);
    bend_w = add_cross(cross(parent.wd, z), parent.w, rate);
    bend_v = add_cross(add_cross(add_cross(cross(parent.wd, l), parent.a, z), parent.w, rate_v),
                       parent.v, rate);
    sum_w = rate;
    sum_v = rate_v;
    b.w = b.w + scaled(v[k], z);
    b.v = b.v + scaled(v[k], l);
    b.wd = b.wd + scaled(a[k], z) + scaled(v[k], rate);
    b.a = b.a + scaled(a[k], l) + scaled(v[k], rate_v);
    b.W_w = b.W_w + scaled(lambda[k], z);
    b.W_v = b.W_v + scaled(lambda[k], l);
  }
  for (int k = 0; k < count; ++k) {
    auto& column = columns[k];
    column.sum_w = add_cross(column.sum_w, b.w, column.z);
    column.sum_v = add_cross(add_cross(column.sum_v, b.w, column.l), b.v, column.z);
  }
}

/// Force, G and H of the step's own masses.
template <typename T>
LIMB_INLINE void carry_motion(const Weight<T>& weight, typename GradientWorkspace<T>::Step& b) {
  b.n = weight.n;
  b.f = weight.f;
  const Pair<T> momentum = inertia_times(weight.I, b.W_w, b.W_v);
  b.G_n = momentum.angular;
  b.G_f = momentum.linear;
  b.H = twice(product_transposed(weight.B, b.W_w, b.W_v));
}

/// Entries of the step's velocities; then what it carries, to its parent.
template <typename T>
LIMB_INLINE void close_gradient(const CanonicalStep<T>& step, GradientWorkspace<T>& work,
                                const typename GradientWorkspace<T>::Step& b,
                                typename GradientWorkspace<T>::Step& parent,
                                const GradientOut<T>& out) {
  for (int i = step.v; i < step.v + freedoms(step); ++i) {
    const auto& column = work.columns[static_cast<size_t>(i)];
    const Triple<T>&z = column.z, &l = column.l;
    // What turns with this velocity does work on the motion of what carries it.
    const T turned =
        dot(parent.W_w, add_cross(cross(z, b.n), l, b.f)) + dot(parent.W_v, cross(z, b.f));
    out.by_q[i] =
        dot(b.H, column.rate) + dot(b.G_n, column.bend_w) + dot(b.G_f, column.bend_v) + turned;
    out.by_v[i] = dot(b.H, z) + dot(b.G_n, column.sum_w) + dot(b.G_f, column.sum_v);
    out.by_a[i] = dot(b.G_n, z) + dot(b.G_f, l);
  }
  parent.n = parent.n + b.n;
  parent.f = parent.f + b.f;
  parent.G_n = parent.G_n + b.G_n;
  parent.G_f = parent.G_f + b.G_f;
  parent.H = parent.H + b.H;
}

/// Entries of a floating base, whose axes are those of the root.
template <typename T>
void close_floating_gradient(const Base<T>& base, const typename GradientWorkspace<T>::Step& b,
                             const GradientOut<T>& out) {
  const T o = T(0);
  const auto write = [](T* to, const Triple<T>& linear, const Triple<T>& angular) {
    const T six[6] = {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z};
    for (int k = 0; k < 6; ++k) to[k] = six[k];
  };
  write(out.by_q, {o, o, o}, cross(b.G_f, base.gravity));
  write(out.by_v, cross(b.G_f, base.w), add_cross(add_cross(b.H, b.G_n, base.w), b.G_f, base.v));
  write(out.by_a, b.G_f, b.G_n);
}

/// Of the rigid bodies, after place() and set_external().
template <bool kFloating, typename T>
void walk_gradient(const Canonical<T>& robot, GradientWorkspace<T>& work, const T* v, const T* a,
                   const T* lambda, const GradientOut<T>& out) {
  DerivativeWorkspace<T>& first = work.first;
  const Triple<T> zero = {T(0), T(0), T(0)};
  constexpr size_t kRoot = kFloating ? 1 : 0;
  Base<T> base;
  begin_at_root<true, kFloating>(robot, first, v, a, base);
  stand_all(robot, first);
  auto& root = work.steps[kRoot];
  const auto began = [&](int component) {
    const auto& x = first.seen[0].x;
    return Triple<T>{x[component][3], x[component + 1][3], x[component + 2][3]};
  };
  root.w = base.w;
  root.v = base.v;
  root.wd = began(DerivativeWorkspace<T>::kAcceleration);
  root.a = began(DerivativeWorkspace<T>::kAcceleration + 3);
  root.W_w = root.W_v = root.n = root.f = root.G_n = root.G_f = root.H = zero;
  if constexpr (kFloating) {
    root.W_v = {lambda[0], lambda[1], lambda[2]};
    root.W_w = {lambda[3], lambda[4], lambda[5]};
    carry_motion(base.weight, root);
  }
  const size_t n = robot.steps.size();
  for (size_t i = kRoot + 1; i < n; ++i) {
    const CanonicalStep<T>& step = robot.steps[i];
    auto& b = work.steps[i];
    const auto& stand = first.stands[i];
    const Axes<T> axes = {first_three<T>(stand.x), first_three<T>(stand.y),
                          first_three<T>(stand.z)};
    const Triple<T> r = first_three<T>(stand.r);
    move_with(step, axes, r, work.steps[static_cast<size_t>(step.parent)], v + step.v, a + step.v,
              lambda + step.v, work.columns.data() + step.v, b);
    const Matrix3<T>& M = step.second_moments;
    const T S[6] = {M(0, 0), M(1, 0), M(2, 0), M(1, 1), M(2, 1), M(2, 2)};
    Weight<T> weight =
        weigh<false>(axes, r, step.mass, triple(step.first_moment), S, b.w, b.v, b.wd, b.a);
    const Triple<T> f = along(axes, first.tree.f_external[i]);
    weight.f = weight.f - f;
    weight.n = weight.n - add_cross(along(axes, first.tree.n_external[i]), r, f);
    carry_motion(weight, b);
  }
  for (size_t i = n - 1; i > kRoot; --i) {
    const CanonicalStep<T>& step = robot.steps[i];
    close_gradient(step, work, work.steps[i], work.steps[static_cast<size_t>(step.parent)], out);
  }
  if constexpr (kFloating) close_floating_gradient(base, root, out);
}

}  // namespace kernel

template <typename T>
void rnea_gradient(const Model<T>& model, GradientWorkspace<T>& work, VectorIn<T>& q,
                   VectorIn<T>& v, VectorIn<T>& a, VectorIn<T>& lambda, VectorOut<T> by_q,
                   VectorOut<T> by_v, VectorOut<T> by_a, WrenchesIn<T> external,
                   const JointEffects& effects) {
  constexpr const char* kCall = "rnea_gradient";
  check_position(kCall, "q", model, q);
  check_velocity(kCall, "v", model, v);
  check_velocity(kCall, "a", model, a);
  check_velocity(kCall, "lambda", model, lambda);
  check_velocity<T>(kCall, "by_q", model, by_q);
  check_velocity<T>(kCall, "by_v", model, by_v);
  check_velocity<T>(kCall, "by_a", model, by_a);
  Workspace<T>& tree = work.first.tree;
  tree.check(kCall, model);
  kernel::set_external<T>(kCall, model, tree, external);

  const Canonical<T>& robot = model.canonical();
  kernel::place(robot, kernel::joint_position(model, q, tree), tree);
  const T* const joint_v = kernel::joint_velocity(model, v, tree.v);
  const T* const joint_a = kernel::joint_velocity(model, a, tree.a);
  const T* const multipliers = kernel::joint_velocity(model, lambda, work.lambda);
  const bool coupled = !model.coupling().is_identity();
  const kernel::GradientOut<T> out = {coupled ? work.q.data() : by_q.data(),
                                      coupled ? work.v.data() : by_v.data(),
                                      coupled ? work.a.data() : by_a.data()};
  if (work.first.floating) {
    kernel::walk_gradient<true>(robot, work, joint_v, joint_a, multipliers, out);
  } else {
    kernel::walk_gradient<false>(robot, work, joint_v, joint_a, multipliers, out);
  }
  for (int i = 0; i < robot.nv; ++i) {
    if (effects.damping && robot.has_damping) out.by_v[i] += robot.damping[i] * multipliers[i];
    if (effects.armature && robot.has_armature) out.by_a[i] += robot.armature[i] * multipliers[i];
  }
  if (!coupled) return;
  model.coupling().reduce_force(out.by_q, by_q.data());
  model.coupling().reduce_force(out.by_v, by_v.data());
  model.coupling().reduce_force(out.by_a, by_a.data());
}

}  // namespace limb
