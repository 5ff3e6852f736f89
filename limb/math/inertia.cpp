#include "limb/math/inertia.hpp"

#include "limb/math/symmetric_eigen.hpp"

namespace limb {

template <Real T>
PrincipalAxes<T> principal_axes(const Matrix3<T>& I) {
  check_symmetric("principal_axes", "I", I);
  const SymmetricEigen eigen = symmetric_eigen(I.template cast<double>());
  Matrix3<T> R = eigen.vectors.cast<T>();
  if (R.determinant() < T(0)) R.col(2) = -R.col(2);
  return {eigen.values.cast<T>(), R};
}

template PrincipalAxes<double> principal_axes(const Matrix3<double>&);
template PrincipalAxes<float> principal_axes(const Matrix3<float>&);

}  // namespace limb
