#pragma once

#include "limb/dynamics/arguments.hpp"

namespace limb::kernel {

/// Factors a symmetric positive definite matrix M = L D L^T in place, in the lower triangle: L
/// below the diagonal, D on it. @returns -1, or the index of a pivot not larger than the rounding
/// errors of its diagonal entry.
template <typename T>
int factorize_in_place(MatrixOut<T>& M) {
  const Eigen::Index n = M.rows();
  for (Eigen::Index k = 0; k < n; ++k) {
    const T entry = M(k, k);
    for (Eigen::Index j = 0; j < k; ++j) M(k, k) = M(k, k) - M(k, j) * M(k, j) * M(j, j);
    if constexpr (Branching<T>) {
      if (!(T(16) * epsilon<T>() * T(double(n)) * entry < M(k, k))) return static_cast<int>(k);
    }
    const T inverse = T(1) / M(k, k);
    for (Eigen::Index i = k + 1; i < n; ++i) {
      T sum = M(i, k);
      for (Eigen::Index j = 0; j < k; ++j) sum = sum - M(i, j) * M(k, j) * M(j, j);
      M(i, k) = sum * inverse;
    }
  }
  return -1;
}

/// x <- M^-1 x with the factors of factorize_in_place.
template <typename T>
void solve_factorized(const MatrixOut<T>& M, VectorOut<T>& x) {
  const Eigen::Index n = M.rows();
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < i; ++j) x[i] = x[i] - M(i, j) * x[j];
  }
  for (Eigen::Index i = n; i-- > 0;) {
    x[i] = x[i] / M(i, i);
    for (Eigen::Index j = i + 1; j < n; ++j) x[i] = x[i] - M(j, i) * x[j];
  }
}

/// x <- M^-1 x; M is overwritten. @returns as factorize_in_place; x is unchanged if M is singular.
template <typename T>
int solve_in_place(MatrixOut<T>& M, VectorOut<T>& x) {
  const int singular = factorize_in_place<T>(M);
  if (singular < 0) solve_factorized<T>(M, x);
  return singular;
}

}  // namespace limb::kernel
