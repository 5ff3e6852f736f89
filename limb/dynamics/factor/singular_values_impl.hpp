#pragma once

#include <algorithm>
#include <cmath>
#include <functional>

#include "limb/dynamics/arguments.hpp"

namespace limb::kernel {

/// Rotates rows i and j of A in their plane to make them orthogonal (a Jacobi rotation). @returns
/// false if they were orthogonal already.
template <Real T>
bool orthogonalize_rows(MatrixOut<T>& A, Eigen::Index i, Eigen::Index j) {
  const T a = A.row(i).squaredNorm(), b = A.row(j).squaredNorm(), c = A.row(i).dot(A.row(j));
  if (std::abs(c) <= T(4) * epsilon<T>() * std::sqrt(a) * std::sqrt(b)) return false;
  const T zeta = (b - a) / (T(2) * c);
  const T t = (zeta < T(0) ? T(-1) : T(1)) / (std::abs(zeta) + std::hypot(T(1), zeta));
  const T cosine = T(1) / std::hypot(T(1), t), sine = cosine * t;
  for (Eigen::Index k = 0; k < A.cols(); ++k) {
    const T x = A(i, k), y = A(j, k);
    A(i, k) = cosine * x - sine * y;
    A(j, k) = sine * x + cosine * y;
  }
  return true;
}

/// Singular values of A in decreasing order, one per row (zeros beyond the number of columns),
/// without allocation; A is overwritten. One-sided Jacobi on the rows. [Golub 2013, one-sided
/// Jacobi]
template <Real T>
void singular_values(MatrixOut<T>& A, VectorOut<T>& sigma) {
  const Eigen::Index m = A.rows();
  for (int sweep = 0; sweep < 60; ++sweep) {  // about six are needed
    bool rotated = false;
    for (Eigen::Index i = 0; i < m; ++i) {
      for (Eigen::Index j = i + 1; j < m; ++j) rotated = orthogonalize_rows<T>(A, i, j) || rotated;
    }
    if (!rotated) break;
  }
  for (Eigen::Index i = 0; i < m; ++i) sigma[i] = A.row(i).norm();
  std::sort(sigma.data(), sigma.data() + m, std::greater<T>());
}

}  // namespace limb::kernel
