#pragma once

#include <complex>
#include <optional>

#include "limb/dynamics/arguments.hpp"

/// Algebraic Riccati equations, by structure-preserving doubling [Chu 2005] with final Newton steps
/// [Kleinman 1968], which reduce the residual to rounding. For design, not for control loops: they
/// allocate and throw.
namespace limb {

struct RiccatiSolution {
  MatrixX<double> X;    ///< symmetric positive semidefinite
  MatrixX<double> K;    ///< the feedback u = -K x
  double residual = 0;  ///< largest entry of the left side of the equation
  double spectrum = 0;  ///< continuous: largest real part of A - B K, < 0;
                        ///< discrete: spectral radius, < 1
};

/// A^T X + X A - X B R^-1 B^T X + Q = 0, K = R^-1 B^T X: minimizes the integral of
/// x^T Q x + u^T R u for x' = A x + B u.
/// @throws Error for matrices of a wrong size or that are not (semi)definite; of kind
/// computation_failed if the pair (A, B) is not stabilizable, with the uncontrollable eigenvalue,
/// or if a mode that does not decay is not observable through Q.
RiccatiSolution solve_riccati(MatrixIn<double>& A, MatrixIn<double>& B, MatrixIn<double>& Q,
                              MatrixIn<double>& R);

/// X = A^T X A - A^T X B (R + B^T X B)^-1 B^T X A + Q, K = (R + B^T X B)^-1 B^T X A: minimizes the
/// sum of x^T Q x + u^T R u for x_next = A x + B u.
RiccatiSolution solve_discrete_riccati(MatrixIn<double>& A, MatrixIn<double>& B,
                                       MatrixIn<double>& Q, MatrixIn<double>& R);

/// An eigenvalue of A outside the stable region that is not controllable, with its left
/// eigenvector: [A - lambda, B] is rank-deficient there.
struct UncontrollableMode {
  std::complex<double> eigenvalue;
  Eigen::VectorXcd direction;
};
enum class TimeDomain { continuous, discrete };
std::optional<UncontrollableMode> find_uncontrollable_mode(MatrixIn<double>& A, MatrixIn<double>& B,
                                                           TimeDomain time);

}  // namespace limb
