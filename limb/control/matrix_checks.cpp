#include "limb/control/matrix_checks.hpp"

#include <Eigen/Eigenvalues>

#include "limb/math/check.hpp"

namespace limb {
namespace {

/// Smallest and largest eigenvalue of a symmetric matrix of the right size.
Vector2<double> extreme_eigenvalues(const char* call, const char* argument, MatrixIn<double>& m,
                                    Eigen::Index size) {
  check_shape(call, argument, m.rows(), m.cols(), size, size);
  if (size == 0) return {0, 0};
  check_finite(call, argument, m);
  check_symmetric(call, argument, m);
  const Eigen::SelfAdjointEigenSolver<MatrixX<double>> solver(m, Eigen::EigenvaluesOnly);
  return {solver.eigenvalues()[0], solver.eigenvalues()[size - 1]};
}

}  // namespace

void check_semidefinite(const char* call, const char* argument, MatrixIn<double>& m,
                        Eigen::Index size) {
  const Vector2<double> found = extreme_eigenvalues(call, argument, m, size);
  // Tolerance for rounding of the eigenvalues.
  const double least = -16 * static_cast<double>(size) * epsilon<double>() * std::abs(found[1]);
  if (found[0] < std::min(least, 0.0)) {
    fail(call, std::string("smallest eigenvalue of ") + argument, to_text(found[0]), ">= 0");
  }
}

void check_definite(const char* call, const char* argument, MatrixIn<double>& m,
                    Eigen::Index size) {
  const Vector2<double> found = extreme_eigenvalues(call, argument, m, size);
  if (size > 0 && !(found[0] > static_cast<double>(size) * epsilon<double>() * found[1])) {
    fail(call, std::string("smallest eigenvalue of ") + argument, to_text(found[0]), "> 0");
  }
}

}  // namespace limb
