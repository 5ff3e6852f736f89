#pragma once

#include <ostream>

#include "limb/math/so3.hpp"

/// Spatial vectors and poses, linear before angular. Motion and Force are different types: V + F,
/// cross(F, V) and dot(V, V) do not compile, and a change of frame uses the transform of its type
/// (the dual one for forces).
namespace limb {

/// Spatial velocity or acceleration: linear v (m/s) of the frame origin, angular w (rad/s).
template <typename T>
struct Motion {
  Vector3<T> v = Vector3<T>::Zero();
  Vector3<T> w = Vector3<T>::Zero();

  static Motion from_vector(const Vector6<T>& x) {
    return {x.template head<3>(), x.template tail<3>()};
  }
  Vector6<T> vector() const { return stack(v, w); }
  template <typename U>
  Motion<U> cast() const {
    return {v.template cast<U>(), w.template cast<U>()};
  }

  Motion operator-() const { return {-v, -w}; }
  Motion operator+(const Motion& o) const { return {v + o.v, w + o.w}; }
  Motion operator-(const Motion& o) const { return {v - o.v, w - o.w}; }
  Motion operator*(const T& s) const { return {v * s, w * s}; }
  friend Motion operator*(const T& s, const Motion& V) { return V * s; }
  Motion& operator+=(const Motion& o) {
    v += o.v;
    w += o.w;
    return *this;
  }
};

/// Wrench or momentum: force f (N), moment n (N m) about the frame origin.
template <typename T>
struct Force {
  Vector3<T> f = Vector3<T>::Zero();
  Vector3<T> n = Vector3<T>::Zero();

  static Force from_vector(const Vector6<T>& x) {
    return {x.template head<3>(), x.template tail<3>()};
  }
  Vector6<T> vector() const { return stack(f, n); }
  template <typename U>
  Force<U> cast() const {
    return {f.template cast<U>(), n.template cast<U>()};
  }

  Force operator-() const { return {-f, -n}; }
  Force operator+(const Force& o) const { return {f + o.f, n + o.n}; }
  Force operator-(const Force& o) const { return {f - o.f, n - o.n}; }
  Force operator*(const T& s) const { return {f * s, n * s}; }
  friend Force operator*(const T& s, const Force& F) { return F * s; }
  Force& operator+=(const Force& o) {
    f += o.f;
    n += o.n;
    return *this;
  }
};

template <typename T>
std::ostream& operator<<(std::ostream& out, const Motion<T>& V) {
  return out << "Motion(v = " << V.v.transpose() << ", w = " << V.w.transpose() << ")";
}
template <typename T>
std::ostream& operator<<(std::ostream& out, const Force<T>& F) {
  return out << "Force(f = " << F.f.transpose() << ", n = " << F.n.transpose() << ")";
}

/// Lie bracket V x U: the rate of change of a motion U that is fixed in a frame moving with V.
template <typename T>
Motion<T> cross(const Motion<T>& V, const Motion<T>& U) {
  return {small_products::add_cross<T>(V.w.cross(U.v), V.v, U.w), V.w.cross(U.w)};
}

/// V x* F: the rate of change of a force F that is fixed in a frame moving with V.
template <typename T>
Force<T> cross(const Motion<T>& V, const Force<T>& F) {
  return {V.w.cross(F.f), small_products::add_cross<T>(V.w.cross(F.n), V.v, F.f)};
}

/// Power of the force F on the motion V (W); the same in every frame.
template <typename T>
T dot(const Motion<T>& V, const Force<T>& F) {
  return V.v.dot(F.f) + V.w.dot(F.n);
}
template <typename T>
T dot(const Force<T>& F, const Motion<T>& V) {
  return dot(V, F);
}

/// ad(V) U = V x U as a 6 x 6 matrix, rows and columns (linear, angular).
template <typename T>
Matrix6<T> ad(const Motion<T>& V) {
  return blocks<T>(skew(V.w), skew(V.v), Matrix3<T>::Zero(), skew(V.w));
}

/// ad_dual(V) F = V x* F; equal to -ad(V)^T.
template <typename T>
Matrix6<T> ad_dual(const Motion<T>& V) {
  return -ad(V).transpose();
}

/// Pose X_AB of a frame B in A: p_A = R p_B + p. Poses compose as X_AC = X_AB * X_BC.
template <typename T>
struct Pose {
  Matrix3<T> R = Matrix3<T>::Identity();
  Vector3<T> p = Vector3<T>::Zero();

  static Pose identity() { return {}; }
  static Pose from_quaternion(const Quaternion<T>& q_AB, const Vector3<T>& p_AB) {
    return {to_matrix(q_AB), p_AB};
  }
  /// From a homogeneous 4 x 4 matrix. @throws Error unless it is [R p; 0 0 0 1] with a rotation R.
  static Pose from_matrix(const Matrix4<T>& X);

  Matrix4<T> matrix() const {
    Matrix4<T> X = Matrix4<T>::Identity();
    X.template topLeftCorner<3, 3>() = R;
    X.template topRightCorner<3, 1>() = p;
    return X;
  }
  template <typename U>
  Pose<U> cast() const {
    return {R.template cast<U>(), p.template cast<U>()};
  }

  Pose inverse() const { return {R.transpose(), -small_products::transpose_product<T>(R, p)}; }
  Pose operator*(const Pose& X) const { return {R * X.R, *this * X.p}; }
  Vector3<T> operator*(const Vector3<T>& x) const { return small_products::affine<T>(R, x, p); }

  /// Motion from axes and origin of B to those of A: Ad(X_AB) V_B.
  Motion<T> act(const Motion<T>& V) const {
    Motion<T> V_A{Vector3<T>(), Vector3<T>()};
    small_products::change_frame<T>(R, p, V.w, V.v, V_A.w, V_A.v);
    return V_A;
  }
  /// Motion from A to B, without forming the inverse.
  Motion<T> inv_act(const Motion<T>& V) const {
    return {small_products::transpose_product<T>(R, small_products::add_cross<T>(V.v, V.w, p)),
            small_products::transpose_product<T>(R, V.w)};
  }
  /// Wrench from axes and origin of B to those of A: the dual adjoint.
  Force<T> act(const Force<T>& F) const {
    Force<T> F_A{Vector3<T>(), Vector3<T>()};
    small_products::change_frame<T>(R, p, F.f, F.n, F_A.f, F_A.n);
    return F_A;
  }
  /// Wrench from A to B.
  Force<T> inv_act(const Force<T>& F) const {
    return {small_products::transpose_product<T>(R, F.f),
            small_products::transpose_product<T>(R, small_products::add_cross<T>(F.n, F.f, p))};
  }

  /// Ad(X) with X.act(V) = Ad(X) V, rows and columns (linear, angular).
  Matrix6<T> adjoint() const { return blocks<T>(R, skew(p) * R, Matrix3<T>::Zero(), R); }
  /// Ad*(X) with X.act(F) = Ad*(X) F; equal to Ad(X^-1)^T.
  Matrix6<T> dual_adjoint() const { return blocks<T>(R, Matrix3<T>::Zero(), skew(p) * R, R); }
};

template <typename T>
std::ostream& operator<<(std::ostream& out, const Pose<T>& X) {
  return out << "Pose(R = [" << X.R.row(0) << "; " << X.R.row(1) << "; " << X.R.row(2)
             << "], p = " << X.p.transpose() << ")";
}

template <typename T>
Pose<T> Pose<T>::from_matrix(const Matrix4<T>& X) {
  if constexpr (Real<T>) {
    check_finite("Pose::from_matrix", "X", X);
    const Vector4<T> last = X.row(3);
    if (last != Vector4<T>(0, 0, 0, 1)) {
      fail("Pose::from_matrix", "last row of X", to_text(last), "[0, 0, 0, 1]");
    }
    check_rotation<T>("Pose::from_matrix", "R of X", X.template topLeftCorner<3, 3>());
  }
  return {X.template topLeftCorner<3, 3>(), X.template topRightCorner<3, 1>()};
}

}  // namespace limb
