#pragma once

#include <numbers>

#include "limb/math/euler_sequence.hpp"
#include "limb/math/so3.hpp"

/// Euler angles of any sequence, to and from matrices and quaternions, with gimbal lock reported.
///
/// Angles are in the order of the letters of the sequence. Extracted angles are in
///
///   first and third   (-pi, pi]
///   middle            [-pi/2, pi/2] (Tait-Bryan)   or   [0, pi] (proper Euler)
///
/// Gimbal lock. The axis of the middle angle is always perpendicular to the other two; where the
/// middle angle reaches an end of its range, the first and the third axis are collinear. Only two
/// axes align, never all three: the rates still span a plane (rank 2), and only the sum or the
/// difference of first and third angle is determined by the rotation. By convention the THIRD angle
/// is then 0 (the last letter, intrinsic or extrinsic: roll of "ZYX", yaw of "xyz") and the middle
/// angle exactly the end of its range. The angles still reproduce the rotation.
namespace limb {

/// Distance to gimbal lock, in eps, at which the split between first and third angle is considered
/// undetermined. A rotation built exactly at lock is up to 0.8 eps away by rounding (measured for
/// all sequences, double and float); 8 includes every such rotation, and setting the angle to 0
/// there changes the rotation by at most 8 eps.
inline constexpr int kEulerLockEps = 8;

/// Distance to gimbal lock and the direction that is lost there.
template <typename T>
struct EulerLock {
  T distance;  ///< rad from the middle angle to the nearest singular one, 0 to pi/2
  T measure;   ///< |cos| (Tait-Bryan) or |sin| (proper) of the middle angle, 0 at lock
  decltype(std::declval<T>() < std::declval<T>()) locked;  ///< distance < kEulerLockEps * eps
  /// Unit vector in world axes: at lock the direction about which no rates can rotate the body,
  /// near lock the one that needs the highest rates, 1 / (sqrt(2) sin(distance/2)) per rad/s. Valid
  /// for the returned angles, as at lock it depends on the choice of the third angle.
  Vector3<T> lost_direction;
};

template <typename T>
struct EulerAngles {
  Vector3<T> angles;  ///< rad, in the order of the letters
  EulerLock<T> lock;
};

namespace euler_detail {

/// The sequence as an intrinsic one: rotations about axes i, j, then i (proper) or k (Tait-Bryan).
struct AxisOrder {
  int i, j, k;  ///< k is the remaining axis
  int sign;     ///< e_i x e_j = sign e_k
};

constexpr AxisOrder axis_order(const EulerSequence& s) {
  const int i = s.axis(s.is_intrinsic() ? 0 : 2), j = s.axis(1);
  return {i, j, 3 - i - j, (j - i + 3) % 3 == 1 ? 1 : -1};
}

/// From (-2 pi, 2 pi] to (-pi, pi].
template <typename T>
T wrap(const T& t) {
  constexpr double pi = std::numbers::pi;
  return choose(
      T(pi) < t, [&] { return T(t - T(2 * pi)); },
      [&] {
        return choose(
            T(-pi) < t, [&] { return t; }, [&] { return T(t + T(2 * pi)); });
      });
}

/// Angles of the quaternion q, of any nonzero length. [Bernardes & Viollet 2022]
///
/// For a proper sequence q_i(t1) q_j(t2) q_i(t3), in components along 1, e_i, e_j, e_k,
///
///   a + b i = cos(t2/2) (cos p + sin p i)    p = (t1 + t3)/2
///   c + d i = sin(t2/2) (cos m + sin m i)    m = (t1 - t3)/2, d = sign q_k
///
/// so each angle comes from one atan2, t2 from the two lengths: no arccosine, hence an error of eps
/// and not of sqrt(eps) near lock. A Tait-Bryan sequence becomes a proper one by a further quarter
/// turn about e_j: t2 + pi/2 replaces t2, -sign t3 replaces t3.
template <typename T>
EulerAngles<T> extract(const EulerSequence& sequence, const Quaternion<T>& q) {
  using std::atan2;
  using std::cos;
  using std::sin;
  using std::sqrt;
  const auto [i, j, k, sign] = axis_order(sequence);
  const T pi = T(std::numbers::pi), e = T(sign);
  const T w = q.w(), x = q.vec()[i], y = q.vec()[j], z = e * q.vec()[k];
  const bool proper = sequence.is_proper();
  const T a = proper ? w : T(w - y), b = proper ? x : T(x - z);
  const T c = proper ? y : T(y + w), d = proper ? z : T(z + x);

  const T ab = a * a + b * b, cd = c * c + d * d;
  const T cos_half = sqrt(ab / (ab + cd)), sin_half = sqrt(cd / (ab + cd));
  const auto near_zero = sin_half < cos_half;  // nearest singular t2: 0, else pi
  const T small = choose(
      near_zero, [&] { return sin_half; }, [&] { return cos_half; });
  const T large = choose(
      near_zero, [&] { return cos_half; }, [&] { return sin_half; });
  const T distance = T(2) * atan2(small, large);
  const auto locked = distance < T(kEulerLockEps) * epsilon<T>();

  // At lock one of p, m is noise; the other determines the angle that is not set to 0.
  const T p = atan2(b, a), m = atan2(d, c);
  const T branch = T(sequence.is_intrinsic() ? 1 : -1);
  const T p_locked = choose(
      near_zero, [&] { return p; }, [&] { return T(branch * m); });
  const T m_locked = choose(
      near_zero, [&] { return T(branch * p); }, [&] { return m; });
  const T half_sum = choose(
      locked, [&] { return p_locked; }, [&] { return p; });
  const T half_difference = choose(
      locked, [&] { return m_locked; }, [&] { return m; });
  const T to_lock = choose(
      locked, [&] { return T(0); }, [&] { return distance; });
  T t2 = choose(
      near_zero, [&] { return to_lock; }, [&] { return T(pi - to_lock); });
  const T t1 = wrap<T>(half_sum + half_difference);
  T t3 = half_sum - half_difference;
  if (!proper) {
    t2 = t2 - pi / T(2);
    t3 = -e * t3;
  }
  t3 = wrap<T>(t3);

  // The axes of t1 and t3 enclose the angle `distance`; the least reachable direction lies in their
  // plane, perpendicular to the mean of the two.
  const T along_i = choose(
      near_zero, [&] { return T(e * sin_half); }, [&] { return cos_half; });
  const T along_k = choose(
      near_zero, [&] { return cos_half; }, [&] { return T(-e * sin_half); });
  Vector3<T> lost;
  lost[i] = along_i;
  lost[j] = -e * sin(t1) * along_k;
  lost[k] = cos(t1) * along_k;

  const Vector3<T> angles =
      sequence.is_intrinsic() ? Vector3<T>(t1, t2, t3) : Vector3<T>(t3, t2, t1);
  return {angles, {distance, T(2) * small * large, locked, lost}};
}

}  // namespace euler_detail

/// R_AB from Euler angles: the product of three axis rotations, in the order of the letters
/// (intrinsic) or in reverse (extrinsic). @throws Error if an angle is not finite.
template <typename T>
Matrix3<T> euler_to_matrix(const EulerSequence& sequence, const Vector3<T>& angles) {
  using std::cos;
  using std::sin;
  check_finite("euler_to_matrix", "angles", angles);
  Matrix3<T> R = Matrix3<T>::Identity();
  for (int n = 0; n < 3; ++n) {
    const int which = sequence.is_intrinsic() ? n : 2 - n;
    const int axis = sequence.axis(which), j = (axis + 1) % 3, k = (axis + 2) % 3;
    const T c = cos(angles[which]), s = sin(angles[which]);
    // Multiplication from the right changes two columns and leaves the third.
    const Vector3<T> Rj = R.col(j), Rk = R.col(k);
    R.col(j) = c * Rj + s * Rk;
    R.col(k) = c * Rk - s * Rj;
  }
  return R;
}

/// q_AB from Euler angles. @throws Error if an angle is not finite.
template <typename T>
Quaternion<T> euler_to_quaternion(const EulerSequence& sequence, const Vector3<T>& angles) {
  check_finite("euler_to_quaternion", "angles", angles);
  Quaternion<T> q;
  for (int n = 0; n < 3; ++n) {
    const int which = sequence.is_intrinsic() ? n : 2 - n;
    q = q * quaternion_from_axis_angle<T>(Vector3<T>::Unit(sequence.axis(which)), angles[which]);
  }
  return q;
}

/// Euler angles of a unit quaternion; q and -q give the same. For ranges and lock see the top of
/// this file. @throws Error if q is not finite or not of unit length.
template <typename T>
EulerAngles<T> euler_from_quaternion(const EulerSequence& sequence, const Quaternion<T>& q_AB) {
  check_unit("euler_from_quaternion", "q_AB", q_AB.xyzw());
  return euler_detail::extract(sequence, q_AB);
}

/// Euler angles of a rotation matrix. For ranges and lock see the top of this file.
/// @throws Error if R_AB is not a rotation.
template <typename T>
EulerAngles<T> euler_from_matrix(const EulerSequence& sequence, const Matrix3<T>& R_AB) {
  check_rotation("euler_from_matrix", "R_AB", R_AB);
  return euler_detail::extract(sequence, quaternion_from_matrix(R_AB));
}

/// Roll, pitch, yaw: extrinsic "xyz", R = Rz(yaw) Ry(pitch) Rx(roll); the rpy of URDF.
template <typename T>
Matrix3<T> rpy_to_matrix(const T& roll, const T& pitch, const T& yaw) {
  check_finite("rpy_to_matrix", "(roll, pitch, yaw)", Vector3<T>(roll, pitch, yaw));
  return euler_to_matrix(EulerSequence("xyz"), Vector3<T>(roll, pitch, yaw));
}

/// (roll, pitch, yaw) and the distance of pitch from +-90 degrees; at lock yaw is 0.
/// @throws Error if R_AB is not a rotation.
template <typename T>
EulerAngles<T> matrix_to_rpy(const Matrix3<T>& R_AB) {
  check_rotation("matrix_to_rpy", "R_AB", R_AB);
  return euler_detail::extract(EulerSequence("xyz"), quaternion_from_matrix(R_AB));
}

}  // namespace limb
