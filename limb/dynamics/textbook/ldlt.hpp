#pragma once

#include "limb/base/error.hpp"
#include "limb/math/scalar.hpp"

namespace limb::textbook {

/// A = L D L^T of a symmetric positive definite matrix, without pivoting: no comparisons, so it
/// works for any scalar.
template <typename T>
class Ldlt {
 public:
  Ldlt() = default;
  /// @throws Error (computation failed) if a pivot is not clearly positive; Real scalars only.
  Ldlt(const char* call, const MatrixX<T>& A) : LD_(A) {
    for (Eigen::Index k = 0; k < A.rows(); ++k) {
      for (Eigen::Index j = 0; j < k; ++j) {
        LD_(k, k) -= LD_(k, j) * LD_(k, j) * LD_(j, j);
      }
      // A pivot this small is rounding: 64 for the length of the sums in A.
      if constexpr (Real<T>) {
        if (!(LD_(k, k) > T(64) * epsilon<T>() * A(k, k))) {
          fail_computation(call, "the mass matrix is singular: no inertia opposes some joint");
        }
      }
      for (Eigen::Index i = k + 1; i < A.rows(); ++i) {
        for (Eigen::Index j = 0; j < k; ++j) LD_(i, k) -= LD_(i, j) * LD_(k, j) * LD_(j, j);
        LD_(i, k) /= LD_(k, k);
      }
    }
  }

  /// A^-1 B
  MatrixX<T> solve(MatrixX<T> B) const {
    const Eigen::Index n = LD_.rows();
    for (Eigen::Index c = 0; c < B.cols(); ++c) {
      for (Eigen::Index i = 0; i < n; ++i) {
        for (Eigen::Index j = 0; j < i; ++j) B(i, c) -= LD_(i, j) * B(j, c);
      }
      for (Eigen::Index i = n - 1; i >= 0; --i) {
        B(i, c) /= LD_(i, i);
        for (Eigen::Index j = i + 1; j < n; ++j) B(i, c) -= LD_(j, i) * B(j, c);
      }
    }
    return B;
  }

 private:
  MatrixX<T> LD_;  ///< D on the diagonal, L below it
};

}  // namespace limb::textbook
