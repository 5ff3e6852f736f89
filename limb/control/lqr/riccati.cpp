#include "limb/control/lqr/riccati.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/SVD>
#include <cmath>
#include <limits>

#include "limb/control/matrix_checks.hpp"
#include "limb/math/check.hpp"

namespace limb {
namespace {

using Matrix = MatrixX<double>;
constexpr double kEps = std::numeric_limits<double>::epsilon();

Matrix symmetric(const Matrix& m) {
  return (m + m.transpose()) / 2;
}

Eigen::VectorXcd modes_of(MatrixIn<double>& A) {
  return Eigen::EigenSolver<Matrix>(A, false).eigenvalues();
}

void check_problem(const char* call, MatrixIn<double>& A, MatrixIn<double>& B, MatrixIn<double>& Q,
                   MatrixIn<double>& R) {
  check_shape(call, "A", A.rows(), A.cols(), A.rows(), A.rows());
  check_shape(call, "B", B.rows(), B.cols(), A.rows(), B.cols());
  check_finite(call, "A", A);
  check_finite(call, "B", B);
  check_semidefinite(call, "Q", Q, A.rows());
  check_definite(call, "R", R, B.cols());
}

bool is_unstable(const std::complex<double>& x, TimeDomain time, double slack) {
  return time == TimeDomain::continuous ? x.real() >= -slack : std::abs(x) >= 1 - slack;
}

std::string number_text(const std::complex<double>& x) {
  if (x.imag() == 0) return fmt::format("{:.4g}", x.real());
  return fmt::format("{:.4g} {} {:.4g} i", x.real(), x.imag() < 0 ? "-" : "+", std::abs(x.imag()));
}

void check_modes(const char* call, MatrixIn<double>& A, MatrixIn<double>& B, MatrixIn<double>& Q,
                 TimeDomain time) {
  if (const auto mode = find_uncontrollable_mode(A, B, time)) {
    fail_computation(call, fmt::format("no input controls the mode of eigenvalue {}, which does "
                                       "not decay: (A, B) is not stabilisable",
                                       number_text(mode->eigenvalue)));
  }
  // Modes on the stability boundary that are not observable through Q would persist.
  const double slack = 1e-9 * (1 + A.norm());
  const Matrix A_t = A.transpose(), Q_t = Q;
  for (const std::complex<double>& x : modes_of(A)) {
    const double distance =
        time == TimeDomain::continuous ? std::abs(x.real()) : std::abs(std::abs(x) - 1);
    if (distance > slack) continue;
    Eigen::MatrixXcd pencil(A.rows(), 2 * A.rows());
    pencil << A_t - x * Matrix::Identity(A.rows(), A.rows()), Q_t;
    const auto values = Eigen::JacobiSVD<Eigen::MatrixXcd>(pencil).singularValues();
    if (values[values.size() - 1] <= 1e-10 * values[0]) {
      fail_computation(call, fmt::format("the mode of eigenvalue {} is not observable through Q "
                                         "and does not decay",
                                         number_text(x)));
    }
  }
}

/// Structure-preserving doubling of (E, G, H) until E vanishes; H converges to the X of the
/// discrete equation with A = E, B R^-1 B^T = G, Q = H. @returns whether it converged.
bool solve_by_doubling(Matrix E, Matrix G, Matrix& H) {
  const Matrix one = Matrix::Identity(E.rows(), E.cols());
  for (int i = 0; i < 60; ++i) {
    const Eigen::PartialPivLU<Matrix> W(one + G * H);
    const Matrix WE = W.solve(E), WG = W.solve(G);
    const Matrix change = symmetric(E.transpose() * H * WE);
    G = symmetric(G + E * WG * E.transpose());
    E = E * WE;
    H += change;
    if (!H.allFinite()) return false;
    if (change.norm() <= kEps * H.norm()) return true;
  }
  return false;
}

/// Solves the Stein (discrete Lyapunov) equation P = S^T P S + W by doubling; all eigenvalues of S
/// are inside the unit circle.
Matrix solve_stein(Matrix S, Matrix W) {
  for (int i = 0; i < 60; ++i) {
    const Matrix change = S.transpose() * W * S;
    W += change;
    if (change.norm() <= kEps * W.norm()) break;
    S = S * S;
  }
  return symmetric(W);
}

double spectral_bound(const Matrix& A, TimeDomain time) {
  double end = -std::numeric_limits<double>::infinity();
  for (const std::complex<double>& x : modes_of(A)) {
    end = std::max(end, time == TimeDomain::continuous ? x.real() : std::abs(x));
  }
  return end;
}

/// Beyond this, relative to X and Q, the solution has lost its accuracy.
constexpr double kLargestResidual = 1e-6;

void check_solution(const char* call, const RiccatiSolution& s, MatrixIn<double>& Q, double limit) {
  const double scale = s.X.norm() + Q.norm();
  if (s.X.allFinite() && s.spectrum < limit && s.residual <= kLargestResidual * scale) return;
  fail_computation(
      call,
      "no stabilising solution was found: some mode is nearly uncontrollable or nearly "
      "unobservable through Q");
}

/// Newton steps from a stabilizing guess, accepted while they reduce the residual.
template <typename Residual, typename Step>
void refine(Matrix& X, const Residual& residual_of, const Step& step_of) {
  Matrix residual = residual_of(X);
  for (int i = 0; i < 4; ++i) {
    const Matrix next = symmetric(X + step_of(X, residual));
    if (!next.allFinite()) return;
    const Matrix then = residual_of(next);
    if (!(then.norm() < residual.norm())) return;
    X = next;
    residual = then;
  }
}

}  // namespace

std::optional<UncontrollableMode> find_uncontrollable_mode(MatrixIn<double>& A, MatrixIn<double>& B,
                                                           TimeDomain time) {
  const Eigen::Index n = A.rows();
  if (n == 0) return std::nullopt;
  // Rounding moves eigenvalues of defective matrices by sqrt(eps).
  const double slack = std::sqrt(kEps) * (1 + A.norm());
  for (const std::complex<double>& x : modes_of(A)) {
    if (!is_unstable(x, time, slack)) continue;
    Eigen::MatrixXcd pencil(n, n + B.cols());
    pencil << A - x * Matrix::Identity(n, n), B;
    const Eigen::JacobiSVD<Eigen::MatrixXcd> svd(pencil, Eigen::ComputeFullU);
    // Below this the mode is uncontrollable to rounding.
    if (svd.singularValues()[n - 1] > 1e-10 * svd.singularValues()[0]) continue;
    return UncontrollableMode{x, svd.matrixU().col(n - 1)};
  }
  return std::nullopt;
}

RiccatiSolution solve_riccati(MatrixIn<double>& A, MatrixIn<double>& B, MatrixIn<double>& Q,
                              MatrixIn<double>& R) {
  constexpr const char* kCall = "solve_riccati";
  check_problem(kCall, A, B, Q, R);
  check_modes(kCall, A, B, Q, TimeDomain::continuous);
  const Eigen::Index n = A.rows();
  const Eigen::LDLT<Matrix> R_factor(R);
  const Matrix G = symmetric(B * R_factor.solve(B.transpose()));
  const Matrix one = Matrix::Identity(n, n);

  // Cayley transform of the Hamiltonian pencil, then doubling; any g > 0 that is not an eigenvalue
  // works, and one of the order of |A| converges fast.
  RiccatiSolution s;
  for (const double factor : {1.0, 3.7, 0.21, 17.0}) {
    const double g = factor * std::max(A.norm() / std::sqrt(double(n)), 1e-3);
    const Matrix A_g = A - g * one;
    const Matrix inverse = A_g.partialPivLu().inverse();
    const Matrix W = (A_g.transpose() + Q * inverse * G).partialPivLu().inverse();
    const Matrix E = one + 2 * g * W.transpose();
    const Matrix G_0 = symmetric(2 * g * inverse * G * W);
    s.X = symmetric(2 * g * W * Q * inverse);
    if (solve_by_doubling(E, G_0, s.X)) break;
  }

  const auto residual = [&](const Matrix& X) -> Matrix {
    return symmetric(A.transpose() * X + X * A + Q - X * G * X);
  };
  // A_c^T P + P A_c = -residual, as a Stein equation by the Cayley transform of A_c.
  refine(s.X, residual, [&](const Matrix& X, const Matrix& r) -> Matrix {
    const Matrix A_c = A - G * X;
    const double g = std::max(A_c.norm() / std::sqrt(double(n)), 1e-3);
    const Eigen::PartialPivLU<Matrix> inverse(A_c - g * one);
    const Matrix S = inverse.solve(A_c + g * one), V = inverse.inverse();
    return solve_stein(S, 2 * g * V.transpose() * r * V);
  });
  s.K = R_factor.solve(B.transpose() * s.X);
  s.residual = residual(s.X).cwiseAbs().maxCoeff();
  s.spectrum = spectral_bound(A - B * s.K, TimeDomain::continuous);
  check_solution(kCall, s, Q, 0);
  return s;
}

RiccatiSolution solve_discrete_riccati(MatrixIn<double>& A, MatrixIn<double>& B,
                                       MatrixIn<double>& Q, MatrixIn<double>& R) {
  constexpr const char* kCall = "solve_discrete_riccati";
  check_problem(kCall, A, B, Q, R);
  check_modes(kCall, A, B, Q, TimeDomain::discrete);
  RiccatiSolution s;
  s.X = Q;
  solve_by_doubling(A, symmetric(B * R.ldlt().solve(B.transpose())), s.X);

  const auto gain = [&](const Matrix& X) -> Matrix {
    return Matrix(R + B.transpose() * X * B).ldlt().solve(B.transpose() * X * A);
  };
  const auto residual = [&](const Matrix& X) -> Matrix {
    return symmetric(A.transpose() * X * A - X + Q - A.transpose() * X * B * gain(X));
  };
  refine(s.X, residual, [&](const Matrix& X, const Matrix& r) -> Matrix {
    return solve_stein(A - B * gain(X), r);
  });
  s.K = gain(s.X);
  s.residual = residual(s.X).cwiseAbs().maxCoeff();
  s.spectrum = spectral_bound(A - B * s.K, TimeDomain::discrete);
  check_solution(kCall, s, Q, 1);
  return s;
}

}  // namespace limb
