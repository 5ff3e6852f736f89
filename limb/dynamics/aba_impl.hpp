#pragma once

#include <algorithm>
#include <limits>

#include "limb/dynamics/aba.hpp"
#include "limb/dynamics/articulated_impl.hpp"
#include "limb/dynamics/constrained_impl.hpp"
#include "limb/dynamics/crba_impl.hpp"
#include "limb/dynamics/dense_solve_impl.hpp"
#include "limb/dynamics/rnea_impl.hpp"

namespace limb {
namespace kernel {

/// Inward, a revolute step: its joint gives way, the rest reaches the parent. A rotor keeps part of
/// the inertia about the axis.
template <bool kRotor, typename T, typename Alpha>
LIMB_INLINE void release_turning(const CanonicalStep<T>& step, const Alpha& alpha, size_t j,
                                 Workspace<T>& work, const T& tau, const T& rotor) {
  const typename Workspace<T>::Step& b = work.steps[j];
  Articulated<T> I = work.articulated[j];
  typename Workspace<T>::Column& U = work.columns[static_cast<size_t>(step.v)];
  U.n = {I.A_xz, I.A_yz, I.A_zz};
  U.f = {I.B[6], I.B[7], I.B[8]};
  U.inverse = T(1) / (kRotor ? I.A_zz + rotor : I.A_zz);
  U.torque = tau - b.n.z;
  if (step.parent == 0) return;

  const T c = work.cosine[j], s = work.sine[j], x = U.torque * U.inverse;
  const Triple<T> p = triple(step.p);
  if constexpr (kRotor) {
    give_way<T>({U.f, U.n}, U.inverse, I);
  } else {
    give_way_turning(U.n, U.f, U.inverse, I);
  }
  turn_articulated<kRotor>(step, alpha, c, s, I);
  add_articulated(I, p, work.articulated[static_cast<size_t>(step.parent)]);
  add_force(
      to_parent<T>(step, alpha, c, s, {b.f.x + U.f.x * x, b.f.y + U.f.y * x, b.f.z + U.f.z * x}),
      to_parent<T>(step, alpha, c, s,
                   {b.n.x + U.n.x * x, b.n.y + U.n.y * x, kRotor ? b.n.z + U.n.z * x : tau}),
      p, work.steps[static_cast<size_t>(step.parent)]);
}

/// Inward, any step: one freedom after the other gives way, the last first.
template <typename T>
inline void release(const CanonicalStep<T>& step, size_t j, Workspace<T>& work, const T* tau,
                    const T* rotor) {
  const typename Workspace<T>::Step& b = work.steps[j];
  Articulated<T> I = work.articulated[j];
  Triple<T> f = b.f, n = b.n;
  for (int k = freedoms(step); k-- > 0;) {
    T unit[6] = {T(0), T(0), T(0), T(0), T(0), T(0)};
    unit[k] = T(1);
    const Pair<T> S = motion_of(step, unit);
    const Pair<T> F = force_of(I, S.linear, S.angular);
    T projected[6];
    project(step, F.linear, F.angular, projected);
    typename Workspace<T>::Column& U = work.columns[static_cast<size_t>(step.v + k)];
    U.f = F.linear;
    U.n = F.angular;
    U.inverse = T(1) / (projected[k] + rotor[k]);
    project(step, f, n, projected);
    U.torque = tau[k] - projected[k];
    const T x = U.torque * U.inverse;
    give_way(F, U.inverse, I);
    f = {f.x + U.f.x * x, f.y + U.f.y * x, f.z + U.f.z * x};
    n = {n.x + U.n.x * x, n.y + U.n.y * x, n.z + U.n.z * x};
  }
  if (step.parent == 0) return;
  turn_articulated(work.R[j], I);
  add_articulated(I, work.p[j], work.articulated[static_cast<size_t>(step.parent)]);
  add_force(product(work.R[j], f), product(work.R[j], n), work.p[j],
            work.steps[static_cast<size_t>(step.parent)]);
}

/// Inward, a free step without rotors: nothing but tau reaches the parent, and (wd; a) is the
/// solution of six equations.
template <typename T>
inline void release_free(const CanonicalStep<T>& step, size_t j, Workspace<T>& work, const T* tau) {
  const typename Workspace<T>::Step& b = work.steps[j];
  const Articulated<T>& I = work.articulated[j];
  const T* B = I.B;
  // Order (n; f); the lower triangle.
  T L[6][6] = {{I.A_xx},
               {I.A_xy, I.A_yy},
               {I.A_xz, I.A_yz, I.A_zz},
               {B[0], B[3], B[6], I.C_xx},
               {B[1], B[4], B[7], I.C_xy, I.C_yy},
               {B[2], B[5], B[8], I.C_xz, I.C_yz, I.C_zz}};
  T x[6] = {tau[3] - b.n.x, tau[4] - b.n.y, tau[5] - b.n.z,
            tau[0] - b.f.x, tau[1] - b.f.y, tau[2] - b.f.z};
  typename Workspace<T>::Column* U = &work.columns[static_cast<size_t>(step.v)];
#pragma GCC unroll 6
  for (int k = 0; k < 6; ++k) {
    const T inverse = T(1) / L[k][k];
    U[(k + 3) % 6].inverse = inverse;
#pragma GCC unroll 6
    for (int r = k + 1; r < 6; ++r) {
      const T l = L[r][k] * inverse;
#pragma GCC unroll 6
      for (int c = k + 1; c <= r; ++c) L[r][c] = L[r][c] - l * L[c][k];
      x[r] = x[r] - l * x[k];
    }
    L[k][k] = inverse;
  }
#pragma GCC unroll 6
  for (int k = 5; k >= 0; --k) {
#pragma GCC unroll 6
    for (int r = k + 1; r < 6; ++r) x[k] = x[k] - L[r][k] * x[r];
    x[k] = x[k] * L[k][k];
    U[(k + 3) % 6].torque = x[k];
  }
  if (step.parent == 0) return;
  const Matrix3<T>& R = work.R[j];
  add_force<T>(product<T>(R, {tau[0], tau[1], tau[2]}), product<T>(R, {tau[3], tau[4], tau[5]}),
               work.p[j], work.steps[static_cast<size_t>(step.parent)]);
}

/// Outward: accelerations beyond those of the bias, and with them the joint's own.
template <bool kRotor, typename T>
LIMB_INLINE void accelerate(const CanonicalStep<T>& step, size_t i, Workspace<T>& work, T* a) {
  typename Workspace<T>::Step& b = work.steps[i];
  const typename Workspace<T>::Step& parent = work.steps[static_cast<size_t>(step.parent)];
  const typename Workspace<T>::Column* U = &work.columns[static_cast<size_t>(step.v)];
  const T o = T(0);
  if (step.kind == CanonicalStep<T>::Kind::revolute) {
    if (step.parent == 0) {
      const T x = U->torque * U->inverse;
      a[step.v] = x;
      b.wd = {o, o, x};
      b.a = {o, o, o};
      return;
    }
    const T c = work.cosine[i], s = work.sine[i];
    Triple<T> wd;
    with_alpha(
        step, [&](const auto& alpha) __attribute__((always_inline)) {
          wd = to_child(step, alpha, c, s, parent.wd);
          b.a = to_child(step, alpha, c, s, add_cross(parent.a, parent.wd, triple(step.p)));
        });
    const T x = (U->torque - (U->n.x * wd.x + U->n.y * wd.y + U->n.z * wd.z) -
                 (U->f.x * b.a.x + U->f.y * b.a.y + U->f.z * b.a.z)) *
                U->inverse;
    a[step.v] = x;
    b.wd = {wd.x, wd.y, wd.z + x};
    return;
  }
  const Matrix3<T>& R = work.R[i];
  b.wd = transpose_product(R, parent.wd);
  b.a = transpose_product(R, add_cross(parent.a, parent.wd, work.p[i]));
  if (!kRotor && step.kind == CanonicalStep<T>::Kind::free) {
    const Triple<T> linear = {U[0].torque, U[1].torque, U[2].torque};
    const Triple<T> angular = {U[3].torque, U[4].torque, U[5].torque};
    a[step.v] = linear.x - b.a.x;
    a[step.v + 1] = linear.y - b.a.y;
    a[step.v + 2] = linear.z - b.a.z;
    a[step.v + 3] = angular.x - b.wd.x;
    a[step.v + 4] = angular.y - b.wd.y;
    a[step.v + 5] = angular.z - b.wd.z;
    b.a = linear;
    b.wd = angular;
    return;
  }
  for (int k = 0; k < freedoms(step); ++k, ++U) {
    const T x = (U->torque - (U->n.x * b.wd.x + U->n.y * b.wd.y + U->n.z * b.wd.z) -
                 (U->f.x * b.a.x + U->f.y * b.a.y + U->f.z * b.a.z)) *
                U->inverse;
    a[step.v + k] = x;
    T own[6] = {o, o, o, o, o, o};
    own[k] = x;
    const Pair<T> A = motion_of(step, own);
    b.wd = b.wd + A.angular;
    b.a = b.a + A.linear;
  }
}

/// Index of a velocity whose pivot is no larger than rounding errors, or -1.
template <typename T>
int singular_pivot(const Workspace<T>& work) {
  if constexpr (Branching<T>) {
    T least = T(std::numeric_limits<double>::infinity());  // 1 / the largest pivot
    for (const auto& U : work.columns) {
      if (T(0) < U.inverse && U.inverse < least) least = U.inverse;
    }
    const T limit = least / (T(16) * epsilon<T>());
    // From the tips: what has no pivot spoils all before it.
    for (size_t i = work.columns.size(); i-- > 0;) {
      const T& inverse = work.columns[i].inverse;
      if (!(T(0) < inverse && inverse < limit)) return static_cast<int>(i);
    }
  }
  return -1;
}

/// Articulated bodies on the canonical model, after place(). First the forces that v alone needs,
/// as in rnea; what remains is linear: a robot at rest, without gravity.
template <bool kExternal, bool kRotor, typename T>
int aba(const Canonical<T>& robot, Workspace<T>& work, const T* v, const T* tau, T* a) {
  const T* rotor = kRotor ? robot.armature.data() : work.zero.data();
  const size_t n = robot.steps.size();
  for (size_t i = 1; i < n; ++i) work.articulated[i] = work.own[i];
  const auto inward = [&](size_t j) __attribute__((always_inline)) {
    const CanonicalStep<T>& s = robot.steps[j];
    if (s.kind == CanonicalStep<T>::Kind::revolute) {
      with_alpha(
          s, [&](const auto& alpha) __attribute__((always_inline)) {
            release_turning<kRotor>(s, alpha, j, work, tau[s.v], rotor[s.v]);
          });
    } else if (!kRotor && s.kind == CanonicalStep<T>::Kind::free) {
      release_free(s, j, work, tau + s.v);
    } else {
      release(s, j, work, tau + s.v, rotor + s.v);
    }
  };
  if constexpr (Branching<T>) {
    outward<kExternal>(robot, work, v, work.zero.data());
    for (size_t j = n; j-- > 1;) inward(j);
  } else {
    begin(robot, work);
    walk_limbs(
        robot, 0,
        [&](size_t i) { outward_step<kExternal>(robot.steps[i], i, work, v, work.zero.data()); },
        inward);
  }
  const T o = T(0);
  work.steps[0].a = {o, o, o};
  for (size_t i = 1; i < robot.steps.size(); ++i) accelerate<kRotor>(robot.steps[i], i, work, a);
  return singular_pivot(work);
}

template <typename T>
void set_nan(VectorOut<T>& a) {
  for (Eigen::Index i = 0; i < a.size(); ++i) a[i] = T(std::numeric_limits<double>::quiet_NaN());
}

/// With couplings: M_y a = tau - h_y, solved directly.
template <bool kExternal, typename T>
int coupled_forward_dynamics(const Model<T>& model, Workspace<T>& work, VectorIn<T>& v,
                             VectorIn<T>& tau, const JointEffects& effects, VectorOut<T>& a) {
  const Canonical<T>& robot = model.canonical();
  const Coupling<T>& coupling = model.coupling();
  const T* joint_v = joint_velocity(model, v, work.v);
  rnea<kExternal>(robot, work, joint_v, work.zero.data(), work.tau.data());
  add_friction_torques(robot, effects, joint_v, T(1), work.tau.data());
  coupling.reduce_force(work.tau.data(), a.data());
  for (int i = 0; i < coupling.ny_v(); ++i) a[i] = tau[i] - a[i];
  crba(robot, work, work.M.data(), work.M.outerStride());
  if (effects.armature && robot.has_armature) work.M.diagonal() += robot.armature;
  MatrixOut<T> M_y = work.M_own;
  reduce_mass_matrix(coupling, work.M, M_y);
  return solve_in_place<T>(M_y, a);
}

template <bool kExternal, typename T>
int forward_dynamics(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, VectorIn<T>& v,
                     VectorIn<T>& tau, const JointEffects& effects, VectorOut<T>& a) {
  const Canonical<T>& robot = model.canonical();
  place(robot, joint_position(model, q, work), work);
  int singular = -1;
  if (!model.coupling().is_identity()) {
    singular = coupled_forward_dynamics<kExternal>(model, work, v, tau, effects, a);
  } else {
    const T* torque = tau.data();
    if ((effects.damping && robot.has_damping) || (effects.friction && robot.has_friction)) {
      for (int i = 0; i < robot.nv; ++i) work.tau[i] = tau[i];
      add_friction_torques(robot, effects, v.data(), T(-1), work.tau.data());
      torque = work.tau.data();
    }
    singular = effects.armature && robot.has_armature
                   ? aba<kExternal, true>(robot, work, v.data(), torque, a.data())
                   : aba<kExternal, false>(robot, work, v.data(), torque, a.data());
  }
  if (singular >= 0) set_nan<T>(a);
  return singular;
}

}  // namespace kernel

template <typename T>
int aba(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
        VectorOut<T> a, const JointEffects& effects) {
  work.check("aba", model);
  check_position("aba", "q", model, q);
  check_velocity("aba", "v", model, v);
  check_velocity("aba", "tau", model, tau);
  check_velocity<T>("aba", "a", model, a);
  if (work.loops) {
    ClosedLoops<T>& loops = *work.loops;
    return constrained_forward_dynamics<T>(model, loops.set, loops.work, q, v, tau, a, loops.force,
                                           {effects})
        .singular;
  }
  return kernel::forward_dynamics<false>(model, work, q, v, tau, effects, a);
}

template <typename T>
int aba(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
        WrenchesIn<T> external, VectorOut<T> a, const JointEffects& effects) {
  work.check("aba", model);
  check_position("aba", "q", model, q);
  check_velocity("aba", "v", model, v);
  check_velocity("aba", "tau", model, tau);
  check_velocity<T>("aba", "a", model, a);
  if (work.loops) {
    ClosedLoops<T>& loops = *work.loops;
    return constrained_forward_dynamics<T>(model, loops.set, loops.work, q, v, tau, external, a,
                                           loops.force, {effects})
        .singular;
  }
  kernel::set_external<T>("aba", model, work, external);
  return kernel::forward_dynamics<true>(model, work, q, v, tau, effects, a);
}

}  // namespace limb
