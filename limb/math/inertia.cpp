#include "limb/math/inertia.hpp"

#include <Eigen/Eigenvalues>

namespace limb {

template <Real T>
PrincipalAxes<T> principal_axes(const Matrix3<T>& I) {
  check_symmetric("principal_axes", "I", I);
  const Eigen::SelfAdjointEigenSolver<Matrix3<T>> solver(I);
  Matrix3<T> R = solver.eigenvectors();
  if (R.determinant() < T(0)) R.col(2) = -R.col(2);
  return {solver.eigenvalues(), R};
}

template PrincipalAxes<double> principal_axes(const Matrix3<double>&);
template PrincipalAxes<float> principal_axes(const Matrix3<float>&);

}  // namespace limb
