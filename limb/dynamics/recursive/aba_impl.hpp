#pragma once

#include <algorithm>
#include <limits>

#include "limb/dynamics/constraints/constrained_dynamics_impl.hpp"
#include "limb/dynamics/factor/dense_solve_impl.hpp"
#include "limb/dynamics/recursive/aba.hpp"
#include "limb/dynamics/recursive/articulated_impl.hpp"
#include "limb/dynamics/recursive/crba_impl.hpp"
#include "limb/dynamics/recursive/rnea_impl.hpp"

// Articulated-body algorithm on the canonical model [Featherstone 1983],
// docs/derivations/canonical_algorithms.md.
//
// Symbols, of joint j, in the axes of its joint frame and about its origin:
//   I         articulated inertia [A B; B^T C], (n; f) = I (wd; a)
//   U         column of one degree of freedom with axis S: U.n, U.f = I S; U.inverse = 1 / D,
//             D = S^T I S + armature; U.torque = tau - S^T (f, n)
//   b.f, b.n  bias force of the articulated body
//   b.a, b.wd in the second forward pass: acceleration beyond that at zero joint accelerations
//   x         U.torque / D in the backward pass; the joint acceleration in the forward pass
//   R, p, c, s  as in rnea_impl.hpp

namespace limb {
namespace kernel {

/// Backward pass, a revolute joint: eliminates its degree of freedom and adds the articulated body
/// to the parent. With a rotor the inertia about the axis does not vanish.
template <bool kRotor, typename T, typename Alpha>
LIMB_INLINE void articulated_backward_revolute(const CanonicalJoint<T>& joint, const Alpha& alpha,
                                               size_t j, WorkspaceData<T>& work, const T& tau,
                                               const T& rotor) {
  const typename WorkspaceData<T>::JointState& b = work.states[j];
  Articulated<T> I = work.articulated[j];
  typename WorkspaceData<T>::Column& U = work.columns[static_cast<size_t>(joint.v)];
  U.n = {I.A_xz, I.A_yz, I.A_zz};
  U.f = {I.B[6], I.B[7], I.B[8]};
  U.inverse = T(1) / (kRotor ? I.A_zz + rotor : I.A_zz);
  U.torque = tau - b.n.z;
  if (joint.parent == 0) return;

  const T c = work.cosine[j], s = work.sine[j], x = U.torque * U.inverse;
  const Vec3<T> p = vec3(joint.p);
  if constexpr (kRotor) {
    eliminate_dof<T>({U.f, U.n}, U.inverse, I);
  } else {
    eliminate_revolute_dof(U.n, U.f, U.inverse, I);
  }
  rotate_articulated<kRotor>(joint, alpha, c, s, I);
  add_articulated(I, p, work.articulated[static_cast<size_t>(joint.parent)]);
  add_force(
      to_parent<T>(joint, alpha, c, s, {b.f.x + U.f.x * x, b.f.y + U.f.y * x, b.f.z + U.f.z * x}),
      to_parent<T>(joint, alpha, c, s,
                   {b.n.x + U.n.x * x, b.n.y + U.n.y * x, kRotor ? b.n.z + U.n.z * x : tau}),
      p, work.states[static_cast<size_t>(joint.parent)]);
}

/// Backward pass, any joint: eliminates its degrees of freedom one by one, the last first.
template <typename T>
inline void articulated_backward(const CanonicalJoint<T>& joint, size_t j, WorkspaceData<T>& work,
                                 const T* tau, const T* rotor) {
  const typename WorkspaceData<T>::JointState& b = work.states[j];
  Articulated<T> I = work.articulated[j];
  Vec3<T> f = b.f, n = b.n;
  for (int k = dof_count(joint); k-- > 0;) {
    T unit[6] = {T(0), T(0), T(0), T(0), T(0), T(0)};
    unit[k] = T(1);
    const LinearAngular<T> S = joint_motion(joint, unit);
    const LinearAngular<T> F = articulated_force(I, S.linear, S.angular);
    T projected[6];
    project_force(joint, F.linear, F.angular, projected);
    typename WorkspaceData<T>::Column& U = work.columns[static_cast<size_t>(joint.v + k)];
    U.f = F.linear;
    U.n = F.angular;
    U.inverse = T(1) / (projected[k] + rotor[k]);
    project_force(joint, f, n, projected);
    U.torque = tau[k] - projected[k];
    const T x = U.torque * U.inverse;
    eliminate_dof(F, U.inverse, I);
    f = {f.x + U.f.x * x, f.y + U.f.y * x, f.z + U.f.z * x};
    n = {n.x + U.n.x * x, n.y + U.n.y * x, n.z + U.n.z * x};
  }
  if (joint.parent == 0) return;
  rotate_articulated(work.R[j], I);
  add_articulated(I, work.p[j], work.articulated[static_cast<size_t>(joint.parent)]);
  add_force(product(work.R[j], f), product(work.R[j], n), work.p[j],
            work.states[static_cast<size_t>(joint.parent)]);
}

/// Backward pass, a free joint without rotors: only tau is transmitted to the parent, and (wd; a)
/// solves a 6 x 6 system.
template <typename T>
inline void articulated_backward_free(const CanonicalJoint<T>& joint, size_t j,
                                      WorkspaceData<T>& work, const T* tau) {
  const typename WorkspaceData<T>::JointState& b = work.states[j];
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
  typename WorkspaceData<T>::Column* U = &work.columns[static_cast<size_t>(joint.v)];
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
  if (joint.parent == 0) return;
  const Matrix3<T>& R = work.R[j];
  add_force<T>(product<T>(R, {tau[0], tau[1], tau[2]}), product<T>(R, {tau[3], tau[4], tau[5]}),
               work.p[j], work.states[static_cast<size_t>(joint.parent)]);
}

/// Second forward pass, one joint: its acceleration, and that of its link beyond the bias.
template <bool kRotor, typename T>
LIMB_INLINE void articulated_forward(const CanonicalJoint<T>& joint, size_t i,
                                     WorkspaceData<T>& work, T* a) {
  typename WorkspaceData<T>::JointState& b = work.states[i];
  const typename WorkspaceData<T>::JointState& parent =
      work.states[static_cast<size_t>(joint.parent)];
  const typename WorkspaceData<T>::Column* U = &work.columns[static_cast<size_t>(joint.v)];
  const T o = T(0);
  if (joint.kind == CanonicalJoint<T>::Kind::revolute) {
    if (joint.parent == 0) {
      const T x = U->torque * U->inverse;
      a[joint.v] = x;
      b.wd = {o, o, x};
      b.a = {o, o, o};
      return;
    }
    const T c = work.cosine[i], s = work.sine[i];
    Vec3<T> wd;
    with_alpha(
        joint, [&](const auto& alpha) __attribute__((always_inline)) {
          wd = to_child(joint, alpha, c, s, parent.wd);
          b.a = to_child(joint, alpha, c, s, add_cross(parent.a, parent.wd, vec3(joint.p)));
        });
    const T x = (U->torque - (U->n.x * wd.x + U->n.y * wd.y + U->n.z * wd.z) -
                 (U->f.x * b.a.x + U->f.y * b.a.y + U->f.z * b.a.z)) *
                U->inverse;
    a[joint.v] = x;
    b.wd = {wd.x, wd.y, wd.z + x};
    return;
  }
  const Matrix3<T>& R = work.R[i];
  b.wd = transpose_product(R, parent.wd);
  b.a = transpose_product(R, add_cross(parent.a, parent.wd, work.p[i]));
  if (!kRotor && joint.kind == CanonicalJoint<T>::Kind::free) {
    const Vec3<T> linear = {U[0].torque, U[1].torque, U[2].torque};
    const Vec3<T> angular = {U[3].torque, U[4].torque, U[5].torque};
    a[joint.v] = linear.x - b.a.x;
    a[joint.v + 1] = linear.y - b.a.y;
    a[joint.v + 2] = linear.z - b.a.z;
    a[joint.v + 3] = angular.x - b.wd.x;
    a[joint.v + 4] = angular.y - b.wd.y;
    a[joint.v + 5] = angular.z - b.wd.z;
    b.a = linear;
    b.wd = angular;
    return;
  }
  for (int k = 0; k < dof_count(joint); ++k, ++U) {
    const T x = (U->torque - (U->n.x * b.wd.x + U->n.y * b.wd.y + U->n.z * b.wd.z) -
                 (U->f.x * b.a.x + U->f.y * b.a.y + U->f.z * b.a.z)) *
                U->inverse;
    a[joint.v + k] = x;
    T joint_a[6] = {o, o, o, o, o, o};
    joint_a[k] = x;
    const LinearAngular<T> A = joint_motion(joint, joint_a);
    b.wd = b.wd + A.angular;
    b.a = b.a + A.linear;
  }
}

/// Index of a velocity whose pivot is not larger than rounding errors, or -1.
template <typename T>
int singular_pivot(const WorkspaceData<T>& work) {
  if constexpr (Branching<T>) {
    T least = T(std::numeric_limits<double>::infinity());  // 1 / the largest pivot
    for (const auto& U : work.columns) {
      if (T(0) < U.inverse && U.inverse < least) least = U.inverse;
    }
    const T limit = least / (T(16) * epsilon<T>());
    // From the leaves: a vanishing pivot makes all earlier ones meaningless.
    for (size_t i = work.columns.size(); i-- > 0;) {
      const T& inverse = work.columns[i].inverse;
      if (!(T(0) < inverse && inverse < limit)) return static_cast<int>(i);
    }
  }
  return -1;
}

/// The three passes on the canonical model, after update_joint_transforms(). The first computes the
/// forces at zero joint accelerations, as in rnea; what remains is linear in tau and the
/// accelerations.
template <bool kExternal, bool kRotor, typename T>
int aba(const Canonical<T>& robot, WorkspaceData<T>& work, const T* v, const T* tau, T* a) {
  const T* rotor = kRotor ? robot.armature.data() : work.zero.data();
  const size_t n = robot.joints.size();
  for (size_t i = 1; i < n; ++i) work.articulated[i] = work.link_inertias[i];
  const auto backward = [&](size_t j) __attribute__((always_inline)) {
    const CanonicalJoint<T>& s = robot.joints[j];
    if (s.kind == CanonicalJoint<T>::Kind::revolute) {
      with_alpha(
          s, [&](const auto& alpha) __attribute__((always_inline)) {
            articulated_backward_revolute<kRotor>(s, alpha, j, work, tau[s.v], rotor[s.v]);
          });
    } else if (!kRotor && s.kind == CanonicalJoint<T>::Kind::free) {
      articulated_backward_free(s, j, work, tau + s.v);
    } else {
      articulated_backward(s, j, work, tau + s.v, rotor + s.v);
    }
  };
  if constexpr (Branching<T>) {
    forward_pass<kExternal>(robot, work, v, work.zero.data());
    for (size_t j = n; j-- > 1;) backward(j);
  } else {
    set_root_motion(robot, work);
    traverse_depth_first(
        robot, 0,
        [&](size_t i) { forward_joint<kExternal>(robot.joints[i], i, work, v, work.zero.data()); },
        backward);
  }
  const T o = T(0);
  work.states[0].a = {o, o, o};
  for (size_t i = 1; i < robot.joints.size(); ++i)
    articulated_forward<kRotor>(robot.joints[i], i, work, a);
  return singular_pivot(work);
}

template <typename T>
void set_nan(VectorOut<T>& a) {
  for (Eigen::Index i = 0; i < a.size(); ++i) a[i] = T(std::numeric_limits<double>::quiet_NaN());
}

/// Models with couplings: solves M_y a = tau - h_y directly.
template <bool kExternal, typename T>
int coupled_forward_dynamics(const Model<T>& model, WorkspaceData<T>& work, VectorIn<T>& v,
                             VectorIn<T>& tau, const JointEffects& effects, VectorOut<T>& a) {
  const Canonical<T>& robot = model.canonical();
  const Coupling<T>& coupling = model.coupling();
  const T* joint_v = joint_velocity(model, v, work.v);
  rnea<kExternal>(robot, work, joint_v, work.zero.data(), work.tau.data());
  add_velocity_torques(robot, effects, joint_v, T(1), work.tau.data());
  coupling.reduce_force(work.tau.data(), a.data());
  for (int i = 0; i < coupling.ny_v(); ++i) a[i] = tau[i] - a[i];
  crba(robot, work, work.M.data(), work.M.outerStride());
  if (effects.armature && robot.has_armature) work.M.diagonal() += robot.armature;
  MatrixOut<T> M_y = work.M_reduced;
  reduce_mass_matrix(coupling, work.M, M_y);
  return solve_in_place<T>(M_y, a);
}

template <bool kExternal, typename T>
int aba_with_effects(const Model<T>& model, WorkspaceData<T>& work, VectorIn<T>& q, VectorIn<T>& v,
                     VectorIn<T>& tau, const JointEffects& effects, VectorOut<T>& a) {
  const Canonical<T>& robot = model.canonical();
  update_joint_transforms(robot, joint_position(model, q, work), work);
  int singular = -1;
  if (!model.coupling().is_identity()) {
    singular = coupled_forward_dynamics<kExternal>(model, work, v, tau, effects, a);
  } else {
    const T* torque = tau.data();
    if (depends_on_velocity(robot, effects)) {
      for (int i = 0; i < robot.nv; ++i) work.tau[i] = tau[i];
      add_velocity_torques(robot, effects, v.data(), T(-1), work.tau.data());
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
FactorReport aba(const Model<T>& model, Workspace<T>& workspace, VectorIn<T>& q, VectorIn<T>& v,
                 VectorIn<T>& tau, VectorOut<T> a, const JointEffects& effects) {
  WorkspaceData<T>& work = workspace.data();
  work.check("aba", model);
  check_position("aba", "q", model, q);
  check_velocity("aba", "v", model, v);
  check_velocity("aba", "tau", model, tau);
  check_velocity<T>("aba", "a", model, a);
  if (work.loops) {
    ClosedLoops<T>& loops = *work.loops;
    return constrained_forward_dynamics<T>(model, loops.set, loops.work, q, v, tau, a, loops.force,
                                           {effects})
        .factor();
  }
  return FactorReport::from_pivot(
      kernel::aba_with_effects<false>(model, work, q, v, tau, effects, a));
}

template <typename T>
FactorReport aba(const Model<T>& model, Workspace<T>& workspace, VectorIn<T>& q, VectorIn<T>& v,
                 VectorIn<T>& tau, WrenchesIn<T> external, VectorOut<T> a,
                 const JointEffects& effects) {
  WorkspaceData<T>& work = workspace.data();
  work.check("aba", model);
  check_position("aba", "q", model, q);
  check_velocity("aba", "v", model, v);
  check_velocity("aba", "tau", model, tau);
  check_velocity<T>("aba", "a", model, a);
  if (work.loops) {
    ClosedLoops<T>& loops = *work.loops;
    return constrained_forward_dynamics<T>(model, loops.set, loops.work, q, v, tau, external, a,
                                           loops.force, {effects})
        .factor();
  }
  kernel::set_external<T>("aba", model, work, external);
  return FactorReport::from_pivot(
      kernel::aba_with_effects<true>(model, work, q, v, tau, effects, a));
}

}  // namespace limb
