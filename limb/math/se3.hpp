#pragma once

#include "limb/math/spatial.hpp"

/// Exponential map of rigid motions. The coordinates V = (v, w) are a twist applied for unit time;
/// perturbations act on the right, X exp(dV).
namespace limb::se3 {

/// X = exp(V): R = exp(w), p = J_left(w) v.
template <typename T>
Pose<T> exp(const Motion<T>& V) {
  const auto e = angle_series::exponential<T>(V.w.squaredNorm());
  const Vector3<T> wv = small_products::cross<T>(V.w, V.v), wwv = small_products::cross<T>(V.w, wv);
  return {so3::quadratic<T>(e.cos, e.a, e.b, V.w), V.v + e.b * wv + e.c * wwv};
}

/// The twist V with exp(V) = X and |w| at most pi.
template <typename T>
Motion<T> log(const Pose<T>& X) {
  const Vector3<T> w = so3::log(X.R);
  const Vector3<T> wp = small_products::cross<T>(w, X.p), wwp = small_products::cross<T>(w, wp);
  const T d = angle_series::inverse_jacobian<T>(w.squaredNorm());
  return {X.p - T(0.5) * wp + d * wwp, w};
}

/// Upper right block Q(V) of the left Jacobian. [Barfoot 2017, Jacobians of SE(3)]
template <typename T>
Matrix3<T> left_jacobian_coupling(const Motion<T>& V) {
  const T x = V.w.squaredNorm();
  const T c = angle_series::exponential<T>(x).c;
  const auto [d, e] = angle_series::coupling<T>(x);
  const Matrix3<T> W = skew(V.w), U = skew(V.v);
  const Matrix3<T> WU = W * U, UW = U * W, WUW = WU * W;
  return T(0.5) * U + c * (WU + UW + WUW) + d * (W * WU + UW * W - T(3) * WUW) +
         e * (WUW * W + W * WUW);
}

/// J with exp(V + dV) = exp(J dV) exp(V) to first order.
template <typename T>
Matrix6<T> left_jacobian(const Motion<T>& V) {
  const Matrix3<T> Jw = so3::left_jacobian(V.w);
  return blocks<T>(Jw, left_jacobian_coupling(V), Matrix3<T>::Zero(), Jw);
}

/// J with exp(V + dV) = exp(V) exp(J dV) to first order.
template <typename T>
Matrix6<T> right_jacobian(const Motion<T>& V) {
  return left_jacobian<T>(-V);
}

/// Inverse of left_jacobian, |w| < 2 pi.
template <typename T>
Matrix6<T> left_jacobian_inverse(const Motion<T>& V) {
  const Matrix3<T> K = so3::left_jacobian_inverse(V.w);
  return blocks<T>(K, -K * left_jacobian_coupling(V) * K, Matrix3<T>::Zero(), K);
}

/// Inverse of right_jacobian, |w| < 2 pi.
template <typename T>
Matrix6<T> right_jacobian_inverse(const Motion<T>& V) {
  return left_jacobian_inverse<T>(-V);
}

/// Screw motion from X0 (t = 0) to X1 (t = 1): X0 exp(t log(X0^-1 X1)), constant body twist.
template <typename T>
Pose<T> interpolate(const Pose<T>& X0, const Pose<T>& X1, const T& t) {
  if constexpr (Real<T>) check_finite("se3::interpolate", "t", double(t));
  return X0 * exp<T>(log<T>(X0.inverse() * X1) * t);
}

}  // namespace limb::se3
