#pragma once

#include "limb/dynamics/recursive/drives.hpp"
#include "limb/dynamics/recursive/joint_transforms_impl.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/dynamics/recursive/workspace_impl.hpp"

// Recursive Newton-Euler algorithm on the canonical model [Luh 1980],
// docs/derivations/canonical_algorithms.md.
//
// Symbols, of joint i, in the axes of its joint frame and about its origin; lower-case q, v, a, tau
// without a state are the arguments:
//   w, wd    angular velocity and angular acceleration of the link
//   a        acceleration of the origin minus gravity: gravity enters as acceleration of the world
//   U        [wd]x + [w]x [w]x; a point at x accelerates by a + U x
//   f, n     force and moment transmitted by the joint: inertial forces of the subtree, minus
//            external ones
//   m, h, S  mass, first moment int(x) dm and second moments int(x x^T) dm of the link, regrouped
//   R, p     pose of the joint frame in its parent; alpha, gamma: its constant rotation
//            Rz(gamma) Rx(alpha); c, s: cosine and sine of the joint angle

namespace limb {
namespace kernel {

/// Inertial force of the link: f = m a + U h, n = h x a + [S U^T]_skew.
template <typename T>
LIMB_INLINE void inertial_force(const CanonicalJoint<T>& joint,
                                typename WorkspaceData<T>::JointState& b) {
  const RotationalAcceleration<T>& U = b.U;
  const Vec3<T>& a = b.a;
  const Vec3<T> h = vec3(joint.first_moment);
  const Matrix3<T>& S = joint.second_moments;
  const T &Sxx = S(0, 0), &Sxy = S(1, 0), &Sxz = S(2, 0), &Syy = S(1, 1), &Syz = S(2, 1);
  b.f = {U.xx * h.x + U.xy * h.y, U.yx * h.x + U.yy * h.y, U.zx * h.x + U.zy * h.y};
  b.n.x = U.zx * Sxy + U.zy * Syy + (U.zz - U.yy) * Syz - U.yx * Sxz + h.y * a.z;
  b.n.y = (U.xx - U.zz) * Sxz + U.xy * Syz - U.zx * Sxx - U.zy * Sxy - h.x * a.z;
  b.n.z = U.yx * Sxx - U.xy * Syy + (U.yy - U.xx) * Sxy + U.yz * Sxz - U.xz * Syz + h.x * a.y -
          h.y * a.x;
  if (joint.regrouped) return;
  const T &m = joint.mass, &Szz = S(2, 2);
  b.f = {b.f.x + U.xz * h.z + m * a.x, b.f.y + U.yz * h.z + m * a.y, b.f.z + U.zz * h.z + m * a.z};
  b.n.x = b.n.x - U.yz * Szz - h.z * a.y;
  b.n.y = b.n.y + U.xz * Szz + h.z * a.x;
}

/// U and wd.x, wd.y of a joint that rotates about z, from w, wd.z and U z.
template <typename T>
LIMB_INLINE void rotational_acceleration_about_z(const Vec3<T>& Uz,
                                                 typename WorkspaceData<T>::JointState& b) {
  const Vec3<T>& w = b.w;
  const T xy = w.x * w.y, xz = w.x * w.z, yz = w.y * w.z;
  const T y2 = w.y * w.y, z2 = w.z * w.z;
  b.wd.x = yz - Uz.y;
  b.wd.y = Uz.x - xz;
  b.U = {-(y2 + z2), xy - b.wd.z, Uz.x,        xy + b.wd.z, (y2 + Uz.z) - z2,
         Uz.y,       xz - b.wd.y, yz + b.wd.x, Uz.z};
}

/// Motion of a revolute joint from that of its parent.
template <typename T, typename Alpha>
LIMB_INLINE void forward_revolute(const CanonicalJoint<T>& joint, const Alpha& alpha, const T& c,
                                  const T& s, const typename WorkspaceData<T>::JointState& parent,
                                  const T& rate, const T& acceleration,
                                  typename WorkspaceData<T>::JointState& b) {
  if (joint.parent == 0) {
    b.w = {T(0), T(0), rate};
    b.wd = {T(0), T(0), acceleration};
    b.a = to_child(joint, alpha, c, s, parent.a);
  } else {
    const Vec3<T> w = to_child(joint, alpha, c, s, parent.w);
    const Vec3<T> at = product(parent.U, vec3(joint.p)) + parent.a;
    b.w = {w.x, w.y, w.z + rate};
    b.a = to_child(joint, alpha, c, s, at);
    if (!Branching<T> && joint.parent_axis >= 0) {
      // Points on the axis move with the parent, so U z is that of the parent. Saves products in
      // recorded code, where those with entries 0 and 1 of z vanish; with machine numbers it is not
      // faster.
      const Vec3<T> z = {joint.R(0, 2), joint.R(1, 2), joint.R(2, 2)};
      b.wd.z = z.x * parent.wd.x + z.y * parent.wd.y + z.z * parent.wd.z + acceleration;
      rotational_acceleration_about_z(to_child(joint, alpha, c, s, product(parent.U, z)), b);
      return;
    }
    const Vec3<T> wd = to_child(joint, alpha, c, s, parent.wd);
    b.wd = {wd.x + w.y * rate, wd.y - w.x * rate, wd.z + acceleration};
  }
  b.U = rotational_acceleration(b.w, b.wd);
}

/// Motion of any joint from that of its parent; R and p are its pose in the parent.
template <typename T>
LIMB_INLINE void forward_general(const CanonicalJoint<T>& joint, const Matrix3<T>& R,
                                 const Vec3<T>& p,
                                 const typename WorkspaceData<T>::JointState& parent, const T* v,
                                 const T* a, typename WorkspaceData<T>::JointState& b) {
  if (joint.kind == CanonicalJoint<T>::Kind::free && joint.parent == 0) {  // most floating robots
    b.w = {v[3], v[4], v[5]};
    b.wd = {a[3], a[4], a[5]};
    const Vec3<T> at = add_cross<T>({a[0], a[1], a[2]}, b.w, {v[0], v[1], v[2]});
    b.a = transpose_product(R, parent.a) + at;
    b.U = rotational_acceleration(b.w, b.wd);
    return;
  }
  const LinearAngular<T> V = joint_motion(joint, v), A = joint_motion(joint, a);
  const Vec3<T> w = transpose_product(R, parent.w);
  const Vec3<T> wd = transpose_product(R, parent.wd);
  const Vec3<T> at = transpose_product(R, product(parent.U, p) + parent.a);
  b.w = w + V.angular;
  b.wd = add_cross(wd + A.angular, w, V.angular);
  b.a = add_cross(at + A.linear, w + b.w, V.linear);
  b.U = rotational_acceleration(b.w, b.wd);
}

/// Adds a force, given in the parent's axes about the point p, to the force of the parent.
template <typename T>
LIMB_INLINE void add_force(const Vec3<T>& f, const Vec3<T>& n, const Vec3<T>& p,
                           typename WorkspaceData<T>::JointState& parent) {
  parent.f = parent.f + f;
  parent.n = add_cross(parent.n + n, p, f);
}

/// Joint 0 is the world: zero velocity, acceleration -g.
template <typename T>
void set_root_motion(const Canonical<T>& robot, WorkspaceData<T>& work) {
  const T o = T(0);
  const Vec3<T> g = vec3(robot.gravity);
  work.states[0] = {{o, o, o}, {o, o, o}, {-g.x, -g.y, -g.z}, {o, o, o, o, o, o, o, o, o},
                    {o, o, o}, {o, o, o}};
}

/// Forward pass, one joint: its motion and the inertial force of its link.
template <bool kExternal, typename T>
LIMB_INLINE void forward_joint(const CanonicalJoint<T>& joint, size_t i, WorkspaceData<T>& work,
                               const T* v, const T* a) {
  typename WorkspaceData<T>::JointState& b = work.states.data()[i];
  const typename WorkspaceData<T>::JointState& parent = work.states.data()[joint.parent];
  if (joint.kind == CanonicalJoint<T>::Kind::revolute) {
    const T c = work.cosine.data()[i], s = work.sine.data()[i];
    with_alpha(
        joint, [&](const auto& alpha) __attribute__((always_inline)) {
          forward_revolute(joint, alpha, c, s, parent, v[joint.v], a[joint.v], b);
        });
  } else {
    forward_general(joint, work.R[i], work.p[i], parent, v + joint.v, a + joint.v, b);
  }
  inertial_force(joint, b);
  if constexpr (kExternal) {
    b.f = b.f - work.f_external[i];
    b.n = b.n - work.n_external[i];
  }
}

/// Forward pass over all joints.
template <bool kExternal, typename T>
LIMB_INLINE void forward_pass(const Canonical<T>& robot, WorkspaceData<T>& work, const T* v,
                              const T* a) {
  set_root_motion(robot, work);
  const CanonicalJoint<T>* joint = robot.joints.data();
  const size_t n = robot.joints.size();
  for (size_t i = 1; i < n; ++i) forward_joint<kExternal>(*++joint, i, work, v, a);
}

/// Backward pass, one joint: project the force on the joint, add it to that of the parent.
template <typename T>
LIMB_INLINE void backward_joint(const CanonicalJoint<T>& joint, size_t j, WorkspaceData<T>& work,
                                T* tau) {
  const typename WorkspaceData<T>::JointState& b = work.states.data()[j];
  typename WorkspaceData<T>::JointState& parent = work.states.data()[joint.parent];
  if (joint.kind == CanonicalJoint<T>::Kind::revolute) {
    tau[joint.v] = b.n.z;
    if (joint.parent == 0) return;
    const T c = work.cosine.data()[j], s = work.sine.data()[j];
    with_alpha(
        joint, [&](const auto& alpha) __attribute__((always_inline)) {
          add_force(to_parent(joint, alpha, c, s, b.f), to_parent(joint, alpha, c, s, b.n),
                    vec3(joint.p), parent);
        });
    return;
  }
  project_force(joint, b.f, b.n, tau + joint.v);
  if (joint.parent == 0) return;
  const Matrix3<T>& R = work.R[j];
  add_force(product(R, b.f), product(R, b.n), work.p[j], parent);
}

/// Newton-Euler recursion on the canonical model, after update_joint_transforms().
template <bool kExternal, typename T>
void rnea(const Canonical<T>& robot, WorkspaceData<T>& work, const T* v, const T* a, T* tau) {
  if constexpr (Branching<T>) {
    forward_pass<kExternal>(robot, work, v, a);
    const CanonicalJoint<T>* joint = robot.joints.data() + robot.joints.size();
    for (size_t j = robot.joints.size(); j-- > 1;) backward_joint(*--joint, j, work, tau);
  } else {
    set_root_motion(robot, work);
    traverse_depth_first(
        robot, 0, [&](size_t i) { forward_joint<kExternal>(robot.joints[i], i, work, v, a); },
        [&](size_t j) { backward_joint(robot.joints[j], j, work, tau); });
  }
}

/// Uncoupled configuration of the joints; q itself for models without couplings.
template <typename T>
const T* joint_position(const Model<T>& model, VectorIn<T>& q, WorkspaceData<T>& work) {
  if (model.coupling().is_identity()) return q.data();
  model.coupling().expand_position(q.data(), work.q.data());
  return work.q.data();
}
template <typename T>
const T* joint_velocity(const Model<T>& model, VectorIn<T>& v, VectorX<T>& expanded) {
  if (model.coupling().is_identity()) return v.data();
  model.coupling().expand_velocity(v.data(), expanded.data());
  return expanded.data();
}

/// Sums the wrenches on frames to external forces on the links of the joints.
template <typename T>
void set_external(const char* call, const Model<T>& model, WorkspaceData<T>& work,
                  WrenchesIn<T> external) {
  const Canonical<T>& robot = model.canonical();
  for (Force<T>& F : work.F_B) F = {};
  add_external<T>(call, model, external, work.F_B);
  for (size_t i = 1; i < robot.joints.size(); ++i) {
    const CanonicalJoint<T>& joint = robot.joints[i];
    if (joint.body == 0) continue;  // a massless intermediate joint has no frames
    const Force<T> F_C = joint.X_BC.inv_act(work.F_B[static_cast<size_t>(joint.body)]);
    work.f_external[i] = vec3(F_C.f);
    work.n_external[i] = vec3(F_C.n);
  }
}

template <bool kExternal, typename T>
void rnea_with_effects(const Model<T>& model, WorkspaceData<T>& work, const T* q, const T* v,
                       const T* a, const JointEffects& effects, VectorOut<T>& tau) {
  const Canonical<T>& robot = model.canonical();
  const bool coupled = !model.coupling().is_identity();
  T* joint_tau = coupled ? work.tau.data() : tau.data();
  update_joint_transforms(robot, q, work);
  rnea<kExternal>(robot, work, v, a, joint_tau);
  add_drive_torques(robot, effects, v, a, joint_tau);
  if (coupled) model.coupling().reduce_force(joint_tau, tau.data());
}

}  // namespace kernel

template <typename T>
void rnea(const Model<T>& model, Workspace<T>& workspace, VectorIn<T>& q, VectorIn<T>& v,
          VectorIn<T>& a, VectorOut<T> tau, const JointEffects& effects) {
  WorkspaceData<T>& work = workspace.data();
  work.check("rnea", model);
  check_position("rnea", "q", model, q);
  check_velocity("rnea", "v", model, v);
  check_velocity("rnea", "a", model, a);
  check_velocity<T>("rnea", "tau", model, tau);
  kernel::rnea_with_effects<false>(model, work, kernel::joint_position(model, q, work),
                                   kernel::joint_velocity(model, v, work.v),
                                   kernel::joint_velocity(model, a, work.a), effects, tau);
}

template <typename T>
void rnea(const Model<T>& model, Workspace<T>& workspace, VectorIn<T>& q, VectorIn<T>& v,
          VectorIn<T>& a, WrenchesIn<T> external, VectorOut<T> tau, const JointEffects& effects) {
  WorkspaceData<T>& work = workspace.data();
  work.check("rnea", model);
  check_position("rnea", "q", model, q);
  check_velocity("rnea", "v", model, v);
  check_velocity("rnea", "a", model, a);
  check_velocity<T>("rnea", "tau", model, tau);
  kernel::set_external<T>("rnea", model, work, external);
  kernel::rnea_with_effects<true>(model, work, kernel::joint_position(model, q, work),
                                  kernel::joint_velocity(model, v, work.v),
                                  kernel::joint_velocity(model, a, work.a), effects, tau);
}

template <typename T>
void bias(const Model<T>& model, Workspace<T>& workspace, VectorIn<T>& q, VectorIn<T>& v,
          VectorOut<T> tau, const JointEffects& effects) {
  WorkspaceData<T>& work = workspace.data();
  work.check("bias", model);
  check_position("bias", "q", model, q);
  check_velocity("bias", "v", model, v);
  check_velocity<T>("bias", "tau", model, tau);
  kernel::rnea_with_effects<false>(model, work, kernel::joint_position(model, q, work),
                                   kernel::joint_velocity(model, v, work.v), work.zero.data(),
                                   effects, tau);
}

template <typename T>
void gravity(const Model<T>& model, Workspace<T>& workspace, VectorIn<T>& q, VectorOut<T> tau) {
  WorkspaceData<T>& work = workspace.data();
  work.check("gravity", model);
  check_position("gravity", "q", model, q);
  check_velocity<T>("gravity", "tau", model, tau);
  kernel::rnea_with_effects<false>(model, work, kernel::joint_position(model, q, work),
                                   work.zero.data(), work.zero.data(), JointEffects::none(), tau);
}

}  // namespace limb
