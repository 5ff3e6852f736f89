#pragma once

#include "limb/dynamics/constraints/constraint_set_impl.hpp"
#include "limb/dynamics/recursive/vec3.hpp"
#include "limb/math/quaternion.hpp"
#include "limb/math/sincos.hpp"

/// Forward kinematics of the joints of the canonical model that support constraints, in world axes.
///
///   O      origin of the first of them whose parent is the world: positions from O lose no digits
///          far from the world's origin
///   R, p   axes in the world, position from O
///   v, w   velocity of the origin, angular velocity; a, wd their rates at zero joint acceleration
///   S      motion at O per unit of each velocity
///   r      from the origin of the parent P to that of B
namespace limb::constraint_detail {

/// Columns (x, y) <- (x, y) Rot: axes rotated about the third axis, c = cos, s = sin of the angle.
template <typename T>
LIMB_INLINE void rotate_axes(Matrix3<T>& R, int x, int y, const T& c, const T& s) {
  for (int k = 0; k < 3; ++k) {
    const T old = R(k, x);
    R(k, x) = c * old + s * R(k, y);
    R(k, y) = c * R(k, y) - s * old;
  }
}

template <typename T>
LIMB_INLINE Vector3<T> sum_of_columns(const Matrix3<T>& R, const T& x, const T& y, const T& z) {
  return {R(0, 0) * x + R(0, 1) * y + R(0, 2) * z, R(1, 0) * x + R(1, 1) * y + R(1, 2) * z,
          R(2, 0) * x + R(2, 1) * y + R(2, 2) * z};
}

/// Axes after the joint, its displacement, and its linear and angular velocity (u, w_J), all in
/// world axes.
template <typename T>
struct JointMotion {
  Matrix3<T> R;
  Vector3<T> displacement, u, w_J;
};

/// Motion of a joint of any kind; R_WP are the parent's axes.
template <typename T>
JointMotion<T> joint_motion(const CanonicalJoint<T>& joint, const Matrix3<T>& R_WP, const T* q,
                            const T* v, const T& cosine, const T& sine) {
  using Kind = typename CanonicalJoint<T>::Kind;
  const Vector3<T> zero = Vector3<T>::Zero();
  JointMotion<T> m{R_WP * joint.R, zero, zero, zero};
  const T* x = q + joint.q;
  const T* rate = v + joint.v;
  switch (joint.kind) {
    case Kind::prismatic:
      m.displacement = m.R.col(2) * x[0];
      m.u = m.R.col(2) * rate[0];
      break;
    case Kind::revolute:
    case Kind::helical:
      rotate_axes(m.R, 0, 1, cosine, sine);
      m.displacement = m.R.col(2) * (joint.pitch * x[0]);
      m.u = m.R.col(2) * (joint.pitch * rate[0]);
      m.w_J = m.R.col(2) * rate[0];
      break;
    case Kind::planar:
      m.displacement = m.R.col(0) * x[0] + m.R.col(1) * x[1];
      rotate_axes(m.R, 0, 1, cosine, sine);
      m.u = m.R.col(0) * rate[0] + m.R.col(1) * rate[1];
      m.w_J = m.R.col(2) * rate[2];
      break;
    case Kind::spherical:
      m.R = m.R * to_matrix(quat_xyzw(x[0], x[1], x[2], x[3]));
      m.w_J = sum_of_columns(m.R, rate[0], rate[1], rate[2]);
      break;
    case Kind::free:
      m.displacement = sum_of_columns(m.R, x[0], x[1], x[2]);
      m.R = m.R * to_matrix(quat_xyzw(x[3], x[4], x[5], x[6]));
      m.u = sum_of_columns(m.R, rate[0], rate[1], rate[2]);
      m.w_J = sum_of_columns(m.R, rate[3], rate[4], rate[5]);
      break;
  }
  return m;
}

/// Motion subspace S at O of a joint with axes R and origin p.
template <typename T>
void write_motion_subspace(const CanonicalJoint<T>& joint, const Matrix3<T>& R, const Vector3<T>& p,
                           Motion<T>* S) {
  using Kind = typename CanonicalJoint<T>::Kind;
  const auto along = [&](int k) { return Motion<T>{R.col(k), Vector3<T>::Zero()}; };
  const auto about = [&](int k) {
    const Vector3<T> axis = R.col(k);
    return Motion<T>{small_products::cross<T>(p, axis), axis};
  };
  switch (joint.kind) {
    case Kind::revolute:
      S[0] = about(2);
      return;
    case Kind::prismatic:
      S[0] = along(2);
      return;
    case Kind::helical:
      S[0] = about(2);
      S[0].v += R.col(2) * joint.pitch;
      return;
    case Kind::planar:
      S[0] = along(0);
      S[1] = along(1);
      S[2] = about(2);
      return;
    case Kind::spherical:
      for (int k = 0; k < 3; ++k) S[k] = about(k);
      return;
    case Kind::free:
      for (int k = 0; k < 3; ++k) {
        S[k] = along(k);
        S[k + 3] = about(k);
      }
      return;
  }
}

template <typename T>
void constraint_kinematics(const Model<T>& model, const ConstraintSet<T>& set, const T* q,
                           const T* v, ConstraintWorkspaceData<T>& work) {
  using Kind = typename CanonicalJoint<T>::Kind;
  const Canonical<T>& robot = model.canonical();
  const auto& support = set.support();
  for (std::size_t i = 0; i < support.size(); ++i) {
    const CanonicalJoint<T>& joint = robot.joints[set.at(support[i])];
    if (joint.kind == Kind::revolute || joint.kind == Kind::helical) {
      work.angle[i] = q[joint.q] + joint.offset;
    } else if (joint.kind == Kind::planar) {
      work.angle[i] = q[joint.q + 2];
    }
  }
  sincos(work.angle.data(), work.sine.data(), work.cosine.data(), support.size());

  for (std::size_t i = 0; i < support.size(); ++i) {
    const CanonicalJoint<T>& joint = robot.joints[set.at(support[i])];
    const auto& P = work.bodies[set.at(joint.parent)];
    auto& B = work.bodies[set.at(support[i])];
    T c = work.cosine[i], s = work.sine[i];
    kernel::add_quarter_turns(joint.quadrant, c, s);
    Vector3<T> r = small_products::product<T>(P.R, joint.p);  // from the parent's origin
    if (joint.kind == Kind::revolute) {
      B.R = P.R;
      if (joint.has_gamma) rotate_axes(B.R, 0, 1, joint.cos_gamma, joint.sin_gamma);
      rotate_axes(B.R, 1, 2, joint.cos_alpha, joint.sin_alpha);
      rotate_axes(B.R, 0, 1, c, s);
      const Vector3<T> w_J = B.R.col(2) * v[joint.v];
      const Vector3<T> wr = small_products::cross<T>(P.w, r);
      B.w = P.w + w_J;
      B.wd = small_products::add_cross<T>(P.wd, P.w, w_J);
      B.v = P.v + wr;
      B.a = small_products::add_cross<T>(small_products::add_cross<T>(P.a, P.wd, r), P.w, wr);
    } else {
      const JointMotion<T> m = joint_motion(joint, P.R, q, v, c, s);
      r += m.displacement;
      const Vector3<T> wr = small_products::cross<T>(P.w, r);
      B.R = m.R;
      B.w = P.w + m.w_J;
      B.wd = small_products::add_cross<T>(P.wd, P.w, m.w_J);
      B.v = P.v + wr + m.u;
      // Coriolis term 2 w x u in the parent's axes, and u itself rotates with the joint.
      const Vector3<T> twice = P.w + B.w;
      B.a = small_products::add_cross<T>(
          small_products::add_cross<T>(small_products::add_cross<T>(P.a, P.wd, r), P.w, wr), twice,
          m.u);
    }
    if (joint.parent == 0) {
      if (i == 0) work.p_WO = r;
      r -= work.p_WO;
    }
    B.p = P.p + r;
    write_motion_subspace(joint, B.R, B.p, work.S.data() + joint.v);
  }
}

}  // namespace limb::constraint_detail
