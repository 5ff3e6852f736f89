#pragma once

#include "limb/dynamics/drives.hpp"
#include "limb/dynamics/place_impl.hpp"
#include "limb/dynamics/rnea.hpp"
#include "limb/dynamics/workspace_impl.hpp"

namespace limb {
namespace kernel {

/// Force and moment that the step's own mass needs: f = m a + U h, n = h x a + [S U^T]_skew.
template <typename T>
LIMB_INLINE void inertial_force(const CanonicalStep<T>& step, typename Workspace<T>::Step& b) {
  const Turning<T>& U = b.U;
  const Triple<T>& a = b.a;
  const Triple<T> h = triple(step.first_moment);
  const Matrix3<T>& S = step.second_moments;
  const T &Sxx = S(0, 0), &Sxy = S(1, 0), &Sxz = S(2, 0), &Syy = S(1, 1), &Syz = S(2, 1);
  b.f = {U.xx * h.x + U.xy * h.y, U.yx * h.x + U.yy * h.y, U.zx * h.x + U.zy * h.y};
  b.n.x = U.zx * Sxy + U.zy * Syy + (U.zz - U.yy) * Syz - U.yx * Sxz + h.y * a.z;
  b.n.y = (U.xx - U.zz) * Sxz + U.xy * Syz - U.zx * Sxx - U.zy * Sxy - h.x * a.z;
  b.n.z = U.yx * Sxx - U.xy * Syy + (U.yy - U.xx) * Sxy + U.yz * Sxz - U.xz * Syz + h.x * a.y -
          h.y * a.x;
  if (step.regrouped) return;
  const T &m = step.mass, &Szz = S(2, 2);
  b.f = {b.f.x + U.xz * h.z + m * a.x, b.f.y + U.yz * h.z + m * a.y, b.f.z + U.zz * h.z + m * a.z};
  b.n.x = b.n.x - U.yz * Szz - h.z * a.y;
  b.n.y = b.n.y + U.xz * Szz + h.z * a.x;
}

/// U and wd.x, wd.y of a step that turns about z, from w, wd.z and U z.
template <typename T>
LIMB_INLINE void turning_about_z(const Triple<T>& Uz, typename Workspace<T>::Step& b) {
  const Triple<T>& w = b.w;
  const T xy = w.x * w.y, xz = w.x * w.z, yz = w.y * w.z;
  const T y2 = w.y * w.y, z2 = w.z * w.z;
  b.wd.x = yz - Uz.y;
  b.wd.y = Uz.x - xz;
  b.U = {-(y2 + z2), xy - b.wd.z, Uz.x,        xy + b.wd.z, (y2 + Uz.z) - z2,
         Uz.y,       xz - b.wd.y, yz + b.wd.x, Uz.z};
}

/// Motion of a revolute step from that of its parent.
template <typename T, typename Alpha>
LIMB_INLINE void outward_turning(const CanonicalStep<T>& step, const Alpha& alpha, const T& c,
                                 const T& s, const typename Workspace<T>::Step& parent,
                                 const T& rate, const T& acceleration,
                                 typename Workspace<T>::Step& b) {
  if (step.parent == 0) {
    b.w = {T(0), T(0), rate};
    b.wd = {T(0), T(0), acceleration};
    b.a = to_child(step, alpha, c, s, parent.a);
  } else {
    const Triple<T> w = to_child(step, alpha, c, s, parent.w);
    const Triple<T> at = product(parent.U, triple(step.p)) + parent.a;
    b.w = {w.x, w.y, w.z + rate};
    b.a = to_child(step, alpha, c, s, at);
    if (!Branching<T> && step.along >= 0) {
      // Points on the axis move with the parent, so U z is its own; numbers gain nothing by it.
      const int k = step.along;
      const T sign = step.R(k, 2);
      const Triple<T> x = column(parent.U, k);
      b.wd.z = sign * (k == 0 ? parent.wd.x : k == 1 ? parent.wd.y : parent.wd.z) + acceleration;
      turning_about_z(to_child(step, alpha, c, s, {sign * x.x, sign * x.y, sign * x.z}), b);
      return;
    }
    const Triple<T> wd = to_child(step, alpha, c, s, parent.wd);
    b.wd = {wd.x + w.y * rate, wd.y - w.x * rate, wd.z + acceleration};
  }
  b.U = turning(b.w, b.wd);
}

/// Motion of any step from that of its parent; R and p are its pose there.
template <typename T>
LIMB_INLINE void outward_general(const CanonicalStep<T>& step, const Matrix3<T>& R,
                                 const Triple<T>& p, const typename Workspace<T>::Step& parent,
                                 const T* v, const T* a, typename Workspace<T>::Step& b) {
  if (step.kind == CanonicalStep<T>::Kind::free && step.parent == 0) {  // most floating robots
    b.w = {v[3], v[4], v[5]};
    b.wd = {a[3], a[4], a[5]};
    const Triple<T> at = add_cross<T>({a[0], a[1], a[2]}, b.w, {v[0], v[1], v[2]});
    b.a = transpose_product(R, parent.a) + at;
    b.U = turning(b.w, b.wd);
    return;
  }
  const Pair<T> V = motion_of(step, v), A = motion_of(step, a);
  const Triple<T> w = transpose_product(R, parent.w);
  const Triple<T> wd = transpose_product(R, parent.wd);
  const Triple<T> at = transpose_product(R, product(parent.U, p) + parent.a);
  b.w = w + V.angular;
  b.wd = add_cross(wd + A.angular, w, V.angular);
  b.a = add_cross(at + A.linear, w + b.w, V.linear);
  b.U = turning(b.w, b.wd);
}

/// Adds a force, already in the parent's axes but about the origin p, to the parent's.
template <typename T>
LIMB_INLINE void add_force(const Triple<T>& f, const Triple<T>& n, const Triple<T>& p,
                           typename Workspace<T>::Step& parent) {
  parent.f = parent.f + f;
  parent.n = add_cross(parent.n + n, p, f);
}

/// The world as step 0: at rest, and accelerated against gravity.
template <typename T>
void begin(const Canonical<T>& robot, Workspace<T>& work) {
  const T o = T(0);
  const Triple<T> g = triple(robot.gravity);
  work.steps[0] = {{o, o, o}, {o, o, o}, {-g.x, -g.y, -g.z}, {o, o, o, o, o, o, o, o, o},
                   {o, o, o}, {o, o, o}};
}

/// Outward, one step: its motion, and the force that its own mass needs.
template <bool kExternal, typename T>
LIMB_INLINE void outward_step(const CanonicalStep<T>& step, size_t i, Workspace<T>& work,
                              const T* v, const T* a) {
  typename Workspace<T>::Step& b = work.steps.data()[i];
  const typename Workspace<T>::Step& parent = work.steps.data()[step.parent];
  if (step.kind == CanonicalStep<T>::Kind::revolute) {
    const T c = work.cosine.data()[i], s = work.sine.data()[i];
    with_alpha(
        step, [&](const auto& alpha) __attribute__((always_inline)) {
          outward_turning(step, alpha, c, s, parent, v[step.v], a[step.v], b);
        });
  } else {
    outward_general(step, work.R[i], work.p[i], parent, v + step.v, a + step.v, b);
  }
  inertial_force(step, b);
  if constexpr (kExternal) {
    b.f = b.f - work.f_external[i];
    b.n = b.n - work.n_external[i];
  }
}

/// Outward over all steps.
template <bool kExternal, typename T>
LIMB_INLINE void outward(const Canonical<T>& robot, Workspace<T>& work, const T* v, const T* a) {
  begin(robot, work);
  const CanonicalStep<T>* step = robot.steps.data();
  const size_t n = robot.steps.size();
  for (size_t i = 1; i < n; ++i) outward_step<kExternal>(*++step, i, work, v, a);
}

/// Inward, one step: what its joint feels, and the rest to the parent.
template <typename T>
LIMB_INLINE void inward_step(const CanonicalStep<T>& step, size_t j, Workspace<T>& work, T* tau) {
  const typename Workspace<T>::Step& b = work.steps.data()[j];
  typename Workspace<T>::Step& parent = work.steps.data()[step.parent];
  if (step.kind == CanonicalStep<T>::Kind::revolute) {
    tau[step.v] = b.n.z;
    if (step.parent == 0) return;
    const T c = work.cosine.data()[j], s = work.sine.data()[j];
    with_alpha(
        step, [&](const auto& alpha) __attribute__((always_inline)) {
          add_force(to_parent(step, alpha, c, s, b.f), to_parent(step, alpha, c, s, b.n),
                    triple(step.p), parent);
        });
    return;
  }
  project(step, b.f, b.n, tau + step.v);
  if (step.parent == 0) return;
  const Matrix3<T>& R = work.R[j];
  add_force(product(R, b.f), product(R, b.n), work.p[j], parent);
}

/// Newton-Euler on the canonical model, after place().
template <bool kExternal, typename T>
void rnea(const Canonical<T>& robot, Workspace<T>& work, const T* v, const T* a, T* tau) {
  if constexpr (Branching<T>) {
    outward<kExternal>(robot, work, v, a);
    const CanonicalStep<T>* step = robot.steps.data() + robot.steps.size();
    for (size_t j = robot.steps.size(); j-- > 1;) inward_step(*--step, j, work, tau);
  } else {
    begin(robot, work);
    walk_limbs(
        robot, 0, [&](size_t i) { outward_step<kExternal>(robot.steps[i], i, work, v, a); },
        [&](size_t j) { inward_step(robot.steps[j], j, work, tau); });
  }
}

/// The joints' coordinates: the robot's own where none follows another.
template <typename T>
const T* joint_position(const Model<T>& model, VectorIn<T>& q, Workspace<T>& work) {
  if (model.coupling().is_identity()) return q.data();
  model.coupling().expand_position(q.data(), work.q.data());
  return work.q.data();
}
template <typename T>
const T* joint_velocity(const Model<T>& model, VectorIn<T>& v, VectorX<T>& room) {
  if (model.coupling().is_identity()) return v.data();
  model.coupling().expand_velocity(v.data(), room.data());
  return room.data();
}

/// Wrenches on frames as forces on the steps.
template <typename T>
void set_external(const char* call, const Model<T>& model, Workspace<T>& work,
                  WrenchesIn<T> external) {
  const Canonical<T>& robot = model.canonical();
  for (Force<T>& F : work.F_B) F = {};
  add_external<T>(call, model, external, work.F_B);
  for (size_t i = 1; i < robot.steps.size(); ++i) {
    const CanonicalStep<T>& step = robot.steps[i];
    if (step.body == 0) continue;  // a massless step in between carries no frame
    const Force<T> F_C = step.X_BC.inv_act(work.F_B[static_cast<size_t>(step.body)]);
    work.f_external[i] = triple(F_C.f);
    work.n_external[i] = triple(F_C.n);
  }
}

template <bool kExternal, typename T>
void inverse_dynamics(const Model<T>& model, Workspace<T>& work, const T* q, const T* v, const T* a,
                      const JointEffects& effects, VectorOut<T>& tau) {
  const Canonical<T>& robot = model.canonical();
  const bool coupled = !model.coupling().is_identity();
  T* joint_tau = coupled ? work.tau.data() : tau.data();
  place(robot, q, work);
  rnea<kExternal>(robot, work, v, a, joint_tau);
  add_drive_torques(robot, effects, v, a, joint_tau);
  if (coupled) model.coupling().reduce_force(joint_tau, tau.data());
}

}  // namespace kernel

template <typename T>
void rnea(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a,
          VectorOut<T> tau, const JointEffects& effects) {
  work.check("rnea", model);
  check_position("rnea", "q", model, q);
  check_velocity("rnea", "v", model, v);
  check_velocity("rnea", "a", model, a);
  check_velocity<T>("rnea", "tau", model, tau);
  kernel::inverse_dynamics<false>(model, work, kernel::joint_position(model, q, work),
                                  kernel::joint_velocity(model, v, work.v),
                                  kernel::joint_velocity(model, a, work.a), effects, tau);
}

template <typename T>
void rnea(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a,
          WrenchesIn<T> external, VectorOut<T> tau, const JointEffects& effects) {
  work.check("rnea", model);
  check_position("rnea", "q", model, q);
  check_velocity("rnea", "v", model, v);
  check_velocity("rnea", "a", model, a);
  check_velocity<T>("rnea", "tau", model, tau);
  kernel::set_external<T>("rnea", model, work, external);
  kernel::inverse_dynamics<true>(model, work, kernel::joint_position(model, q, work),
                                 kernel::joint_velocity(model, v, work.v),
                                 kernel::joint_velocity(model, a, work.a), effects, tau);
}

template <typename T>
void bias(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, VectorIn<T>& v,
          VectorOut<T> tau, const JointEffects& effects) {
  work.check("bias", model);
  check_position("bias", "q", model, q);
  check_velocity("bias", "v", model, v);
  check_velocity<T>("bias", "tau", model, tau);
  kernel::inverse_dynamics<false>(model, work, kernel::joint_position(model, q, work),
                                  kernel::joint_velocity(model, v, work.v), work.zero.data(),
                                  effects, tau);
}

template <typename T>
void gravity(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, VectorOut<T> tau) {
  work.check("gravity", model);
  check_position("gravity", "q", model, q);
  check_velocity<T>("gravity", "tau", model, tau);
  kernel::inverse_dynamics<false>(model, work, kernel::joint_position(model, q, work),
                                  work.zero.data(), work.zero.data(), JointEffects::none(), tau);
}

}  // namespace limb
