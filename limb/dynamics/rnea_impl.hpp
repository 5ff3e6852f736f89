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

/// Motion of a step from that of its parent.
template <typename T>
LIMB_INLINE void outward(const CanonicalStep<T>& step, const typename Workspace<T>::Step& parent,
                         size_t i, Workspace<T>& work, const T* v, const T* a) {
  typename Workspace<T>::Step& b = work.steps[i];
  const Matrix3<T>& R = work.R[i];
  const T o = T(0);
  if (step.kind == CanonicalStep<T>::Kind::revolute) {
    const T &rate = v[step.v], &acceleration = a[step.v];
    if (step.parent == 0) {
      b.w = {o, o, rate};
      b.wd = {o, o, acceleration};
      b.a = transpose_product(R, parent.a);
    } else {
      const Triple<T> at = product(parent.U, triple(step.p)) + parent.a;
      b.w = add_transpose_product({o, o, rate}, R, parent.w);
      b.wd = add_transpose_product({b.w.y * rate, -b.w.x * rate, acceleration}, R, parent.wd);
      b.a = transpose_product(R, at);
    }
  } else {
    const Pair<T> V = motion_of(step, v + step.v), A = motion_of(step, a + step.v);
    const Triple<T> at = product(parent.U, work.p[i]) + parent.a;
    const Triple<T> w = transpose_product(R, parent.w);
    b.w = w + V.angular;
    b.wd = add_transpose_product(add_cross(A.angular, w, V.angular), R, parent.wd);
    b.a = add_transpose_product(add_cross(A.linear, w + b.w, V.linear), R, at);
  }
  b.U = turning(b.w, b.wd);
}

/// Hands a force on a step over to its parent.
template <typename T>
LIMB_INLINE void inward(size_t i, const Triple<T>& f, const Triple<T>& n,
                        typename Workspace<T>::Step& parent, const Workspace<T>& work) {
  const Matrix3<T>& R = work.R[i];
  const Triple<T> turned = product(R, f);
  parent.f = parent.f + turned;
  parent.n = add_product(add_cross(parent.n, work.p[i], turned), R, n);
}

/// Calls visit(j) for step i and those of its ancestors whose subtree ends with it, tips first.
template <typename T, typename Visit>
LIMB_INLINE void close(const Canonical<T>& robot, size_t i, const Visit& visit) {
  const size_t stop =
      i + 1 < robot.steps.size() ? static_cast<size_t>(robot.steps[i + 1].parent) : 0;
  for (size_t j = i; j != stop; j = static_cast<size_t>(robot.steps[j].parent)) visit(j);
}

/// The world as step 0: at rest, and accelerated against gravity.
template <typename T>
void begin(const Canonical<T>& robot, Workspace<T>& work) {
  const T o = T(0);
  const Triple<T> g = triple(robot.gravity);
  work.steps[0] = {{o, o, o}, {o, o, o}, {-g.x, -g.y, -g.z}, {o, o, o, o, o, o, o, o, o},
                   {o, o, o}, {o, o, o}};
}

/// Newton-Euler on the canonical model, after place(). Each limb is closed before the next begins.
template <bool kExternal, typename T>
void rnea(const Canonical<T>& robot, Workspace<T>& work, const T* v, const T* a, T* tau) {
  begin(robot, work);
  for (size_t i = 1; i < robot.steps.size(); ++i) {
    const CanonicalStep<T>& step = robot.steps[i];
    typename Workspace<T>::Step& b = work.steps[i];
    outward(step, work.steps[static_cast<size_t>(step.parent)], i, work, v, a);
    inertial_force(step, b);
    if constexpr (kExternal) {
      b.f = b.f - work.f_external[i];
      b.n = b.n - work.n_external[i];
    }
    close(robot, i, [&](size_t j) {
      const CanonicalStep<T>& s = robot.steps[j];
      project(s, work.steps[j].f, work.steps[j].n, tau + s.v);
      if (s.parent > 0) {
        inward(j, work.steps[j].f, work.steps[j].n, work.steps[static_cast<size_t>(s.parent)],
               work);
      }
    });
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
  check_position("bias", "q", model, q);
  check_velocity("bias", "v", model, v);
  check_velocity<T>("bias", "tau", model, tau);
  kernel::inverse_dynamics<false>(model, work, kernel::joint_position(model, q, work),
                                  kernel::joint_velocity(model, v, work.v), work.zero.data(),
                                  effects, tau);
}

template <typename T>
void gravity(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, VectorOut<T> tau) {
  check_position("gravity", "q", model, q);
  check_velocity<T>("gravity", "tau", model, tau);
  kernel::inverse_dynamics<false>(model, work, kernel::joint_position(model, q, work),
                                  work.zero.data(), work.zero.data(), JointEffects::none(), tau);
}

}  // namespace limb
