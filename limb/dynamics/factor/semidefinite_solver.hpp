#pragma once

#include "limb/dynamics/factor/packed_factor.hpp"

namespace limb::kernel {

/// Solves A f = b for symmetric positive definite or semidefinite A. In the semidefinite case
/// f = A^+ b, the minimum-norm least-squares solution. Derivation: docs/derivations/constrained.md.
/// For at most `max_rows` rows; no allocation after construction.
template <typename T>
class SemidefiniteSolver {
 public:
  explicit SemidefiniteSolver(int max_rows)
      : factor_(PackedFactor<T>::dense(max_rows)),
        gram_factor_(PackedFactor<T>::dense(max_rows)),
        gram_(MatrixX<T>::Constant(max_rows, max_rows, T(0))),
        projected_(VectorX<T>::Constant(max_rows, T(0))),
        residual_(projected_),
        correction_(projected_),
        kept_(static_cast<std::size_t>(max_rows)) {}

  /// Factors the leading n x n part of A; only the upper triangle is read. @returns the rank: the
  /// number of pivots above `tolerance` times the largest diagonal entry of their group of rows
  /// (packed_factor.hpp).
  int factorize(const MatrixX<T>& A, int n, const T& tolerance, const int* groups = nullptr) {
    n_ = n;
    A_ = &A;
    int dropped = -1;
    rank_ = kernel::factorize(factor_, n, A.data(), A.outerStride(), tolerance, dropped, groups);
    if (rank_ < n) factorize_gram();
    return rank_;
  }

  int rank() const { return rank_; }
  /// x <- A^-1 x for a matrix of full rank. E is the scalar, or a pack of several.
  template <typename E>
  void solve_regular(E* x) const {
    kernel::solve(factor_, n_, x);
  }

  /// f = A^+ b; f and b are different arrays of n numbers. A must not have changed since
  /// factorize().
  void solve(const T* b, T* f) {
    for (int k = 0; k < n_; ++k) f[k] = b[k];
    if (rank_ == n_) {
      kernel::solve(factor_, n_, f);
      return;
    }
    minimum_norm(b, f);
    // One step of iterative refinement: the dropped pivots are not exactly zero.
    for (int k = 0; k < n_; ++k) {
      T sum = b[k];
      for (int j = 0; j < n_; ++j) sum = sum - (j < k ? (*A_)(j, k) : (*A_)(k, j)) * f[j];
      residual_[k] = sum;
    }
    minimum_norm(residual_.data(), correction_.data());
    for (int k = 0; k < n_; ++k) f[k] = f[k] + correction_[k];
  }

 private:
  /// Factors the Gram matrix K K^T of the rows K of L that were kept: A = K^T D K.
  void factorize_gram() {
    int r = 0;
    for (int k = 0; k < n_; ++k) {
      if constexpr (Branching<T>) {
        if (factor_.inverse[k] == T(0)) continue;
      }
      kept_[static_cast<std::size_t>(r++)] = k;
    }
    for (int c = 0; c < rank_; ++c) {
      for (int a = 0; a <= c; ++a) {
        const int k = kept_[static_cast<std::size_t>(a)], l = kept_[static_cast<std::size_t>(c)];
        T sum = k == l ? T(1) : factor_.row(l)[k];
        for (int m = 0; m < k; ++m) sum = sum + factor_.row(k)[m] * factor_.row(l)[m];
        gram_(a, c) = sum;
      }
    }
    int dropped = -1;
    kernel::factorize(gram_factor_, rank_, gram_.data(), gram_.outerStride(), T(0), dropped);
  }

  /// K^T (K K^T)^-1 D^-1 (K K^T)^-1 K b
  void minimum_norm(const T* b, T* f) {
    for (int a = 0; a < rank_; ++a) {
      const int k = kept_[static_cast<std::size_t>(a)];
      T sum = b[k];
      for (int m = 0; m < k; ++m) sum = sum + factor_.row(k)[m] * b[m];
      projected_[a] = sum;
    }
    kernel::solve(gram_factor_, rank_, projected_.data());
    for (int a = 0; a < rank_; ++a) {
      projected_[a] = projected_[a] * factor_.inverse[kept_[static_cast<std::size_t>(a)]];
    }
    kernel::solve(gram_factor_, rank_, projected_.data());
    for (int k = 0; k < n_; ++k) f[k] = T(0);
    for (int a = 0; a < rank_; ++a) {
      const int k = kept_[static_cast<std::size_t>(a)];
      f[k] = f[k] + projected_[a];
      for (int m = 0; m < k; ++m) f[m] = f[m] + factor_.row(k)[m] * projected_[a];
    }
  }

  PackedFactor<T> factor_, gram_factor_;
  MatrixX<T> gram_;
  VectorX<T> projected_, residual_, correction_;
  std::vector<int> kept_;
  const MatrixX<T>* A_ = nullptr;
  int n_ = 0, rank_ = 0;
};

}  // namespace limb::kernel
