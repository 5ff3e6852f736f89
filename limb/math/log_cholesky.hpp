#pragma once

#include <cmath>

#include "limb/math/inertia_consistency.hpp"
#include "limb/math/inertial_parameters.hpp"

/// Ten unconstrained numbers for the inertia of a body.   [Rucker & Wensing 2022, log-Cholesky]
///
///   theta = (alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3)        in this order
///
///                                 [ exp(d1)  s12      s13      t1 ]
///   J = U U^T,  U = exp(alpha) *  [ 0        exp(d2)  s23      t2 ]    J = pseudo_inertia(I)
///                                 [ 0        0        exp(d3)  t3 ]
///                                 [ 0        0        0        1  ]
///
/// Every theta is the inertia of a solid body and every solid body has exactly one theta, so an
/// optimizer needs no constraints. The mass is exp(2 alpha), t is the mass centre, d and s are the
/// shape.
namespace limb {

/// The inertia of theta. The scalar must support exp besides + - * /.
/// @throws Error if a number is not finite, or so large that the inertia is not.
template <typename T>
Inertia<T> inertia_from_log_cholesky(const Vector10<T>& theta) {
  using std::exp;
  check_finite("inertia_from_log_cholesky", "theta", theta);
  const T zero(0);
  Matrix3<T> U;                            // shape only: S_com = m U U^T
  U << exp(theta[1]), theta[4], theta[6],  //
      zero, exp(theta[2]), theta[5],       //
      zero, zero, exp(theta[3]);
  const Vector3<T> com = theta.template tail<3>();
  const T m = exp(T(2) * theta[0]);
  const Matrix3<T> S_com = m * (U * U.transpose());
  const Matrix3<T> I_com = tensor_from_second_moments<T>(S_com);
  const Inertia<T> I(m, m * com, parallel_axis_from_com<T>(I_com, m, com));
  if constexpr (Real<T>) {
    if (!(std::isfinite(I.mass()) && I.tensor().allFinite() && I.first_moment().allFinite())) {
      fail_computation("inertia_from_log_cholesky",
                       "the inertia of theta = " + to_text(theta) + " is beyond the number range");
    }
  }
  return I;
}

/// The derivative of inertial_parameters(inertia_from_log_cholesky(theta)) by theta: column k by
/// theta[k].
template <typename T>
Eigen::Matrix<T, 10, 10> log_cholesky_jacobian(const Vector10<T>& theta) {
  using std::exp;
  const T zero(0), m = exp(T(2) * theta[0]);
  const T e1 = exp(theta[1]), e2 = exp(theta[2]), e3 = exp(theta[3]);
  Matrix3<T> U;
  U << e1, theta[4], theta[6],  //
      zero, e2, theta[5],       //
      zero, zero, e3;
  const Vector3<T> com = theta.template tail<3>();
  const auto column = [&](const T& mass, const Vector3<T>& first, const Matrix3<T>& half) {
    // The second moments change by half + half^T.
    const Matrix3<T> S = half + half.transpose();
    return inertial_parameters(Inertia<T>(mass, first, tensor_from_second_moments<T>(S)));
  };
  const Vector3<T> zero_vector = Vector3<T>::Constant(zero);
  // U changes in entry (r, c) by `change`: only row r of dU U^T is nonzero.
  const auto shape = [&](int r, int c, const T& change) {
    Matrix3<T> half = Matrix3<T>::Constant(zero);
    half.row(r) = (m * change) * U.col(c).transpose();
    return column(zero, zero_vector, half);
  };
  Eigen::Matrix<T, 10, 10> J;
  J.col(0) = T(2) * inertial_parameters(inertia_from_log_cholesky(theta));
  J.col(1) = shape(0, 0, e1);
  J.col(2) = shape(1, 1, e2);
  J.col(3) = shape(2, 2, e3);
  J.col(4) = shape(0, 1, T(1));
  J.col(5) = shape(1, 2, T(1));
  J.col(6) = shape(0, 2, T(1));
  for (int k = 0; k < 3; ++k) {
    Matrix3<T> half = Matrix3<T>::Constant(zero);
    half.row(k) = m * com.transpose();
    Vector3<T> first = zero_vector;
    first[k] = m;
    J.col(7 + k) = column(zero, first, half);
  }
  return J;
}

/// The theta of I. The scalar must support sqrt and log besides + - * /.
/// @throws Error with the violated conditions if I is not consistent() (see inertia_report).
template <typename T>
Vector10<T> log_cholesky(const Inertia<T>& I) {
  using std::log;
  using std::sqrt;
  if constexpr (Real<T>) check_consistent("log_cholesky", "I", I);
  const Vector3<T> com = I.first_moment() / I.mass();
  const Matrix3<T> S =
      second_moments<T>(parallel_axis_to_com<T>(I.tensor(), I.mass(), com)) / I.mass();
  // Cholesky from the last row up: S = U U^T with U upper triangular.
  const T u33 = sqrt(S(2, 2));
  const T u23 = S(1, 2) / u33, u13 = S(0, 2) / u33;
  const T u22 = sqrt(S(1, 1) - u23 * u23);
  const T u12 = (S(0, 1) - u13 * u23) / u22;
  const T u11 = sqrt(S(0, 0) - u12 * u12 - u13 * u13);
  Vector10<T> theta;
  theta << T(0.5) * log(I.mass()), log(u11), log(u22), log(u33), u12, u23, u13, com;
  return theta;
}

}  // namespace limb
