#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "limb/dynamics/arguments.hpp"
#include "limb/dynamics/triple.hpp"

namespace limb::kernel {

/// L^T D L of a symmetric matrix whose entry (k, i), i < k, may differ from zero only if i is an
/// ancestor of k in a tree of indices: L has no other entries either [Featherstone 2005, branch
/// sparsity]. A dense matrix is the tree in which each index hangs on the one before.
///
/// Row k is stored over its path, the indices from the root to k. Paths of ancestors are beginnings
/// of the path, so that all sums over common ancestors run over neighbours in memory, in fours.
template <typename T>
struct PackedFactor {
  static constexpr int kFour = 4;
  using Lanes = Eigen::Array<T, kFour, 1>;

  PackedFactor() = default;
  /// parent[k] < k, or -1; the descendants of k must follow it without a gap.
  explicit PackedFactor(std::span<const int> parent) {
    const int n = static_cast<int>(parent.size());
    depth.resize(parent.size());
    start.resize(parent.size());
    end.resize(parent.size());
    int room = 0;
    for (int k = 0; k < n; ++k) {
      const int p = parent[at(k)];
      depth[at(k)] = p < 0 ? 1 : depth[at(p)] + 1;
      start[at(k)] = room;
      room += (depth[at(k)] + kFour - 1) / kFour * kFour;
      path.resize(at(room), 0);
      if (p >= 0)
        std::copy_n(path.begin() + start[at(p)], depth[at(p)], path.begin() + start[at(k)]);
      path[at(start[at(k)] + depth[at(k)] - 1)] = k;
      end[at(k)] = k + 1;
    }
    for (int k = n - 1; k >= 0; --k) {
      const int p = parent[at(k)];
      if (p >= 0) end[at(p)] = std::max(end[at(p)], end[at(k)]);
    }
    L.assign(at(room), T(0));
    LD.assign(at(room), T(0));
    D = inverse = VectorX<T>::Constant(n, T(0));
  }
  /// Of a dense matrix with n rows at most.
  static PackedFactor dense(int n) {
    std::vector<int> parent;
    for (int k = 0; k < n; ++k) parent.push_back(k - 1);
    return PackedFactor(parent);
  }

  static std::size_t at(int k) { return static_cast<std::size_t>(k); }
  const int* path_of(int k) const { return path.data() + start[at(k)]; }
  const T* row(int k) const { return L.data() + start[at(k)]; }
  T* row(int k) { return L.data() + start[at(k)]; }

  std::vector<int> depth, start, end;  ///< length of the path of k, its place, one past k's subtree
  std::vector<int> path;
  std::vector<T> L, LD;  ///< by rows, L and L times the pivot
  VectorX<T> D, inverse;
};

/// Copies the leading n x n part of a matrix (upper triangle read) into the rows of L. All of it
/// before the factorisation begins: a number that was just written alone is slow to read in fours.
template <typename T>
void gather(PackedFactor<T>& F, int n, const T* columns, Eigen::Index stride) {
  using P = PackedFactor<T>;
  using Lanes = typename P::Lanes;
  for (int i = 0; i < n; ++i) {
    const int* path = F.path_of(i);
    const T* column = columns + i * stride;
    T* row = F.row(i);
    for (int c = 0; c < F.depth[P::at(i)]; c += P::kFour) {
      if (path[c + P::kFour - 1] - path[c] == P::kFour - 1) {
        Eigen::Map<Lanes>(row + c) = Eigen::Map<const Lanes>(column + path[c]);
      } else {
        for (int j = c; j < c + P::kFour; ++j) row[j] = column[path[j]];
      }
    }
  }
}

/// Rows i and, for kRows = 2, i - 1 from position c on, less what the descendants of i before `end`
/// take from them, into LD: kChunks times four entries.
template <int kRows, int kChunks, typename T>
LIMB_INLINE void take_descendants(PackedFactor<T>& F, int i, int end, int c) {
  using P = PackedFactor<T>;
  using Lanes = typename P::Lanes;
  constexpr int kAtOnce = 4 / (kRows * kChunks);  // four sums, so that none waits for the last one
  Lanes sum[kAtOnce][kRows][kChunks];
  for (int j = 0; j < kAtOnce; ++j) {
    for (int r = 0; r < kRows; ++r) {
      for (int m = 0; m < kChunks; ++m) {
        sum[j][r][m] = j > 0 ? Lanes(Lanes::Constant(T(0)))
                             : Lanes(Eigen::Map<const Lanes>(F.row(i - r) + c + m * P::kFour));
      }
    }
  }
  const int last = F.depth[P::at(i)] - 1;
  const auto take = [&](int k, Lanes(&from)[kRows][kChunks]) {
    const int begin = F.start[P::at(k)];
    for (int m = 0; m < kChunks; ++m) {
      const Lanes row = Eigen::Map<const Lanes>(F.L.data() + begin + c + m * P::kFour);
      for (int r = 0; r < kRows; ++r) from[r][m] -= F.LD[P::at(begin + last - r)] * row;
    }
  };
  int k = i + 1;
  for (; k + kAtOnce <= end; k += kAtOnce) {
    for (int j = 0; j < kAtOnce; ++j) take(k + j, sum[j]);
  }
  for (; k < end; ++k) take(k, sum[0]);
  for (int r = 0; r < kRows; ++r) {
    for (int m = 0; m < kChunks; ++m) {
      for (int j = 1; j < kAtOnce; ++j) sum[0][r][m] += sum[j][r][m];
      Eigen::Map<Lanes>(F.LD.data() + F.start[P::at(i - r)] + c + m * P::kFour) = sum[0][r][m];
    }
  }
}

/// All of row i, and for kRows = 2 of row i - 1. Whole fours are written, since they are read so;
/// what lies beyond the diagonal never reaches an entry before it.
template <int kRows, typename T>
LIMB_INLINE void take_descendants(PackedFactor<T>& F, int i, int end) {
  constexpr int kFour = PackedFactor<T>::kFour;
  const int shorter = F.depth[F.at(i - kRows + 1)], longer = F.depth[F.at(i)];
  int c = 0;
  for (; c + kFour < shorter; c += 2 * kFour) take_descendants<kRows, 2>(F, i, end, c);
  for (; c < shorter; c += kFour) take_descendants<kRows, 1>(F, i, end, c);
  for (; c < longer; c += kFour) take_descendants<1, 1>(F, i, end, c);
}

/// Pivot and row of L from a row of LD. @returns whether the pivot is larger than `least`.
template <typename T>
LIMB_INLINE bool finish_row(PackedFactor<T>& F, int i, const T& least) {
  using P = PackedFactor<T>;
  using Lanes = typename P::Lanes;
  const int depth = F.depth[P::at(i)];
  T* row = F.row(i);
  T* scaled = F.LD.data() + F.start[P::at(i)];
  const T pivot = scaled[depth - 1];
  bool keep = true;
  if constexpr (Branching<T>) keep = least < pivot;
  const T inverse = keep ? T(1) / pivot : T(0);
  F.D[i] = keep ? pivot : T(0);
  F.inverse[i] = inverse;
  for (int c = 0; c < depth; c += P::kFour) {
    Eigen::Map<Lanes>(row + c) = inverse * Eigen::Map<const Lanes>(scaled + c);
    if (!keep) Eigen::Map<Lanes>(scaled + c) = Lanes::Constant(T(0));
  }
  return keep;
}

/// Factors the leading n x n part of the matrix whose column k stands at `columns + k * stride`
/// (upper triangle read). A pivot that is not larger than `tolerance` times the entry it came from
/// is dropped with its row: its inverse, and its row of L, are zero. @returns how many remain;
/// `dropped` is the smallest index among the others, or -1.
template <typename T>
int factorize(PackedFactor<T>& F, int n, const T* columns, Eigen::Index stride, const T& tolerance,
              int& dropped) {
  using P = PackedFactor<T>;
  using Lanes = typename P::Lanes;
  gather(F, n, columns, stride);
  int rank = 0;
  dropped = -1;
  const auto finish = [&](int i) {
    const bool keep = finish_row(F, i, T(tolerance * columns[i * (stride + 1)]));
    rank += keep;
    if (!keep) dropped = i;
  };
  for (int i = n - 1; i >= 0; --i) {
    const int end = std::min(F.end[P::at(i)], n);
    // With a parent that carries nothing else: both have the same descendants beyond themselves.
    const bool pair = i > 0 && F.depth[P::at(i)] == F.depth[P::at(i - 1)] + 1 &&
                      std::min(F.end[P::at(i - 1)], n) == end;
    if (!pair) {
      take_descendants<1>(F, i, end);
      finish(i);
      continue;
    }
    take_descendants<2>(F, i, end);
    finish(i);
    const int depth = F.depth[P::at(i - 1)], begin = F.start[P::at(i)];
    T* scaled = F.LD.data() + F.start[P::at(i - 1)];
    const T factor = F.LD[P::at(begin + depth - 1)];
    for (int c = 0; c < depth; c += P::kFour) {
      Eigen::Map<Lanes>(scaled + c) -= factor * Eigen::Map<const Lanes>(F.L.data() + begin + c);
    }
    finish(--i);
  }
  return rank;
}

/// x <- L^-T x. E is the scalar, or several of them side by side.
template <typename T, typename E>
void solve_transposed(const PackedFactor<T>& F, int n, E* x) {
  for (int k = n - 1; k >= 0; --k) {
    const int* path = F.path_of(k);
    const T* row = F.row(k);
    const E value = x[k];
    for (int m = F.depth[F.at(k)] - 2; m >= 0; --m) x[path[m]] = x[path[m]] - row[m] * value;
  }
}

/// x <- L^-1 x
template <typename T, typename E>
void solve_forward(const PackedFactor<T>& F, int n, E* x) {
  for (int k = 0; k < n; ++k) {
    const int* path = F.path_of(k);
    const T* row = F.row(k);
    E even = x[k];  // two sums, so that neither waits for the other
    int m = F.depth[F.at(k)] - 2;
    if (m < 0) continue;
    E odd = row[m] * x[path[m]];
    for (--m; m > 0; m -= 2) {
      even = even - row[m] * x[path[m]];
      odd = odd + row[m - 1] * x[path[m - 1]];
    }
    if (m == 0) even = even - row[0] * x[path[0]];
    x[k] = even - odd;
  }
}

/// x <- (L^T D L)^-1 x, for a factor without dropped rows.
template <typename T, typename E>
void solve(const PackedFactor<T>& F, int n, E* x) {
  solve_transposed(F, n, x);
  for (int k = 0; k < n; ++k) x[k] = x[k] * F.inverse[k];
  solve_forward(F, n, x);
}

}  // namespace limb::kernel
