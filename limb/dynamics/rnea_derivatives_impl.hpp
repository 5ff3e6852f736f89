#pragma once

#include "limb/dynamics/crba_impl.hpp"
#include "limb/dynamics/mass_factor_impl.hpp"
#include "limb/dynamics/rnea_derivatives.hpp"

// Symbols (docs/derivations/derivatives.md), of a velocity with axis S on step i, whose parent p
// has velocity V and acceleration A; all seen from the root, angular and linear parts of Pluecker
// vectors:
//   z, l     S                            rate   V_p x S: what S gains when its parent moves
//   bend     A_p x S + V_p x rate         sum    rate + V_i x S
//   I, B, F  inertia, its product with velocities (Q, P), and force of a step with all it carries

namespace limb {

template <typename T>
DerivativeWorkspace<T>::DerivativeWorkspace(const Model<T>& model)
    : tree(model, Loops::open), factor(model) {
  const Canonical<T>& robot = model.canonical();
  steps.resize(robot.steps.size());
  place.assign(robot.steps.size(), 0);
  int deepest = 0;
  for (std::size_t i = 1; i < robot.steps.size(); ++i) {
    const std::size_t p = static_cast<std::size_t>(robot.steps[i].parent);
    place[i] = p == 0 ? 0 : place[p] + kernel::freedoms(robot.steps[p]);
    deepest = std::max(deepest, place[i] + kernel::freedoms(robot.steps[i]));
  }
  const std::size_t fours = static_cast<std::size_t>((deepest + 3) / 4 * 4);
  way_v.assign(fours, 0);
  for (std::vector<T>& component : way) component.assign(fours, T(0));
  for (auto* entries : {&row_q, &row_v, &row_a, &column_q, &column_v}) {
    entries->assign(fours, T(0));
  }
  const int n = model.velocity_size();
  tau = VectorX<T>::Constant(model.nv(), T(0));
  a = VectorX<T>::Constant(n, T(0));
  own_q = own_v = own_a = MatrixX<T>::Constant(n, n, T(0));
  if (!model.coupling().is_identity()) {
    dq = dv = da = MatrixX<T>::Constant(model.nv(), model.nv(), T(0));
  }
  row_stride = (3 * n + 7) / 8 * 8;
  rows.assign(static_cast<std::size_t>(row_stride * n), T(0));
}

namespace kernel {

template <typename T>
using Seen = typename DerivativeWorkspace<T>::Step;

template <typename T>
LIMB_INLINE Triple<T> cross(const Triple<T>& a, const Triple<T>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <typename T>
LIMB_INLINE Triple<T> scaled(const T& k, const Triple<T>& a) {
  return {k * a.x, k * a.y, k * a.z};
}
template <typename T>
LIMB_INLINE Triple<T> twice(const Triple<T>& a) {
  return a + a;
}
/// Along the axes of a step: x k.x + y k.y + z k.z.
template <typename T>
LIMB_INLINE Triple<T> along(const Seen<T>& b, const Triple<T>& k) {
  return {b.x.x * k.x + b.y.x * k.y + b.z.x * k.z, b.x.y * k.x + b.y.y * k.y + b.z.y * k.z,
          b.x.z * k.x + b.y.z * k.y + b.z.z * k.z};
}

/// I (angular, linear) as moment and force.
template <typename T>
LIMB_INLINE Pair<T> inertia_times(const typename Workspace<T>::Composite& I, const Triple<T>& w,
                                  const Triple<T>& v) {
  const Triple<T> turned = {(I.yy + I.zz) * w.x - I.xy * w.y - I.xz * w.z,
                            (I.xx + I.zz) * w.y - I.xy * w.x - I.yz * w.z,
                            (I.xx + I.yy) * w.z - I.xz * w.x - I.yz * w.y};
  return {add_cross(scaled(I.m, v), w, I.h), add_cross(turned, I.h, v)};
}
/// The moment of B w: tr(Q) w - Q w. Its force is w x P.
template <typename T>
LIMB_INLINE Triple<T> product_moment(const T (&Q)[9], const Triple<T>& w) {
  return {(Q[4] + Q[8]) * w.x - Q[1] * w.y - Q[2] * w.z,
          (Q[0] + Q[8]) * w.y - Q[3] * w.x - Q[5] * w.z,
          (Q[0] + Q[4]) * w.z - Q[6] * w.x - Q[7] * w.y};
}
/// B^T (z, l), which has an angular part alone: tr(Q) z - Q^T z + P x l.
template <typename T>
LIMB_INLINE Triple<T> product_transposed(const T (&Q)[9], const Triple<T>& P, const Triple<T>& z,
                                         const Triple<T>& l) {
  const Triple<T> turned = {(Q[4] + Q[8]) * z.x - Q[3] * z.y - Q[6] * z.z,
                            (Q[0] + Q[8]) * z.y - Q[1] * z.x - Q[7] * z.z,
                            (Q[0] + Q[4]) * z.z - Q[2] * z.x - Q[5] * z.y};
  return add_cross(turned, P, l);
}

/// Where the step stands, seen from the root.
template <typename T>
LIMB_INLINE void see(const CanonicalStep<T>& step, size_t i, const Workspace<T>& tree,
                     const Seen<T>& parent, Seen<T>& b) {
  if (step.kind != CanonicalStep<T>::Kind::revolute) {
    const Matrix3<T>& R = tree.R[i];
    b.x = along<T>(parent, {R(0, 0), R(1, 0), R(2, 0)});
    b.y = along<T>(parent, {R(0, 1), R(1, 1), R(2, 1)});
    b.z = along<T>(parent, {R(0, 2), R(1, 2), R(2, 2)});
    b.r = parent.r + along<T>(parent, tree.p[i]);
    return;
  }
  b.x = parent.x;
  b.y = parent.y;
  b.z = parent.z;
  b.r = parent.r + along<T>(parent, triple(step.p));
  const auto each = [&](Triple<T>& s, Triple<T>& t, const auto& turned) {
    turned(s.x, t.x);
    turned(s.y, t.y);
    turned(s.z, t.z);
  };
  if (step.has_gamma) {
    each(b.x, b.y, [&](T& s, T& t) { turn_back(s, t, step.cos_gamma, step.sin_gamma); });
  }
  with_alpha(
      step, [&](const auto& alpha) __attribute__((always_inline)) {
        each(b.y, b.z, [&](T& s, T& t) { alpha.back(s, t); });
      });
  const T c = tree.cosine[i], s = tree.sine[i];
  each(b.x, b.y, [&](T& u, T& t) { turn_back(u, t, c, s); });
}

template <typename T>
LIMB_INLINE void put(std::vector<T>* way, int component, int at, const Triple<T>& value) {
  way[component][static_cast<size_t>(at)] = value.x;
  way[component + 1][static_cast<size_t>(at)] = value.y;
  way[component + 2][static_cast<size_t>(at)] = value.z;
}
template <typename T>
LIMB_INLINE Triple<T> get(const std::vector<T>* way, int component, int at) {
  return {way[component][static_cast<size_t>(at)], way[component + 1][static_cast<size_t>(at)],
          way[component + 2][static_cast<size_t>(at)]};
}

/// Motion of a step from its parent's, and the columns of its velocities.
template <typename T>
LIMB_INLINE void move(const CanonicalStep<T>& step, int place, const Seen<T>& parent, const T* v,
                      const T* a, DerivativeWorkspace<T>& work, Seen<T>& b) {
  using Work = DerivativeWorkspace<T>;
  b.w = parent.w;
  b.v = parent.v;
  b.wd = parent.wd;
  b.a = parent.a;
  const bool turning_only = step.kind == CanonicalStep<T>::Kind::revolute;
  const int count = turning_only ? 1 : freedoms(step);
  for (int k = 0; k < count; ++k) {
    Triple<T> z = b.z, l = cross(b.r, b.z);
    if (!turning_only) {
      T unit[6] = {T(0), T(0), T(0), T(0), T(0), T(0)};
      unit[k] = T(1);
      const Pair<T> S = motion_of(step, unit);
      z = along<T>(b, S.angular);
      l = add_cross(along<T>(b, S.linear), b.r, z);
    }
    const Triple<T> rate_w = cross(parent.w, z);
    const Triple<T> rate_v = add_cross(cross(parent.w, l), parent.v, z);
    const Triple<T> bend_w = add_cross(cross(parent.wd, z), parent.w, rate_w);
    const Triple<T> bend_v = add_cross(
        add_cross(add_cross(cross(parent.wd, l), parent.a, z), parent.w, rate_v), parent.v, rate_w);
    b.w = b.w + scaled(v[k], z);
    b.v = b.v + scaled(v[k], l);
    b.wd = b.wd + scaled(a[k], z) + scaled(v[k], rate_w);
    b.a = b.a + scaled(a[k], l) + scaled(v[k], rate_v);
    const int at = place + k;
    put(work.way, Work::kAngular, at, z);
    put(work.way, Work::kLinear, at, l);
    put(work.way, Work::kRate, at, rate_w);
    put(work.way, Work::kBend, at, bend_w);
    put(work.way, Work::kBend + 3, at, bend_v);
    // A single axis does not move in its own rotation: V_i x S = V_p x S.
    put(work.way, Work::kSum, at, count == 1 ? twice(rate_w) : rate_w);
    put(work.way, Work::kSum + 3, at, count == 1 ? twice(rate_v) : rate_v);
    work.way_v[static_cast<size_t>(at)] = step.v + k;
  }
  if (count == 1) return;
  for (int at = place; at < place + count; ++at) {
    const Triple<T> z = get(work.way, Work::kAngular, at), l = get(work.way, Work::kLinear, at);
    put(work.way, Work::kSum, at, add_cross(get(work.way, Work::kSum, at), b.w, z));
    put(work.way, Work::kSum + 3, at,
        add_cross(add_cross(get(work.way, Work::kSum + 3, at), b.w, l), b.v, z));
  }
}

/// The step's own masses: inertia, products with their velocities, force.
template <bool kExternal, typename T>
LIMB_INLINE void weigh(const CanonicalStep<T>& step, size_t i, const Workspace<T>& tree,
                       Seen<T>& b) {
  const Matrix3<T>& S = step.second_moments;
  const T o = T(0);
  typename Workspace<T>::Composite turned = {
      step.mass, along<T>(b, triple(step.first_moment)), o, o, o, o, o, o};
  const Triple<T> sx = along<T>(b, {S(0, 0), S(1, 0), S(2, 0)});
  const Triple<T> sy = along<T>(b, {S(1, 0), S(1, 1), S(2, 1)});
  const Triple<T> sz = along<T>(b, {S(2, 0), S(2, 1), S(2, 2)});
  turned.xx = sx.x * b.x.x + sy.x * b.y.x + sz.x * b.z.x;
  turned.xy = sx.x * b.x.y + sy.x * b.y.y + sz.x * b.z.y;
  turned.xz = sx.x * b.x.z + sy.x * b.y.z + sz.x * b.z.z;
  turned.yy = sx.y * b.x.y + sy.y * b.y.y + sz.y * b.z.y;
  turned.yz = sx.y * b.x.z + sy.y * b.y.z + sz.y * b.z.z;
  turned.zz = sx.z * b.x.z + sy.z * b.y.z + sz.z * b.z.z;
  b.I = {o, {o, o, o}, o, o, o, o, o, o};
  add_composite<T>(turned, b.r, b.I);

  const auto& I = b.I;
  const Triple<T>&w = b.w, &v = b.v, &h = I.h;
  // Q = v h^T + [w]x J
  b.Q[0] = v.x * h.x + (w.y * I.xz - w.z * I.xy);
  b.Q[1] = v.x * h.y + (w.y * I.yz - w.z * I.yy);
  b.Q[2] = v.x * h.z + (w.y * I.zz - w.z * I.yz);
  b.Q[3] = v.y * h.x + (w.z * I.xx - w.x * I.xz);
  b.Q[4] = v.y * h.y + (w.z * I.xy - w.x * I.yz);
  b.Q[5] = v.y * h.z + (w.z * I.xz - w.x * I.zz);
  b.Q[6] = v.z * h.x + (w.x * I.xy - w.y * I.xx);
  b.Q[7] = v.z * h.y + (w.x * I.yy - w.y * I.xy);
  b.Q[8] = v.z * h.z + (w.x * I.yz - w.y * I.xz);
  b.P = add_cross(scaled(I.m, v), w, h);
  const Pair<T> pushed = inertia_times<T>(I, b.wd, b.a);
  b.f = add_cross(pushed.linear, w, b.P);
  b.n = pushed.angular + product_moment(b.Q, w);
  if constexpr (kExternal) {
    const Triple<T> f = along<T>(b, tree.f_external[i]);
    b.f = b.f - f;
    b.n = b.n - add_cross(along<T>(b, tree.n_external[i]), b.r, f);
  }
}

/// Where entry (row, column) of the three results stands.
template <typename T>
struct DerivativeOut {
  T *dq, *dv, *da;
  Eigen::Index row, column;  ///< distance of neighbours in a column, in a row
};

/// Entries of the pairs of the step's velocities with all before them on its way.
template <typename T>
LIMB_INLINE void close(const CanonicalStep<T>& step, int place, const Seen<T>& b,
                       DerivativeWorkspace<T>& work, T* tau, const DerivativeOut<T>& out) {
  using Work = DerivativeWorkspace<T>;
  const T* way[Work::kComponents];
  for (int c = 0; c < Work::kComponents; ++c) way[c] = work.way[c].data();
  T *const row_q = work.row_q.data(), *const row_v = work.row_v.data(),
           *const row_a = work.row_a.data(), *const column_q = work.column_q.data(),
           *const column_v = work.column_v.data();
  const int* const way_v = work.way_v.data();
  const int count = step.kind == CanonicalStep<T>::Kind::revolute ? 1 : freedoms(step);
  const int end = place + count;
  for (int k = 0; k < count; ++k) {
    const int at = place + k, i = step.v + k;
    const Triple<T> z = get(work.way, Work::kAngular, at), l = get(work.way, Work::kLinear, at);
    const Triple<T> rate = get(work.way, Work::kRate, at);
    tau[i] = z.x * b.n.x + z.y * b.n.y + z.z * b.n.z + (l.x * b.f.x + l.y * b.f.y + l.z * b.f.z);
    const Pair<T> IS = inertia_times<T>(b.I, z, l);
    const Triple<T> BS = twice(product_transposed(b.Q, b.P, z, l));
    // What the ancestors feel of a change of this coordinate and of this velocity.
    const Pair<T> bent =
        inertia_times<T>(b.I, get(work.way, Work::kBend, at), get(work.way, Work::kBend + 3, at));
    const Triple<T> q_n =
        add_cross(add_cross(bent.angular + twice(product_moment(b.Q, rate)), z, b.n), l, b.f);
    const Triple<T> q_f = add_cross(bent.linear + twice(cross(rate, b.P)), z, b.f);
    const Pair<T> summed =
        inertia_times<T>(b.I, get(work.way, Work::kSum, at), get(work.way, Work::kSum + 3, at));
    const Triple<T> v_n = summed.angular + twice(product_moment(b.Q, z));
    const Triple<T> v_f = summed.linear + twice(cross(z, b.P));
    for (int e = 0; e < end; e += 4) {
      const auto dot = [&](int component, const Triple<T>& x) __attribute__((always_inline)) {
        return Lanes<T>(load(way[component] + e) * x.x + load(way[component + 1] + e) * x.y +
                        load(way[component + 2] + e) * x.z);
      };
      store<T>(
          dot(Work::kRate, BS) + dot(Work::kBend, IS.angular) + dot(Work::kBend + 3, IS.linear),
          row_q + e);
      store<T>(
          dot(Work::kAngular, BS) + dot(Work::kSum, IS.angular) + dot(Work::kSum + 3, IS.linear),
          row_v + e);
      store<T>(dot(Work::kAngular, IS.angular) + dot(Work::kLinear, IS.linear), row_a + e);
      store<T>(dot(Work::kAngular, q_n) + dot(Work::kLinear, q_f), column_q + e);
      store<T>(dot(Work::kAngular, v_n) + dot(Work::kLinear, v_f), column_v + e);
    }
    const Eigen::Index row_i = i * out.row, column_i = i * out.column;
    for (int e = 0; e < place; ++e) {
      const Eigen::Index to = row_i + way_v[e] * out.column, from = way_v[e] * out.row + column_i;
      out.dq[to] = row_q[e];
      out.dv[to] = row_v[e];
      out.da[to] = row_a[e];
      out.dq[from] = column_q[e];
      out.dv[from] = column_v[e];
      out.da[from] = row_a[e];
    }
    for (int e = place; e < end; ++e) {  // among the step's own: axes that turn with the body
      const Eigen::Index to = row_i + way_v[e] * out.column;
      out.dq[to] = row_q[e];
      out.dv[to] = row_v[e];
      out.da[to] = row_a[e];
    }
  }
}

/// Adds what a closed step carries to its parent.
template <typename T>
LIMB_INLINE void hand_on(const Seen<T>& b, Seen<T>& parent) {
  auto& I = parent.I;
  I.m = I.m + b.I.m;
  I.h = I.h + b.I.h;
  I.xx = I.xx + b.I.xx;
  I.xy = I.xy + b.I.xy;
  I.xz = I.xz + b.I.xz;
  I.yy = I.yy + b.I.yy;
  I.yz = I.yz + b.I.yz;
  I.zz = I.zz + b.I.zz;
  for (int k = 0; k < 9; ++k) parent.Q[k] = parent.Q[k] + b.Q[k];
  parent.P = parent.P + b.P;
  parent.n = parent.n + b.n;
  parent.f = parent.f + b.f;
}

/// Of the rigid bodies, after place(). Entries of pairs on no common way are left as they are.
template <bool kExternal, typename T>
void rnea_derivatives(const Canonical<T>& robot, DerivativeWorkspace<T>& work, const T* v,
                      const T* a, const DerivativeOut<T>& out) {
  using Kind = typename CanonicalStep<T>::Kind;
  const T o = T(0), one = T(1);
  const size_t n = robot.steps.size();
  Seen<T>* const seen = work.steps.data();
  Seen<T>& world = seen[0];
  world.x = {one, o, o};
  world.y = {o, one, o};
  world.z = {o, o, one};
  world.r = world.w = world.v = world.wd = {o, o, o};
  world.a = scaled(T(-1), triple(robot.gravity));
  const bool floating = n > 1 && robot.steps[1].kind == Kind::free && robot.steps[1].parent == 0 &&
                        robot.steps[1].v_end == robot.nv;
  if (floating) world.a = transpose_product(work.tree.R[1], world.a);
  for (size_t i = 1; i < n; ++i) {
    const CanonicalStep<T>& step = robot.steps[i];
    const Seen<T>& parent = seen[step.parent];
    Seen<T>& b = seen[i];
    if (floating && i == 1) {
      b.x = world.x;
      b.y = world.y;
      b.z = world.z;
      b.r = world.r;
    } else {
      see(step, i, work.tree, parent, b);
    }
    move(step, work.place[i], parent, v + step.v, a + step.v, work, b);
    weigh<kExternal>(step, i, work.tree, b);
    // Each limb is closed before the next begins, while its way is the one in the arrays.
    const int next = i + 1 < n ? robot.steps[i + 1].parent : 0;
    for (int j = static_cast<int>(i); j != next; j = robot.steps[static_cast<size_t>(j)].parent) {
      const CanonicalStep<T>& done = robot.steps[static_cast<size_t>(j)];
      close(done, work.place[static_cast<size_t>(j)], seen[j], work, work.tau.data(), out);
      if (done.parent != 0) hand_on<T>(seen[j], seen[done.parent]);
    }
  }
}

template <typename T>
void add_drive_derivatives(const Canonical<T>& robot, const JointEffects& effects,
                           const DerivativeOut<T>& out) {
  const Eigen::Index next = out.row + out.column;
  if (effects.armature && robot.has_armature) {
    for (int i = 0; i < robot.nv; ++i) out.da[i * next] += robot.armature[i];
  }
  if (effects.damping && robot.has_damping) {
    for (int i = 0; i < robot.nv; ++i) out.dv[i * next] += robot.damping[i];
  }
}

/// The whole, in the robot's own coordinates; q is placed here.
template <bool kExternal, typename T>
void inverse_dynamics_derivatives(const Model<T>& model, DerivativeWorkspace<T>& work,
                                  VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a,
                                  const JointEffects& effects, MatrixOut<T>& dtau_dq,
                                  MatrixOut<T>& dtau_dv, MatrixOut<T>& dtau_da) {
  const Canonical<T>& robot = model.canonical();
  Workspace<T>& tree = work.tree;
  place(robot, joint_position(model, q, tree), tree);
  const T* joint_v = joint_velocity(model, v, tree.v);
  const T* joint_a = joint_velocity(model, a, tree.a);
  const auto run = [&](auto& dq, auto& dv, auto& da) {
    for (int c = 0; c < robot.nv; ++c) {
      clear(dq.data() + c * dq.outerStride(), robot.nv);
      clear(dv.data() + c * dv.outerStride(), robot.nv);
      clear(da.data() + c * da.outerStride(), robot.nv);
    }
    const DerivativeOut<T> out = {dq.data(), dv.data(), da.data(), 1, dq.outerStride()};
    rnea_derivatives<kExternal>(robot, work, joint_v, joint_a, out);
    add_drive_derivatives(robot, effects, out);
  };
  if (!model.coupling().is_identity()) {
    run(work.dq, work.dv, work.da);
    reduce_mass_matrix(model.coupling(), work.dq, dtau_dq);
    reduce_mass_matrix(model.coupling(), work.dv, dtau_dv);
    reduce_mass_matrix(model.coupling(), work.da, dtau_da);
  } else if (dtau_dq.outerStride() == dtau_dv.outerStride() &&
             dtau_dq.outerStride() == dtau_da.outerStride()) {
    run(dtau_dq, dtau_dv, dtau_da);
  } else {
    run(work.own_q, work.own_v, work.own_a);
    dtau_dq = work.own_q;
    dtau_dv = work.own_v;
    dtau_da = work.own_a;
  }
}

template <typename T>
void check_derivatives(const char* call, const Model<T>& model, const DerivativeWorkspace<T>& work,
                       const char* const (&names)[3], const MatrixOut<T>& first,
                       const MatrixOut<T>& second, const MatrixOut<T>& third) {
  work.tree.check(call, model);
  const int n = model.velocity_size();
  check_shape(call, names[0], first.rows(), first.cols(), n, n);
  check_shape(call, names[1], second.rows(), second.cols(), n, n);
  check_shape(call, names[2], third.rows(), third.cols(), n, n);
}

}  // namespace kernel

template <typename T>
void rnea_derivatives(const Model<T>& model, DerivativeWorkspace<T>& work, VectorIn<T>& q,
                      VectorIn<T>& v, VectorIn<T>& a, MatrixOut<T> dtau_dq, MatrixOut<T> dtau_dv,
                      MatrixOut<T> dtau_da, const JointEffects& effects) {
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
void rnea_derivatives(const Model<T>& model, DerivativeWorkspace<T>& work, VectorIn<T>& q,
                      VectorIn<T>& v, VectorIn<T>& a, WrenchesIn<T> external, MatrixOut<T> dtau_dq,
                      MatrixOut<T> dtau_dv, MatrixOut<T> dtau_da, const JointEffects& effects) {
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
