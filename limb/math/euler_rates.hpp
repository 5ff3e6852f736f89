#pragma once

#include "limb/math/euler.hpp"

/// Conversion between Euler angle rates and angular velocity, for all 24 sequences.
///
/// Column n of a rate matrix is the axis about which angle n rotates the body, so
///
///   w_AB = E rates (world axes)    w_AB_B = E_B rates (body axes)    E = R_AB E_B
///
/// det E = +-measure of EulerLock; at gimbal lock E has rank 2 and no inverse.
namespace limb {

namespace euler_detail {

/// v rotated by the angle with cosine c and sine s about coordinate axis `axis`.
template <typename T>
Vector3<T> rotated(const Vector3<T>& v, int axis, const T& c, const T& s) {
  const int j = (axis + 1) % 3, k = (axis + 2) % 3;
  Vector3<T> r = v;
  r[j] = c * v[j] - s * v[k];
  r[k] = s * v[j] + c * v[k];
  return r;
}

/// Columns: the axes of the three angles, in the frame at the end of the rotation chain where angle
/// `near` acts (0 or 2); `sign` is +1 along the rotations, -1 against them.
template <typename T>
Matrix3<T> rate_matrix(const EulerSequence& sequence, const Vector3<T>& angles, int near,
                       int sign) {
  using std::cos;
  using std::sin;
  const int far = 2 - near;
  const T c1 = cos(angles[near]), s1 = T(sign) * sin(angles[near]);
  const T c2 = cos(angles[1]), s2 = T(sign) * sin(angles[1]);
  const Vector3<T> u = rotated<T>(Vector3<T>::Unit(sequence.axis(far)), sequence.axis(1), c2, s2);
  Matrix3<T> E;
  E.col(near) = Vector3<T>::Unit(sequence.axis(near));
  E.col(1) = rotated<T>(Vector3<T>::Unit(sequence.axis(1)), sequence.axis(near), c1, s1);
  E.col(far) = rotated<T>(u, sequence.axis(near), c1, s1);
  return E;
}

/// Inverse by the dual basis; the middle axis is perpendicular to the others, hence its own dual.
template <typename T>
Matrix3<T> rate_inverse(const Matrix3<T>& E) {
  const Vector3<T> first = E.col(1).cross(E.col(2)), third = E.col(0).cross(E.col(1));
  const T determinant = first.dot(E.col(0));
  Matrix3<T> inverse;
  inverse.row(0) = first.transpose() / determinant;
  inverse.row(1) = E.col(1).transpose();
  inverse.row(2) = third.transpose() / determinant;
  return inverse;
}

}  // namespace euler_detail

/// Distance in rad from the middle angle (any value) to the nearest gimbal lock.
template <typename T>
T euler_lock_distance(const EulerSequence& sequence, const T& middle) {
  using std::atan2;
  using std::cos;
  using std::sin;
  using std::sqrt;
  const T c = cos(middle), s = sin(middle);
  const T abs_c = sqrt(c * c), abs_s = sqrt(s * s);
  return sequence.is_proper() ? T(atan2(abs_s, abs_c)) : T(atan2(abs_c, abs_s));
}

/// @throws Error of kind computation_failed, with the distance, if the angles are locked.
template <typename T>
void check_not_locked(std::string_view call, const EulerSequence& sequence,
                      const Vector3<T>& angles) {
  if constexpr (Real<T>) {
    check_finite(call, "angles", angles);
    const T distance = euler_lock_distance(sequence, angles[1]);
    const T least = T(kEulerLockEps) * epsilon<T>();
    if (!(distance < least)) return;
    fail_computation(call, "angles " + to_text(angles) + " of " + to_text(sequence) + " are " +
                               to_text(double(distance)) + " rad from gimbal lock, expected " +
                               to_text(double(least)) +
                               " or more (first and third axis are collinear, so one direction of "
                               "angular velocity needs infinite rates)");
  }
}

/// E with w_AB = E rates, in world axes. @throws Error if an angle is not finite.
template <typename T>
Matrix3<T> euler_rate_matrix(const EulerSequence& sequence, const Vector3<T>& angles) {
  check_finite("euler_rate_matrix", "angles", angles);
  return euler_detail::rate_matrix<T>(sequence, angles, sequence.is_intrinsic() ? 0 : 2, 1);
}

/// E_B with w_AB_B = E_B rates, in body axes. @throws Error if an angle is not finite.
template <typename T>
Matrix3<T> euler_rate_matrix_body(const EulerSequence& sequence, const Vector3<T>& angles) {
  check_finite("euler_rate_matrix_body", "angles", angles);
  return euler_detail::rate_matrix<T>(sequence, angles, sequence.is_intrinsic() ? 2 : 0, -1);
}

/// K with rates = K w_AB, w_AB in world axes. @throws Error if an angle is not finite or the
/// angles are locked, with the distance.
template <typename T>
Matrix3<T> euler_rate_inverse(const EulerSequence& sequence, const Vector3<T>& angles) {
  check_not_locked("euler_rate_inverse", sequence, angles);
  return euler_detail::rate_inverse<T>(euler_rate_matrix(sequence, angles));
}

/// K_B with rates = K_B w_AB_B, w_AB_B in body axes. @throws Error as euler_rate_inverse.
template <typename T>
Matrix3<T> euler_rate_inverse_body(const EulerSequence& sequence, const Vector3<T>& angles) {
  check_not_locked("euler_rate_inverse_body", sequence, angles);
  return euler_detail::rate_inverse<T>(euler_rate_matrix_body(sequence, angles));
}

}  // namespace limb
