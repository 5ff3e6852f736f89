#pragma once

#include "limb/math/quaternion.hpp"
#include "limb/math/small_products.hpp"

/// Rotation matrices. R_AB is the orientation of B in A: p_A = R_AB p_B, columns = axes of B in A.
/// A rotation vector w = axis * angle; perturbations act on the right, R exp(dw).
namespace limb {

/// [w] with [w] p = w x p.
template <typename T>
Matrix3<T> skew(const Vector3<T>& w) {
  Matrix3<T> W;
  W << T(0), -w[2], w[1],  //
      w[2], T(0), -w[0],   //
      -w[1], w[0], T(0);   //
  return W;
}

/// w of the skew part (W - W^T)/2.
template <typename T>
Vector3<T> unskew(const Matrix3<T>& W) {
  return Vector3<T>(W(2, 1) - W(1, 2), W(0, 2) - W(2, 0), W(1, 0) - W(0, 1)) / T(2);
}

/// Rotation about coordinate axis 0, 1 or 2 (x, y, z) by the angle with cosine c and sine s.
template <typename T>
Matrix3<T> axis_rotation(int axis, const T& c, const T& s) {
  const int j = (axis + 1) % 3, k = (axis + 2) % 3;
  Matrix3<T> R = Matrix3<T>::Identity();
  R(j, j) = c;
  R(j, k) = -s;
  R(k, j) = s;
  R(k, k) = c;
  return R;
}

/// Rotation by `angle` about coordinate axis 0, 1 or 2 (x, y, z).
template <typename T>
Matrix3<T> axis_rotation(int axis, const T& angle) {
  using std::cos;
  using std::sin;
  return axis_rotation<T>(axis, cos(angle), sin(angle));
}

/// Deviation of a matrix from a rotation.
template <typename T>
struct RotationError {
  T orthogonality;  ///< largest entry of |R^T R - 1|; NaN if an entry is
  T determinant;    ///< det R - 1; about -2 for a reflection
};

template <Real T>
RotationError<T> rotation_error(const Matrix3<T>& R) {
  const auto column = [&R](int k) { return Vector3<T>(R(0, k), R(1, k), R(2, k)); };
  const Vector3<T> x = column(0), y = column(1), z = column(2);
  T largest(0);
  for (const T& entry : {T(x.dot(x) - T(1)), T(y.dot(y) - T(1)), T(z.dot(z) - T(1)), T(x.dot(y)),
                         T(x.dot(z)), T(y.dot(z))}) {
    if (std::abs(entry) <= largest) continue;
    largest = std::abs(entry);
    if (std::isnan(largest)) break;
  }
  return {largest, x.dot(small_products::cross<T>(y, z)) - T(1)};
}

/// R^T R = 1 and det R = +1, each within the tolerance. False for NaN.
template <Real T>
bool is_rotation(const Matrix3<T>& R, T tolerance = T(64) * epsilon<T>()) {
  const auto [orthogonality, determinant] = rotation_error(R);
  return orthogonality <= tolerance && std::abs(determinant) <= tolerance;
}

/// Throws the error for a matrix that is not finite or not a rotation.
[[noreturn]] void fail_rotation(std::string_view call, std::string_view argument,
                                const MatrixView& R, double orthogonality, double determinant);

/// @throws Error with the deviation if R is not a rotation.
template <typename T>
void check_rotation(std::string_view call, std::string_view argument, const Matrix3<T>& R,
                    std::type_identity_t<T> tolerance = T(64) * epsilon<T>()) {
  if constexpr (Real<T>) {
    if (is_rotation(R, tolerance)) return;
    const auto [orthogonality, determinant] = rotation_error(R);
    fail_rotation(call, argument, MatrixView(R), double(orthogonality), double(determinant + T(1)));
  }
}

/// The rotation nearest to A in the Frobenius norm. [Higham 1989, nearest orthogonal matrix]
/// @throws Error if A is not finite or has rank below 2, where the nearest rotation is not unique.
template <Real T>
Matrix3<T> nearest_rotation(const Matrix3<T>& A);
extern template Matrix3<double> nearest_rotation(const Matrix3<double>&);
extern template Matrix3<float> nearest_rotation(const Matrix3<float>&);

/// One Newton step towards the nearest rotation, R (3 - R^T R)/2: squares the error of a matrix
/// that is nearly a rotation. For any scalar; cheap enough for every integration step.
template <typename T>
Matrix3<T> renormalize(const Matrix3<T>& R) {
  return R * (T(1.5) * Matrix3<T>::Identity() - T(0.5) * (R.transpose() * R));
}

namespace so3 {

/// d + b [w] + c w w^T. With d = 1 - c |w|^2 this is 1 + b [w] + c [w]^2, the form that the
/// exponential and its Jacobians share.
template <typename T>
Matrix3<T> quadratic(const T& d, const T& b, const T& c, const Vector3<T>& w) {
  const T cx = c * w[0], cy = c * w[1], cz = c * w[2];
  const T bx = b * w[0], by = b * w[1], bz = b * w[2];
  const T xy = cx * w[1], xz = cx * w[2], yz = cy * w[2];
  Matrix3<T> M;
  M << d + cx * w[0], xy - bz, xz + by,  //
      xy + bz, d + cy * w[1], yz - bx,   //
      xz - by, yz + bx, d + cz * w[2];   //
  return M;
}

/// Rodrigues: R = 1 + sin(t)/t [w] + (1 - cos(t))/t^2 [w]^2, t = |w|.
template <typename T>
Matrix3<T> exp(const Vector3<T>& w) {
  const auto e = angle_series::exponential<T>(w.squaredNorm());
  return quadratic<T>(e.cos, e.a, e.b, w);
}

/// Rotation vector of R, of length at most pi; accurate at 0 and at pi. At exactly half a turn w
/// and -w are the same rotation and rounding in R decides the sign.
template <typename T>
Vector3<T> log(const Matrix3<T>& R) {
  return quaternion_log(quaternion_from_matrix(R));
}

/// J with exp(w + dw) = exp(J dw) exp(w) to first order.
template <typename T>
Matrix3<T> left_jacobian(const Vector3<T>& w) {
  const auto e = angle_series::exponential<T>(w.squaredNorm());
  return quadratic<T>(e.a, e.b, e.c, w);
}

/// J with exp(w + dw) = exp(w) exp(J dw) to first order; the transpose of the left one.
template <typename T>
Matrix3<T> right_jacobian(const Vector3<T>& w) {
  return left_jacobian<T>(-w);
}

/// Inverse of left_jacobian, |w| < 2 pi.
template <typename T>
Matrix3<T> left_jacobian_inverse(const Vector3<T>& w) {
  const T x = w.squaredNorm(), d = angle_series::inverse_jacobian<T>(x);
  return quadratic<T>(T(1) - d * x, T(-0.5), d, w);
}

/// Inverse of right_jacobian, |w| < 2 pi.
template <typename T>
Matrix3<T> right_jacobian_inverse(const Vector3<T>& w) {
  return left_jacobian_inverse<T>(-w);
}

/// Geodesic from R0 (t = 0) to R1 (t = 1): R0 exp(t log(R0^T R1)), constant angular velocity.
template <typename T>
Matrix3<T> interpolate(const Matrix3<T>& R0, const Matrix3<T>& R1, const T& t) {
  if constexpr (Real<T>) check_finite("so3::interpolate", "t", double(t));
  return R0 * exp<T>(t * log<T>(R0.transpose() * R1));
}

}  // namespace so3
}  // namespace limb
