#pragma once

#include "limb/dynamics/packed_factor.hpp"

namespace limb::kernel {

/// A f = b for symmetric A that is positive, or only not negative: then f = A^+ b, the shortest of
/// those that come nearest. Derivation: docs/derivations/constrained.md. Room for `most` rows; no
/// allocation after construction.
template <typename T>
class PositiveSolve {
 public:
  explicit PositiveSolve(int most)
      : factor_(PackedFactor<T>::dense(most)),
        gram_factor_(PackedFactor<T>::dense(most)),
        gram_(MatrixX<T>::Constant(most, most, T(0))),
        part_(VectorX<T>::Constant(most, T(0))),
        rest_(part_),
        step_(part_),
        kept_(static_cast<std::size_t>(most)) {}

  /// Of the leading n x n part of A; only the upper triangle is read. @returns the rank: how many
  /// pivots exceed `tolerance` times the diagonal entry that they came from.
  int factorize(const MatrixX<T>& A, int n, const T& tolerance) {
    n_ = n;
    A_ = &A;
    int dropped = -1;
    rank_ = kernel::factorize(factor_, n, A.data(), A.outerStride(), tolerance, dropped);
    if (rank_ < n) factorize_gram();
    return rank_;
  }

  int rank() const { return rank_; }
  /// x <- A^-1 x for a matrix of full rank. E is the scalar, or several of them side by side.
  template <typename E>
  void solve_regular(E* x) const {
    kernel::solve(factor_, n_, x);
  }

  /// f = A^+ b; f and b are different arrays of n numbers. A must still be what was factored.
  void solve(const T* b, T* f) {
    for (int k = 0; k < n_; ++k) f[k] = b[k];
    if (rank_ == n_) {
      kernel::solve(factor_, n_, f);
      return;
    }
    shortest(b, f);
    // One step of refinement: the dropped pivots are not quite zero.
    for (int k = 0; k < n_; ++k) {
      T sum = b[k];
      for (int j = 0; j < n_; ++j) sum = sum - (j < k ? (*A_)(j, k) : (*A_)(k, j)) * f[j];
      rest_[k] = sum;
    }
    shortest(rest_.data(), step_.data());
    for (int k = 0; k < n_; ++k) f[k] = f[k] + step_[k];
  }

 private:
  /// With the rows K of L that remain: A = K^T D K. The products K K^T.
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
  void shortest(const T* b, T* f) {
    for (int a = 0; a < rank_; ++a) {
      const int k = kept_[static_cast<std::size_t>(a)];
      T sum = b[k];
      for (int m = 0; m < k; ++m) sum = sum + factor_.row(k)[m] * b[m];
      part_[a] = sum;
    }
    kernel::solve(gram_factor_, rank_, part_.data());
    for (int a = 0; a < rank_; ++a) {
      part_[a] = part_[a] * factor_.inverse[kept_[static_cast<std::size_t>(a)]];
    }
    kernel::solve(gram_factor_, rank_, part_.data());
    for (int k = 0; k < n_; ++k) f[k] = T(0);
    for (int a = 0; a < rank_; ++a) {
      const int k = kept_[static_cast<std::size_t>(a)];
      f[k] = f[k] + part_[a];
      for (int m = 0; m < k; ++m) f[m] = f[m] + factor_.row(k)[m] * part_[a];
    }
  }

  PackedFactor<T> factor_, gram_factor_;
  MatrixX<T> gram_;
  VectorX<T> part_, rest_, step_;
  std::vector<int> kept_;
  const MatrixX<T>* A_ = nullptr;
  int n_ = 0, rank_ = 0;
};

}  // namespace limb::kernel
