#pragma once

#include <complex>
#include <optional>

#include "limb/dynamics/arguments.hpp"

/// Algebraic Riccati equations, by structure-preserving doubling [Chu 2005] with Newton's steps
/// [Kleinman 1968] at the end, which bring the residual to rounding. For designs: they allocate and
/// throw.
namespace limb {

struct RiccatiSolution {
  MatrixX<double> X;    ///< symmetric, no direction negative
  MatrixX<double> K;    ///< the feedback u = -K x
  double residual = 0;  ///< largest entry of the equation's left side
  double spectrum = 0;  ///< continuous: largest real part of A - B K, < 0;
                        ///< discrete: spectral radius, < 1
};

/// A^T X + X A - X B R^-1 B^T X + Q = 0, K = R^-1 B^T X: the least integral of x^T Q x + u^T R u
/// for x' = A x + B u.
/// @throws Error for matrices of wrong sizes or signs; of kind computation_failed if the pair
/// (A, B) is not stabilisable, with the eigenvalue that no input moves, or if Q does not see a mode
/// that does not decay by itself.
RiccatiSolution solve_riccati(MatrixIn<double>& A, MatrixIn<double>& B, MatrixIn<double>& Q,
                              MatrixIn<double>& R);

/// X = A^T X A - A^T X B (R + B^T X B)^-1 B^T X A + Q, K = (R + B^T X B)^-1 B^T X A: the least sum
/// of x^T Q x + u^T R u for x_next = A x + B u.
RiccatiSolution solve_discrete_riccati(MatrixIn<double>& A, MatrixIn<double>& B,
                                       MatrixIn<double>& Q, MatrixIn<double>& R);

/// An eigenvalue of A, not inside the stable region, that no input moves, with its left
/// eigenvector: [A - lambda, B] loses rank there.
struct UnreachableMode {
  std::complex<double> eigenvalue;
  Eigen::VectorXcd direction;
};
enum class TimeKind { continuous, discrete };
std::optional<UnreachableMode> find_unreachable_mode(MatrixIn<double>& A, MatrixIn<double>& B,
                                                     TimeKind time);

}  // namespace limb
