#include "limb/math/symmetric_eigen.hpp"

#include <Eigen/Eigenvalues>

namespace limb {

SymmetricEigen symmetric_eigen(const Matrix3<double>& S) {
  const Eigen::SelfAdjointEigenSolver<Matrix3<double>> solver(S);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

double smallest_eigenvalue(const Matrix4<double>& S) {
  return Eigen::SelfAdjointEigenSolver<Matrix4<double>>(S, Eigen::EigenvaluesOnly).eigenvalues()[0];
}

}  // namespace limb
