#pragma once

#include <cstdint>

#include "limb/dynamics/crba_impl.hpp"
#include "limb/dynamics/derivative_workspace.hpp"
#include "limb/dynamics/mass_factor_impl.hpp"

// Steps of the canonical model seen from the root, for the derivatives: where they stand, how they
// move, what they weigh.
//
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
  using Kind = typename CanonicalStep<T>::Kind;
  floating = robot.steps.size() > 1 && robot.steps[1].kind == Kind::free &&
             robot.steps[1].parent == 0 && robot.steps[1].v_end == robot.nv;
  int deepest = 0;
  for (std::size_t i = 1; i < robot.steps.size(); ++i) {
    const std::size_t p = static_cast<std::size_t>(robot.steps[i].parent);
    place[i] = p == 0 || (floating && p == 1) ? 0 : place[p] + kernel::freedoms(robot.steps[p]);
    deepest = std::max(deepest, place[i] + kernel::freedoms(robot.steps[i]));
  }
  const std::size_t fours = static_cast<std::size_t>((deepest + 3) / 4 * 4);
  way_v.assign(fours, 0);
  way.assign(fours / 4 * kBlock, T(0));
  const int n = model.velocity_size();
  a = VectorX<T>::Constant(n, T(0));
  own_q = own_v = own_a = MatrixX<T>::Constant(n, n, T(0));
  if (!model.coupling().is_identity()) {
    dq = dv = da = MatrixX<T>::Constant(model.nv(), model.nv(), T(0));
  }
  row_stride = (3 * n + 7) / 8 * 8;
  rows.assign(static_cast<std::size_t>(row_stride * n) + 64 / sizeof(T), T(0));
  // A velocity has to do with those before and after it on the ways; a unit only with those before.
  const auto& F = factor.packed();
  const int count = (row_stride + kAtOnce - 1) / kAtOnce;
  for (int first = 0, k = count; k > 0; --k) {
    Group group{first, (row_stride - first + 8 * k - 1) / (8 * k) * 8, {}};
    for (int r = 0; r < n; ++r) {
      bool related = false;
      for (int c = first; c < std::min(first + group.columns, 3 * n); ++c) {
        const int column = c % n;
        related = related || (r <= column && column < F.end[F.at(r)]) ||
                  (c < 2 * n && column <= r && r < F.end[F.at(column)]);
      }
      if (related) group.concerns.push_back({r, 0});
    }
    for (std::size_t i = 0; i < group.concerns.size(); ++i) {
      std::size_t end = i + 1;
      const int last = F.end[F.at(group.concerns[i].row)];
      while (end < group.concerns.size() && group.concerns[end].row < last) ++end;
      group.concerns[i].end = static_cast<int>(end);
    }
    first += group.columns;
    groups.push_back(std::move(group));
  }
}

template <typename T>
T* DerivativeWorkspace<T>::first_row() {
  T* row = rows.data();
  while (reinterpret_cast<std::uintptr_t>(row) % 64 != 0 && row < rows.data() + 64 / sizeof(T)) {
    ++row;
  }
  return row;
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

/// The components of one place on the way: four numbers apart.
template <typename T>
LIMB_INLINE T* column_at(DerivativeWorkspace<T>& work, int place) {
  return work.way.data() + place / 4 * DerivativeWorkspace<T>::kBlock + place % 4;
}
template <typename T>
LIMB_INLINE void put(T* column, int component, const Triple<T>& value) {
  column[4 * component] = value.x;
  column[4 * component + 4] = value.y;
  column[4 * component + 8] = value.z;
}
template <typename T>
LIMB_INLINE Triple<T> get(const T* column, int component) {
  return {column[4 * component], column[4 * component + 4], column[4 * component + 8]};
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
    T* const column = column_at(work, place + k);
    put(column, Work::kAngular, z);
    put(column, Work::kLinear, l);
    put(column, Work::kRate, rate_w);
    put(column, Work::kBend, bend_w);
    put(column, Work::kBend + 3, bend_v);
    // A single axis does not move in its own rotation: V_i x S = V_p x S.
    put(column, Work::kSum, count == 1 ? twice(rate_w) : rate_w);
    put(column, Work::kSum + 3, count == 1 ? twice(rate_v) : rate_v);
    work.way_v[static_cast<size_t>(place + k)] = step.v + k;
  }
  if (count == 1) return;
  for (int at = place; at < place + count; ++at) {
    T* const column = column_at(work, at);
    const Triple<T> z = get(column, Work::kAngular), l = get(column, Work::kLinear);
    put(column, Work::kSum, add_cross(get(column, Work::kSum), b.w, z));
    put(column, Work::kSum + 3, add_cross(add_cross(get(column, Work::kSum + 3), b.w, l), b.v, z));
  }
}

/// The step's own masses: inertia, products with their velocities, force.
template <bool kExternal, typename T>
LIMB_INLINE void weigh(const CanonicalStep<T>& step, size_t i, const Workspace<T>& tree,
                       Seen<T>& b) {
  const Matrix3<T>& S = step.second_moments;
  const T o = T(0);
  const Triple<T> h_step = triple(step.first_moment);
  typename Workspace<T>::Composite turned = {step.mass, {o, o, o}, o, o, o, o, o, o};
  Triple<T> sx, sy, sz;
  if (step.regrouped) {  // no mass, no first moment along z, no second one
    turned.h = {b.x.x * h_step.x + b.y.x * h_step.y, b.x.y * h_step.x + b.y.y * h_step.y,
                b.x.z * h_step.x + b.y.z * h_step.y};
    sz = {b.x.x * S(2, 0) + b.y.x * S(2, 1), b.x.y * S(2, 0) + b.y.y * S(2, 1),
          b.x.z * S(2, 0) + b.y.z * S(2, 1)};
  } else {
    turned.h = along<T>(b, h_step);
    sz = along<T>(b, {S(2, 0), S(2, 1), S(2, 2)});
  }
  sx = along<T>(b, {S(0, 0), S(1, 0), S(2, 0)});
  sy = along<T>(b, {S(1, 0), S(1, 1), S(2, 1)});
  turned.xx = sx.x * b.x.x + sy.x * b.y.x + sz.x * b.z.x;
  turned.xy = sx.x * b.x.y + sy.x * b.y.y + sz.x * b.z.y;
  turned.xz = sx.x * b.x.z + sy.x * b.y.z + sz.x * b.z.z;
  turned.yy = sx.y * b.x.y + sy.y * b.y.y + sz.y * b.z.y;
  turned.yz = sx.y * b.x.z + sy.y * b.y.z + sz.y * b.z.z;
  turned.zz = sx.z * b.x.z + sy.z * b.y.z + sz.z * b.z.z;
  // About the origin of the root: S + r e^T + h r^T with e = h + m r.
  const Triple<T>&h_turned = turned.h, &r = b.r;
  const Triple<T> e = step.regrouped ? h_turned : h_turned + scaled(step.mass, r);
  b.I = {step.mass,
         e,
         turned.xx + r.x * (e.x + h_turned.x),
         turned.xy + r.x * e.y + r.y * h_turned.x,
         turned.xz + r.x * e.z + r.z * h_turned.x,
         turned.yy + r.y * (e.y + h_turned.y),
         turned.yz + r.y * e.z + r.z * h_turned.y,
         turned.zz + r.z * (e.z + h_turned.z)};

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

}  // namespace kernel
}  // namespace limb
