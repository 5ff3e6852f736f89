#pragma once

#include "limb/dynamics/bunches_impl.hpp"
#include "limb/dynamics/weight_impl.hpp"

// Steps of the canonical model seen from the root, for the derivatives: where they stand, how they
// move, what they weigh; four velocities at a time.
//
// Symbols (docs/derivations/derivatives.md), of a velocity with axis S on step i, whose parent p
// has velocity V and acceleration A; all seen from the root, angular and linear parts of Pluecker
// vectors:
//   z, l     S                            rate   V_p x S: what S gains when its parent moves
//   bend     A_p x S + V_p x rate         sum    rate + V_i x S
//   I, B, F  inertia, its product with velocities, and force of a step with all it carries

namespace limb::kernel {

/// Where the step stands, from where its parent does.
template <typename T>
LIMB_INLINE void stand(const CanonicalStep<T>& step, size_t i, const Workspace<T>& tree,
                       const typename DerivativeWorkspace<T>::Stand& parent,
                       typename DerivativeWorkspace<T>::Stand& b) {
  const auto there = [&](const T& x, const T& y, const T& z) __attribute__((always_inline)) {
    return x * parent.x + y * parent.y + z * parent.z;
  };
  if (step.kind != CanonicalStep<T>::Kind::revolute) {
    const Matrix3<T>& R = tree.R[i];
    const Triple<T>& p = tree.p[i];
    b.x = there(R(0, 0), R(1, 0), R(2, 0));
    b.y = there(R(0, 1), R(1, 1), R(2, 1));
    b.z = there(R(0, 2), R(1, 2), R(2, 2));
    b.r = parent.r + there(p.x, p.y, p.z);
    return;
  }
  b.r = parent.r + there(step.p[0], step.p[1], step.p[2]);
  Four<T> x = parent.x, y = parent.y, z = parent.z;
  if (step.has_gamma) turn_back(x, y, step.cos_gamma, step.sin_gamma);
  with_alpha(
      step, [&](const auto& alpha) __attribute__((always_inline)) { alpha.back(y, z); });
  turn_back(x, y, tree.cosine[i], tree.sine[i]);
  b.x = x;
  b.y = y;
  b.z = z;
}

template <typename T>
void stand_all(const Canonical<T>& robot, DerivativeWorkspace<T>& work) {
  const T o = T(0), one = T(1);
  const size_t root = work.floating ? 1 : 0, n = robot.steps.size();
  auto* const stands = work.stands.data();
  stands[root] = {four(one, o, o, o), four(o, one, o, o), four(o, o, one, o), all(o)};
  for (size_t i = root + 1; i < n; ++i) {
    const CanonicalStep<T>& step = robot.steps[i];
    stand(step, i, work.tree, stands[step.parent], stands[i]);
  }
}

/// Numbers of the lanes, each also for the lanes behind it alone.
template <typename T>
struct Behind {
  Four<T> own, by[3];
};
template <typename T>
LIMB_INLINE Behind<T> behind(const T* x, int count) {
  const T o = T(0);
  const T a = x[0], b = count > 1 ? x[1] : o, c = count > 2 ? x[2] : o, d = count > 3 ? x[3] : o;
  return {four(a, b, c, d), {four(o, a, a, a), four(o, o, b, b), four(o, o, o, c)}};
}
/// start + the sum of x k over the lanes before each.
template <typename T>
LIMB_INLINE Four<T> sum_before(const Four<T>& start, const T (&x)[4], const Behind<T>& k) {
  return start + x[0] * k.by[0] + x[1] * k.by[1] + x[2] * k.by[2];
}
template <typename T>
LIMB_INLINE Triple<Four<T>> sum_before(const Triple<Four<T>>& start, const T (*x)[4],
                                       const Behind<T>& k) {
  return {sum_before(start.x, x[0], k), sum_before(start.y, x[1], k), sum_before(start.z, x[2], k)};
}
/// What the lanes of a bunch begin with: the last lane of the one before.
template <typename T>
LIMB_INLINE Triple<Four<T>> end_of(const T (*x)[4]) {
  return {all(x[0][3]), all(x[1][3]), all(x[2][3])};
}

/// Of joints of several freedoms: what lanes have before them becomes what their joint has.
template <typename T>
void before_joint(const typename DerivativeWorkspace<T>::Bunch& bunch,
                  const Triple<Four<T>>& earlier, Triple<Four<T>>& x) {
  const auto pick = [&](const Four<T>& old, Four<T>& y) {
    T lanes[4], picked[4];
    store_four(y, lanes);
    for (int k = 0; k < 4; ++k) {
      picked[k] = bunch.first[k] < 0 ? old.lane[3] : lanes[bunch.first[k]];
    }
    y = load_four(picked);
  };
  pick(earlier.x, x.x);
  pick(earlier.y, x.y);
  pick(earlier.z, x.z);
}

/// Axes of the velocities of a bunch, from where its steps stand.
template <typename T>
LIMB_INLINE void face(const typename DerivativeWorkspace<T>::Bunch& bunch,
                      const typename DerivativeWorkspace<T>::Stand* stands, Axes<Four<T>>& axes,
                      Triple<Four<T>>& r) {
  const auto &a = stands[bunch.step[0]], &b = stands[bunch.step[1]], &c = stands[bunch.step[2]],
             &d = stands[bunch.step[3]];
  const auto turned = [](const Four<T>& p, const Four<T>& q, const Four<T>& s, const Four<T>& t)
      __attribute__((always_inline)) {
    Four<T> x = p, y = q, z = s, rest = t;
    transpose(x, y, z, rest);
    return Triple<Four<T>>{x, y, z};
  };
  axes.x = turned(a.x, b.x, c.x, d.x);
  axes.y = turned(a.y, b.y, c.y, d.y);
  axes.z = turned(a.z, b.z, c.z, d.z);
  r = turned(a.r, b.r, c.r, d.r);
}

/// Motion of a bunch from that of the one before. Without kAccelerated a counts as zero.
template <bool kAccelerated, typename T>
LIMB_INLINE void move(const typename DerivativeWorkspace<T>::Bunch& bunch,
                      const Axes<Four<T>>& axes, const Triple<Four<T>>& r,
                      const typename DerivativeWorkspace<T>::Seen& parent, const T* v, const T* a,
                      typename DerivativeWorkspace<T>::Seen& b) {
  using Work = DerivativeWorkspace<T>;
  using X = Triple<Four<T>>;
  X z = axes.z, l;
  if (bunch.turning) {
    l = cross(r, z);
  } else {
    z = along(axes, get(bunch.angular));
    l = add_cross(along(axes, get(bunch.linear)), r, z);
  }
  put(z, b.x + Work::kAngular);
  put(l, b.x + Work::kLinear);
  const Behind<T> qd = behind(v + bunch.v, bunch.count);
  X w_p = sum_before(end_of(parent.x + Work::kMotion), b.x + Work::kAngular, qd);
  X v_p = sum_before(end_of(parent.x + Work::kMotion + 3), b.x + Work::kLinear, qd);
  put(w_p + scaled(qd.own, z), b.x + Work::kMotion);
  put(v_p + scaled(qd.own, l), b.x + Work::kMotion + 3);
  if (bunch.several) {
    before_joint<T>(bunch, parent.w_p, w_p);
    before_joint<T>(bunch, parent.v_p, v_p);
    b.w_p = w_p;
    b.v_p = v_p;
  }
  const X rate_w = cross(w_p, z), rate_v = add_cross(cross(w_p, l), v_p, z);
  put(rate_w, b.x + Work::kRate);
  put(rate_v, b.x + Work::kRate + 3);
  // A single axis does not move in its own rotation: V_i x S = V_p x S. For others see settle().
  put(twice(rate_w), b.x + Work::kSum);
  put(twice(rate_v), b.x + Work::kSum + 3);
  X wd_p = sum_before(end_of(parent.x + Work::kAcceleration), b.x + Work::kRate, qd);
  X a_p = sum_before(end_of(parent.x + Work::kAcceleration + 3), b.x + Work::kRate + 3, qd);
  X wd = wd_p + scaled(qd.own, rate_w), a_i = a_p + scaled(qd.own, rate_v);
  if constexpr (kAccelerated) {
    const Behind<T> qdd = behind(a + bunch.v, bunch.count);
    wd_p = sum_before(wd_p, b.x + Work::kAngular, qdd);
    a_p = sum_before(a_p, b.x + Work::kLinear, qdd);
    wd = wd_p + scaled(qd.own, rate_w) + scaled(qdd.own, z);
    a_i = a_p + scaled(qd.own, rate_v) + scaled(qdd.own, l);
  }
  put(wd, b.x + Work::kAcceleration);
  put(a_i, b.x + Work::kAcceleration + 3);
  if (bunch.several) {
    before_joint<T>(bunch, parent.wd_p, wd_p);
    before_joint<T>(bunch, parent.a_p, a_p);
    b.wd_p = wd_p;
    b.a_p = a_p;
  }
  put(add_cross(cross(wd_p, z), w_p, rate_w), b.x + Work::kBend);
  put(add_cross(add_cross(add_cross(cross(wd_p, l), a_p, z), w_p, rate_v), v_p, rate_w),
      b.x + Work::kBend + 3);
}

/// `sum` of joints of several freedoms, which turns with all of them.
template <typename T>
void settle(const typename DerivativeWorkspace<T>::Bunch& bunch,
            const typename DerivativeWorkspace<T>::Seen& next,
            typename DerivativeWorkspace<T>::Seen& b) {
  using Work = DerivativeWorkspace<T>;
  T after[6][4];
  for (int c = 0; c < 6; ++c) {
    for (int k = 0; k < 4; ++k) {
      const int last = bunch.last[k];
      after[c][k] = last < 4 ? b.x[Work::kMotion + c][last] : next.x[Work::kMotion + c][last - 4];
    }
  }
  const auto w = get(after), v = get(after + 3);
  const auto z = get(b.x + Work::kAngular), l = get(b.x + Work::kLinear);
  put(add_cross(get(b.x + Work::kRate), w, z), b.x + Work::kSum);
  put(add_cross(add_cross(get(b.x + Work::kRate + 3), w, l), v, z), b.x + Work::kSum + 3);
}

/// What wrenches from outside take off the forces of a bunch, each in the last lane of its joint.
template <typename T>
void push(const typename DerivativeWorkspace<T>::Bunch& bunch, const Axes<Four<T>>& axes,
          const Triple<Four<T>>& r, const Workspace<T>& tree, Weight<Four<T>>& b) {
  T f[3][4], n[3][4];
  for (int k = 0; k < 4; ++k) {
    const bool here = k < bunch.count && bunch.last[k] == k;
    const Triple<T>& F = tree.f_external[static_cast<size_t>(here ? bunch.step[k] : 0)];
    const Triple<T>& N = tree.n_external[static_cast<size_t>(here ? bunch.step[k] : 0)];
    f[0][k] = here ? F.x : T(0);
    f[1][k] = here ? F.y : T(0);
    f[2][k] = here ? F.z : T(0);
    n[0][k] = here ? N.x : T(0);
    n[1][k] = here ? N.y : T(0);
    n[2][k] = here ? N.z : T(0);
  }
  const auto turned = along(axes, get(f));
  b.f = b.f - turned;
  b.n = b.n - add_cross(along(axes, get(n)), r, turned);
}

template <typename T, int kCount>
LIMB_INLINE void clear_sums(T (&x)[kCount]) {
  static_assert(kCount % 4 == 0);
  for (int c = 0; c < kCount; c += 4) store_four(all(T(0)), x + c);
}

/// All of a bunch that is known on the way out.
template <bool kExternal, bool kAccelerated, typename T>
LIMB_INLINE void reach(DerivativeWorkspace<T>& work,
                       const typename DerivativeWorkspace<T>::Bunch& bunch,
                       typename DerivativeWorkspace<T>::Seen& parent, const T* v, const T* a,
                       typename DerivativeWorkspace<T>::Seen& b) {
  using Work = DerivativeWorkspace<T>;
  Axes<Four<T>> axes;
  Triple<Four<T>> r;
  face<T>(bunch, work.stands.data(), axes, r);
  move<kAccelerated, T>(bunch, axes, r, parent, v, a, b);
  const Four<T> S[6] = {load_four(bunch.S[0]), load_four(bunch.S[1]), load_four(bunch.S[2]),
                        load_four(bunch.S[3]), load_four(bunch.S[4]), load_four(bunch.S[5])};
  const auto weighed = [&](auto light) __attribute__((always_inline)) {
    return weigh<decltype(light)::value>(axes, r, load_four(bunch.m), get(bunch.h), S,
                                         get(b.x + Work::kMotion), get(b.x + Work::kMotion + 3),
                                         get(b.x + Work::kAcceleration),
                                         get(b.x + Work::kAcceleration + 3));
  };
  Weight<Four<T>> weight = bunch.light ? weighed(std::true_type()) : weighed(std::false_type());
  if constexpr (kExternal) push<T>(bunch, axes, r, work.tree, weight);
  put(weight, b.x + Work::kInertia);
  if (bunch.children > 1) clear_sums(b.carried);
  if (bunch.several) {
    if (bunch.first[0] < 0) {
      settle<T>(work.bunches[static_cast<size_t>(bunch.parent)], b, parent);
    }
    if (bunch.last[bunch.count - 1] < 4) settle<T>(bunch, b, b);
  }
}

/// The base of a floating robot, and gravity seen from the root.
template <typename T>
struct Base {
  Triple<T> gravity, w, v;
  Weight<T> weight;  ///< with all that it carries, once known
};

/// The root: the world, accelerated against gravity, or the base of a floating robot. a may be null
/// and counts as zero then.
template <bool kExternal, bool kFloating, typename T>
LIMB_INLINE void begin_at_root(const Canonical<T>& robot, DerivativeWorkspace<T>& work, const T* v,
                               const T* a, Base<T>& base) {
  using Work = DerivativeWorkspace<T>;
  const T o = T(0), one = T(1);
  const Triple<T> zero = {o, o, o};
  typename Work::Seen& root = work.seen[0];
  Triple<T> wd = zero, acceleration = scaled(T(-1), triple(robot.gravity));
  base.w = base.v = zero;
  if constexpr (kFloating) acceleration = transpose_product(work.tree.R[1], acceleration);
  base.gravity = acceleration;
  if constexpr (kFloating) {
    base.w = {v[3], v[4], v[5]};
    base.v = {v[0], v[1], v[2]};
    if (a != nullptr) {
      wd = {a[3], a[4], a[5]};
      acceleration = acceleration + Triple<T>{a[0], a[1], a[2]};
    }
    const CanonicalStep<T>& step = robot.steps[1];
    const Matrix3<T>& S = step.second_moments;
    const T moments[6] = {S(0, 0), S(1, 0), S(2, 0), S(1, 1), S(2, 1), S(2, 2)};
    const Axes<T> axes = {{one, o, o}, {o, one, o}, {o, o, one}};
    base.weight = weigh<false>(axes, zero, step.mass, triple(step.first_moment), moments, base.w,
                               base.v, wd, acceleration);
    if constexpr (kExternal) {
      base.weight.f = base.weight.f - work.tree.f_external[1];
      base.weight.n = base.weight.n - work.tree.n_external[1];
    }
    clear_sums(root.carried);
  }
  const T rest[12] = {base.w.x, base.w.y, base.w.z, base.v.x,       base.v.y,       base.v.z,
                      wd.x,     wd.y,     wd.z,     acceleration.x, acceleration.y, acceleration.z};
  for (int k = 0; k < 12; ++k) root.x[Work::kMotion + k][3] = rest[k];
}

}  // namespace limb::kernel
