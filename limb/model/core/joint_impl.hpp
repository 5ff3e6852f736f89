#pragma once

#include <algorithm>

#include "limb/model/core/joint.hpp"
#include "limb/model/core/joint_jacobians_impl.hpp"

namespace limb {
namespace joint_detail {

/// Rotation by `angle` about a unit axis.
template <typename T>
Matrix3<T> rotation(const Vector3<T>& axis, const T& angle) {
  using std::cos;
  using std::sin;
  const T c = cos(angle);
  return so3::quadratic<T>(c, sin(angle), T(1) - c, axis);
}

template <typename T>
Quaternion<T> quaternion_at(const T* q) {
  return quat_xyzw<T>(q[0], q[1], q[2], q[3]);
}

template <typename T>
void write(const Quaternion<T>& quaternion, T* q) {
  for (int i = 0; i < 4; ++i) q[i] = quaternion.xyzw()[i];
}

template <typename T>
void write(const Vector3<T>& x, T* q) {
  for (int i = 0; i < 3; ++i) q[i] = x[i];
}

template <typename T>
Vector3<T> vector_at(const T* q) {
  return {q[0], q[1], q[2]};
}

/// Orthonormal x, y, n for a given n: the smallest rotation of the coordinate axes that takes z to
/// n.
template <typename T>
Matrix3<T> plane_of(const Vector3<T>& n) {
  const auto down = n[2] < T(0);
  // For n_z < 0 the rotation starts from -z, so that nothing divides by 1 + n_z = 0.
  const T s = choose(
      down, [] { return T(-1); }, [] { return T(1); });
  const T a = T(-1) / (s + n[2]), b = n[0] * n[1] * a;
  Matrix3<T> P;
  P << T(1) + s * n[0] * n[0] * a, b, n[0],  //
      s * b, s + n[1] * n[1] * a, n[1],      //
      -s * n[0], -n[1], n[2];                //
  return P;
}

}  // namespace joint_detail

template <typename T>
Joint<T>::Joint(JointType type, const Vector3<T>& axis) : type_(type), axis_(axis) {
  check_unit("Joint", "axis", axis);
  if (type == JointType::planar) plane_ = joint_detail::plane_of<T>(axis);
}

template <typename T>
Joint<T> Joint<T>::helical(const Vector3<T>& axis, const T& pitch) {
  Joint joint(JointType::helical, axis);
  joint.pitch_ = pitch;
  return joint;
}

template <typename T>
Joint<T> Joint<T>::universal(const Vector3<T>& axis, const Vector3<T>& axis2) {
  check_unit("Joint::universal", "axis2", axis2);
  Joint joint(JointType::universal, axis);
  joint.axis2_ = axis2;
  return joint;
}

template <typename T>
Joint<T> Joint<T>::make(JointType type, const Vector3<T>& axis, const Vector3<T>& axis2,
                        const T& pitch) {
  switch (type) {
    case JointType::helical:
      return helical(axis, pitch);
    case JointType::universal:
      return universal(axis, axis2);
    case JointType::fixed:
    case JointType::translation:
    case JointType::spherical:
    case JointType::free:
      return Joint(type);
    default:
      return Joint(type, axis);
  }
}

template <typename T>
template <typename U>
Joint<U> Joint<T>::cast() const {
  Joint<U> joint;
  joint.type_ = type_;
  joint.axis_ = axis_.template cast<U>();
  joint.axis2_ = axis2_.template cast<U>();
  joint.pitch_ = U(pitch_);
  joint.plane_ = plane_.template cast<U>();
  return joint;
}

template <typename T>
Pose<T> Joint<T>::pose(const T* q) const {
  using joint_detail::rotation;
  Pose<T> X;
  switch (type_) {
    case JointType::fixed:
      break;
    case JointType::revolute:
    case JointType::continuous:
      X.R = rotation(axis_, q[0]);
      break;
    case JointType::prismatic:
      X.p = axis_ * q[0];
      break;
    case JointType::helical:
      X.R = rotation(axis_, q[0]);
      X.p = axis_ * (pitch_ * q[0]);
      break;
    case JointType::cylindrical:
      X.p = axis_ * q[0];
      X.R = rotation(axis_, q[1]);
      break;
    case JointType::universal:
      X.R = rotation(axis_, q[0]) * rotation(axis2_, q[1]);
      break;
    case JointType::translation:
      X.p = joint_detail::vector_at(q);
      break;
    case JointType::planar:
      X.p = plane_.col(0) * q[0] + plane_.col(1) * q[1];
      X.R = rotation(axis_, q[2]);
      break;
    case JointType::spherical:
      X.R = to_matrix(joint_detail::quaternion_at(q));
      break;
    case JointType::free:
      X.p = joint_detail::vector_at(q);
      X.R = to_matrix(joint_detail::quaternion_at(q + 3));
      break;
  }
  return X;
}

template <typename T>
void Joint<T>::subspace(const T* q, Motion<T>* S) const {
  const Vector3<T> zero = Vector3<T>::Zero();
  switch (type_) {
    case JointType::fixed:
      break;
    case JointType::revolute:
    case JointType::continuous:
      S[0] = {zero, axis_};
      break;
    case JointType::prismatic:
      S[0] = {axis_, zero};
      break;
    case JointType::helical:
      S[0] = {axis_ * pitch_, axis_};
      break;
    case JointType::cylindrical:
      S[0] = {axis_, zero};
      S[1] = {zero, axis_};
      break;
    case JointType::universal:
      S[0] = {zero, joint_detail::rotation<T>(axis2_, -q[1]) * axis_};
      S[1] = {zero, axis2_};
      break;
    case JointType::translation:
      for (int i = 0; i < 3; ++i) S[i] = {Vector3<T>::Unit(i), zero};
      break;
    case JointType::planar:
      S[0] = {plane_.col(0), zero};
      S[1] = {plane_.col(1), zero};
      S[2] = {zero, axis_};
      break;
    case JointType::spherical:
      for (int i = 0; i < 3; ++i) S[i] = {zero, Vector3<T>::Unit(i)};
      break;
    case JointType::free:
      for (int i = 0; i < 3; ++i) {
        S[i] = {Vector3<T>::Unit(i), zero};
        S[i + 3] = {zero, Vector3<T>::Unit(i)};
      }
      break;
  }
}

template <typename T>
void Joint<T>::subspace_rate(const T* q, const T* v, Motion<T>* dS) const {
  for (int i = 0; i < nv(); ++i) dS[i] = {};
  if (subspace_is_constant()) return;
  // Seen from the child, the first axis rotates backwards about the second.
  const Vector3<T> first = joint_detail::rotation<T>(axis2_, -q[1]) * axis_;
  dS[0].w = first.cross(axis2_) * v[1];
}

template <typename T>
Motion<T> Joint<T>::velocity(const T* q, const T* v) const {
  Motion<T> S[6];
  subspace(q, S);
  Motion<T> V;
  for (int i = 0; i < nv(); ++i) V += S[i] * v[i];
  return V;
}

template <typename T>
Motion<T> Joint<T>::bias(const T* q, const T* v) const {
  Motion<T> dS[6];
  subspace_rate(q, v, dS);
  Motion<T> A;
  for (int i = 0; i < nv(); ++i) A += dS[i] * v[i];
  return A;
}

template <typename T>
void Joint<T>::neutral(T* q) const {
  for (int i = 0; i < nq(); ++i) q[i] = T(0);
  if (type_ == JointType::spherical || type_ == JointType::free) q[nq() - 1] = T(1);
}

template <typename T>
void Joint<T>::integrate(const T* q0, const T* v, T* q1) const {
  using namespace joint_detail;
  switch (type_) {
    case JointType::planar: {
      // exp on SE(2): the velocity rotates with the body, so the path is an arc.
      using std::cos;
      using std::sin;
      const auto e = angle_series::exponential<T>(v[2] * v[2]);
      const T b = e.b * v[2], dx = e.a * v[0] - b * v[1], dy = b * v[0] + e.a * v[1];
      const T c = cos(q0[2]), s = sin(q0[2]);
      const T x = q0[0] + c * dx - s * dy, y = q0[1] + s * dx + c * dy;
      q1[0] = x;
      q1[1] = y;
      q1[2] = q0[2] + v[2];
      break;
    }
    case JointType::spherical:
      write(quaternion_at(q0) * quaternion_exp<T>(vector_at(v)), q1);
      break;
    case JointType::free: {
      const Pose<T> increment = se3::exp<T>({vector_at(v), vector_at(v + 3)});
      const Quaternion<T> q = quaternion_at(q0 + 3);
      const Vector3<T> p = vector_at(q0) + q.rotate(increment.p);
      write(Quaternion<T>(q * quaternion_exp<T>(vector_at(v + 3))), q1 + 3);
      write(p, q1);
      break;
    }
    default:
      for (int i = 0; i < nv(); ++i) q1[i] = q0[i] + v[i];
  }
}

template <typename T>
void Joint<T>::difference(const T* q0, const T* q1, T* v) const {
  using namespace joint_detail;
  switch (type_) {
    case JointType::planar: {
      // log on SE(2), the inverse of the arc above: the 2 x 2 matrix [a -b; b a] inverted.
      using std::cos;
      using std::sin;
      const T w = q1[2] - q0[2];
      const auto e = angle_series::exponential<T>(w * w);
      const T b = e.b * w, inverse = T(1) / (e.a * e.a + b * b);
      const T c = cos(q0[2]), s = sin(q0[2]);
      const T px = q1[0] - q0[0], py = q1[1] - q0[1];
      const T dx = c * px + s * py, dy = c * py - s * px;
      v[0] = (e.a * dx + b * dy) * inverse;
      v[1] = (e.a * dy - b * dx) * inverse;
      v[2] = w;
      break;
    }
    case JointType::spherical:
      write<T>(quaternion_log<T>(quaternion_at(q0).conjugate() * quaternion_at(q1)), v);
      break;
    case JointType::free: {
      const Quaternion<T> r0 = quaternion_at(q0 + 3);
      const Quaternion<T> q_rel = r0.conjugate() * quaternion_at(q1 + 3);
      const Vector3<T> w = quaternion_log<T>(q_rel);
      const Vector3<T> p = r0.conjugate().rotate(vector_at(q1) - vector_at(q0));
      write<T>(so3::left_jacobian_inverse<T>(w) * p, v);
      write<T>(w, v + 3);
      break;
    }
    default:
      for (int i = 0; i < nv(); ++i) v[i] = q1[i] - q0[i];
  }
}

template <typename T>
void Joint<T>::normalize(T* q) const {
  using std::sqrt;
  if (type_ != JointType::spherical && type_ != JointType::free) return;
  T* x = q + nq() - 4;
  const T scale = T(1) / sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
  for (int i = 0; i < 4; ++i) x[i] = x[i] * scale;
}

template <typename T>
void Joint<T>::random_configuration(std::mt19937_64& engine, const double* lower,
                                    const double* upper, T* q) const requires Real<T> {
  const auto sample = [&](int i, double default_bound) {
    const double low = std::isfinite(lower[i]) ? lower[i] : -default_bound;
    const double high = std::isfinite(upper[i]) ? upper[i] : std::max(low, default_bound);
    return T(std::uniform_real_distribution<double>(std::min(low, high), high)(engine));
  };
  const bool has_quaternion = type_ == JointType::spherical || type_ == JointType::free;
  if (has_quaternion) {
    // A normalized vector of four normal numbers is uniform over all orientations.
    std::normal_distribution<double> normal;
    T* x = q + nq() - 4;
    for (int i = 0; i < 4; ++i) x[i] = T(normal(engine));
    normalize(q);
    if (type_ == JointType::free) {
      for (int i = 0; i < 3; ++i) q[i] = sample(i, 1.0);
    }
    return;
  }
  for (int i = 0; i < nv(); ++i) {
    const bool linear = type_ == JointType::prismatic || type_ == JointType::translation ||
                        (type_ == JointType::cylindrical && i == 0) ||
                        (type_ == JointType::planar && i < 2);
    q[i] = sample(i, linear ? 1.0 : 3.14159);
  }
}

}  // namespace limb
