#include "limb/math/so3.hpp"

#include <Eigen/SVD>

namespace limb {

void fail_rotation(std::string_view call, std::string_view argument, const MatrixView& R,
                   double orthogonality, double determinant) {
  check_finite(call, argument, R);
  fail(call, argument,
       to_text(R) + " with |R^T R - 1| = " + to_text(orthogonality) +
           " and det = " + to_text(determinant),
       "a rotation matrix",
       determinant < 0 ? "it is a reflection: an axis is flipped"
                       : "nearest_rotation() repairs drift");
}

template <Real T>
Matrix3<T> nearest_rotation(const Matrix3<T>& A) {
  check_finite("nearest_rotation", "A", A);
  const Eigen::JacobiSVD<Matrix3<T>> svd(A, Eigen::ComputeFullU | Eigen::ComputeFullV);
  const Vector3<T>& s = svd.singularValues();
  if (!(s[1] > T(8) * epsilon<T>() * s[0])) {
    fail("nearest_rotation", "A", to_text(A), "a matrix of rank 2 or 3",
         "no unique rotation is nearest to it");
  }
  // The nearest orthogonal matrix is U V^T; if it is a reflection, flip the direction of the
  // smallest singular value.
  Vector3<T> sign = Vector3<T>::Ones();
  sign[2] = (svd.matrixU() * svd.matrixV().transpose()).determinant() < T(0) ? T(-1) : T(1);
  return svd.matrixU() * sign.asDiagonal() * svd.matrixV().transpose();
}

template Matrix3<double> nearest_rotation(const Matrix3<double>&);
template Matrix3<float> nearest_rotation(const Matrix3<float>&);

}  // namespace limb
