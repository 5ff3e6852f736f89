#pragma once

#include "limb/dynamics/constraint_set_impl.hpp"
#include "limb/dynamics/triple.hpp"
#include "limb/math/quaternion.hpp"
#include "limb/math/sincos.hpp"

/// Motion of the steps of the canonical model that carry constraints, in world axes.
///
///   O      origin of the first of them that stands on the world: lengths keep their digits however
///          far from the world's origin the robot is
///   R, p   axes in the world, place from O
///   v, w   velocity of the origin, angular velocity; a, wd their rates at rest of the joints
///   S      of each velocity: its motion at O
namespace limb::constraint_detail {

/// Columns (x, y) <- (x, y) Rot: axes turned about the third by the angle of c and s.
template <typename T>
LIMB_INLINE void turn_axes(Matrix3<T>& R, int x, int y, const T& c, const T& s) {
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

/// What the joint of a step does: axes of the step in the world, the way it has moved, and the
/// motion (u, w_J) of its own velocities, world axes.
template <typename T>
struct StepMotion {
  Matrix3<T> R;
  Vector3<T> moved, u, w_J;
};

/// A step with several freedoms, or one along its axis. `R` are the parent's axes.
template <typename T>
StepMotion<T> general_step(const CanonicalStep<T>& step, const Matrix3<T>& R_WP, const T* q,
                           const T* v, const T& cosine, const T& sine) {
  using Kind = typename CanonicalStep<T>::Kind;
  const Vector3<T> zero = Vector3<T>::Zero();
  StepMotion<T> m{R_WP * step.R, zero, zero, zero};
  const T* x = q + step.q;
  const T* rate = v + step.v;
  switch (step.kind) {
    case Kind::prismatic:
      m.moved = m.R.col(2) * x[0];
      m.u = m.R.col(2) * rate[0];
      break;
    case Kind::revolute:
    case Kind::helical:
      turn_axes(m.R, 0, 1, cosine, sine);
      m.moved = m.R.col(2) * (step.pitch * x[0]);
      m.u = m.R.col(2) * (step.pitch * rate[0]);
      m.w_J = m.R.col(2) * rate[0];
      break;
    case Kind::planar:
      m.moved = m.R.col(0) * x[0] + m.R.col(1) * x[1];
      turn_axes(m.R, 0, 1, cosine, sine);
      m.u = m.R.col(0) * rate[0] + m.R.col(1) * rate[1];
      m.w_J = m.R.col(2) * rate[2];
      break;
    case Kind::spherical:
      m.R = m.R * to_matrix(quat_xyzw(x[0], x[1], x[2], x[3]));
      m.w_J = sum_of_columns(m.R, rate[0], rate[1], rate[2]);
      break;
    case Kind::free:
      m.moved = sum_of_columns(m.R, x[0], x[1], x[2]);
      m.R = m.R * to_matrix(quat_xyzw(x[3], x[4], x[5], x[6]));
      m.u = sum_of_columns(m.R, rate[0], rate[1], rate[2]);
      m.w_J = sum_of_columns(m.R, rate[3], rate[4], rate[5]);
      break;
  }
  return m;
}

/// Motions at O of unit rates of the step's freedoms; its axes are R, its origin is at p.
template <typename T>
void write_subspace(const CanonicalStep<T>& step, const Matrix3<T>& R, const Vector3<T>& p,
                    Motion<T>* S) {
  using Kind = typename CanonicalStep<T>::Kind;
  const auto along = [&](int k) { return Motion<T>{R.col(k), Vector3<T>::Zero()}; };
  const auto about = [&](int k) {
    const Vector3<T> axis = R.col(k);
    return Motion<T>{entries::cross<T>(p, axis), axis};
  };
  switch (step.kind) {
    case Kind::revolute:
      S[0] = about(2);
      return;
    case Kind::prismatic:
      S[0] = along(2);
      return;
    case Kind::helical:
      S[0] = about(2);
      S[0].v += R.col(2) * step.pitch;
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
void move_support(const Model<T>& model, const ConstraintSet<T>& set, const T* q, const T* v,
                  ConstraintWorkspace<T>& work) {
  using Kind = typename CanonicalStep<T>::Kind;
  const Canonical<T>& robot = model.canonical();
  const auto& support = set.support();
  for (std::size_t i = 0; i < support.size(); ++i) {
    const CanonicalStep<T>& step = robot.steps[set.at(support[i])];
    if (step.kind == Kind::revolute || step.kind == Kind::helical) {
      work.angle[i] = q[step.q] + step.offset;
    } else if (step.kind == Kind::planar) {
      work.angle[i] = q[step.q + 2];
    }
  }
  sincos(work.angle.data(), work.sine.data(), work.cosine.data(), support.size());

  for (std::size_t i = 0; i < support.size(); ++i) {
    const CanonicalStep<T>& step = robot.steps[set.at(support[i])];
    const auto& P = work.steps[set.at(step.parent)];
    auto& B = work.steps[set.at(support[i])];
    T c = work.cosine[i], s = work.sine[i];
    kernel::add_quarters(step.quadrant, c, s);
    Vector3<T> r = entries::product<T>(P.R, step.p);  // from the parent's origin
    if (step.kind == Kind::revolute) {
      B.R = P.R;
      if (step.has_gamma) turn_axes(B.R, 0, 1, step.cos_gamma, step.sin_gamma);
      turn_axes(B.R, 1, 2, step.cos_alpha, step.sin_alpha);
      turn_axes(B.R, 0, 1, c, s);
      const Vector3<T> w_J = B.R.col(2) * v[step.v];
      const Vector3<T> wr = entries::cross<T>(P.w, r);
      B.w = P.w + w_J;
      B.wd = entries::add_cross<T>(P.wd, P.w, w_J);
      B.v = P.v + wr;
      B.a = entries::add_cross<T>(entries::add_cross<T>(P.a, P.wd, r), P.w, wr);
    } else {
      const StepMotion<T> m = general_step(step, P.R, q, v, c, s);
      r += m.moved;
      const Vector3<T> wr = entries::cross<T>(P.w, r);
      B.R = m.R;
      B.w = P.w + m.w_J;
      B.wd = entries::add_cross<T>(P.wd, P.w, m.w_J);
      B.v = P.v + wr + m.u;
      // Twice w x u in axes that move with the parent, and u itself turns with the joint.
      const Vector3<T> twice = P.w + B.w;
      B.a = entries::add_cross<T>(
          entries::add_cross<T>(entries::add_cross<T>(P.a, P.wd, r), P.w, wr), twice, m.u);
    }
    if (step.parent == 0) {
      if (i == 0) work.p_WO = r;
      r -= work.p_WO;
    }
    B.p = P.p + r;
    write_subspace(step, B.R, B.p, work.S.data() + step.v);
  }
}

}  // namespace limb::constraint_detail
