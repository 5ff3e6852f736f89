#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "limb/dynamics/arguments.hpp"
#include "limb/dynamics/recursive/vec3.hpp"

namespace limb::kernel {

/// Factors L^T D L of a symmetric matrix whose entry (k, i), i < k, is nonzero only if i is an
/// ancestor of k in a tree of indices: L has the same sparsity [Featherstone 2005, branch
/// sparsity]. A dense matrix corresponds to the tree in which each index is the child of the one
/// before.
///
/// Row k is stored over its path, the indices from the root to k. The paths of its ancestors are
/// prefixes of its path, so that sums over common ancestors run over contiguous memory, four at a
/// time.
template <typename T>
struct PackedFactor {
  static constexpr int kLanes = 4;
  using Lanes = Eigen::Array<T, kLanes, 1>;

  PackedFactor() = default;
  /// parent[k] < k, or -1; the descendants of k must follow it without a gap.
  explicit PackedFactor(std::span<const int> parent) {
    const int n = static_cast<int>(parent.size());
    depth.resize(parent.size());
    start.resize(parent.size());
    end.resize(parent.size());
    int size = 0;
    for (int k = 0; k < n; ++k) {
      const int p = parent[at(k)];
      depth[at(k)] = p < 0 ? 1 : depth[at(p)] + 1;
      start[at(k)] = size;
      size += (depth[at(k)] + kLanes - 1) / kLanes * kLanes;
      path.resize(at(size), 0);
      if (p >= 0)
        std::copy_n(path.begin() + start[at(p)], depth[at(p)], path.begin() + start[at(k)]);
      path[at(start[at(k)] + depth[at(k)] - 1)] = k;
      end[at(k)] = k + 1;
    }
    for (int k = n - 1; k >= 0; --k) {
      const int p = parent[at(k)];
      if (p >= 0) end[at(p)] = std::max(end[at(p)], end[at(k)]);
    }
    L.assign(at(size), T(0));
    LD.assign(at(size), T(0));
    D = inverse = VectorX<T>::Constant(n, T(0));
  }
  /// For dense matrices with at most n rows.
  static PackedFactor dense(int n) {
    std::vector<int> parent;
    for (int k = 0; k < n; ++k) parent.push_back(k - 1);
    return PackedFactor(parent);
  }

  static std::size_t at(int k) { return static_cast<std::size_t>(k); }
  const int* path_of(int k) const { return path.data() + start[at(k)]; }
  const T* row(int k) const { return L.data() + start[at(k)]; }
  T* row(int k) { return L.data() + start[at(k)]; }

  std::vector<int> depth, start,
      end;  ///< per row k: length of its path, its offset, one past its subtree
  std::vector<int> path;
  std::vector<T> L, LD;  ///< row-major, L and D L
  VectorX<T> D, inverse;
};

/// Copies the leading n x n part of a matrix (upper triangle read) into the rows of L. Done before
/// the factorization starts: loading four numbers just after a store of one of them stalls.
template <typename T>
void gather(PackedFactor<T>& F, int n, const T* columns, Eigen::Index stride) {
  using P = PackedFactor<T>;
  using Lanes = typename P::Lanes;
  for (int i = 0; i < n; ++i) {
    const int* path = F.path_of(i);
    const T* column = columns + i * stride;
    T* row = F.row(i);
    for (int c = 0; c < F.depth[P::at(i)]; c += P::kLanes) {
      if (path[c + P::kLanes - 1] - path[c] == P::kLanes - 1) {
        Eigen::Map<Lanes>(row + c) = Eigen::Map<const Lanes>(column + path[c]);
      } else {
        for (int j = c; j < c + P::kLanes; ++j) row[j] = column[path[j]];
      }
    }
  }
}

/// Rows i and, for kRows = 2, i - 1 from position c on, minus the contributions of the descendants
/// of i before `end`, into LD: kChunks times four entries.
template <int kRows, int kChunks, typename T>
LIMB_INLINE void subtract_descendants(PackedFactor<T>& F, int i, int end, int c) {
  using P = PackedFactor<T>;
  using Lanes = typename P::Lanes;
  constexpr int kAtOnce = 4 / (kRows * kChunks);  // four independent sums
  Lanes sum[kAtOnce][kRows][kChunks];
  for (int j = 0; j < kAtOnce; ++j) {
    for (int r = 0; r < kRows; ++r) {
      for (int m = 0; m < kChunks; ++m) {
        sum[j][r][m] = j > 0 ? Lanes(Lanes::Constant(T(0)))
                             : Lanes(Eigen::Map<const Lanes>(F.row(i - r) + c + m * P::kLanes));
      }
    }
  }
  const int last = F.depth[P::at(i)] - 1;
  const auto subtract = [&](int k, Lanes(&from)[kRows][kChunks]) {
    const int begin = F.start[P::at(k)];
    for (int m = 0; m < kChunks; ++m) {
      const Lanes row = Eigen::Map<const Lanes>(F.L.data() + begin + c + m * P::kLanes);
      for (int r = 0; r < kRows; ++r) from[r][m] -= F.LD[P::at(begin + last - r)] * row;
    }
  };
  int k = i + 1;
  for (; k + kAtOnce <= end; k += kAtOnce) {
    for (int j = 0; j < kAtOnce; ++j) subtract(k + j, sum[j]);
  }
  for (; k < end; ++k) subtract(k, sum[0]);
  for (int r = 0; r < kRows; ++r) {
    for (int m = 0; m < kChunks; ++m) {
      for (int j = 1; j < kAtOnce; ++j) sum[0][r][m] += sum[j][r][m];
      Eigen::Map<Lanes>(F.LD.data() + F.start[P::at(i - r)] + c + m * P::kLanes) = sum[0][r][m];
    }
  }
}

/// All of row i, and for kRows = 2 of row i - 1. Written in full packs of four, as they are read;
/// entries beyond the diagonal never affect those before it.
template <int kRows, typename T>
LIMB_INLINE void subtract_descendants(PackedFactor<T>& F, int i, int end) {
  constexpr int kLanes = PackedFactor<T>::kLanes;
  const int shorter = F.depth[F.at(i - kRows + 1)], longer = F.depth[F.at(i)];
  int c = 0;
  for (; c + kLanes < shorter; c += 2 * kLanes) subtract_descendants<kRows, 2>(F, i, end, c);
  for (; c < shorter; c += kLanes) subtract_descendants<kRows, 1>(F, i, end, c);
  for (; c < longer; c += kLanes) subtract_descendants<1, 1>(F, i, end, c);
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
  for (int c = 0; c < depth; c += P::kLanes) {
    Eigen::Map<Lanes>(row + c) = inverse * Eigen::Map<const Lanes>(scaled + c);
    if (!keep) Eigen::Map<Lanes>(scaled + c) = Lanes::Constant(T(0));
  }
  return keep;
}

/// Factors the leading n x n part of the matrix whose column k is at `columns + k * stride` (upper
/// triangle read). A pivot not larger than `tolerance` times the largest diagonal entry of its
/// group of rows, which have the same unit, is dropped with its row: its inverse and its row of L
/// are set to zero. `groups` has a number for each row, the same for consecutive rows of one group;
/// null: each row is one. @returns the number of pivots kept; `dropped` is the smallest dropped
/// index, or -1.
template <typename T>
int factorize(PackedFactor<T>& F, int n, const T* columns, Eigen::Index stride, const T& tolerance,
              int& dropped, const int* groups = nullptr) {
  using P = PackedFactor<T>;
  using Lanes = typename P::Lanes;
  gather(F, n, columns, stride);
  int rank = 0;
  dropped = -1;
  const auto largest = [&](int i) {
    T most = columns[i * (stride + 1)];
    if constexpr (Branching<T>) {
      if (groups == nullptr) return most;
      for (int k = i - 1; k >= 0 && groups[k] == groups[i]; --k) {
        most = std::max(most, columns[k * (stride + 1)]);
      }
      for (int k = i + 1; k < n && groups[k] == groups[i]; ++k) {
        most = std::max(most, columns[k * (stride + 1)]);
      }
    }
    return most;
  };
  const auto finish = [&](int i) {
    const bool keep = finish_row(F, i, T(tolerance * largest(i)));
    rank += keep;
    if (!keep) dropped = i;
  };
  for (int i = n - 1; i >= 0; --i) {
    const int end = std::min(F.end[P::at(i)], n);
    // Together with a parent that has no other child: both have the same further descendants.
    const bool pair = i > 0 && F.depth[P::at(i)] == F.depth[P::at(i - 1)] + 1 &&
                      std::min(F.end[P::at(i - 1)], n) == end;
    if (!pair) {
      subtract_descendants<1>(F, i, end);
      finish(i);
      continue;
    }
    subtract_descendants<2>(F, i, end);
    finish(i);
    const int depth = F.depth[P::at(i - 1)], begin = F.start[P::at(i)];
    T* scaled = F.LD.data() + F.start[P::at(i - 1)];
    const T factor = F.LD[P::at(begin + depth - 1)];
    for (int c = 0; c < depth; c += P::kLanes) {
      Eigen::Map<Lanes>(scaled + c) -= factor * Eigen::Map<const Lanes>(F.L.data() + begin + c);
    }
    finish(--i);
  }
  return rank;
}

/// x <- L^-T x. E is the scalar, or a pack of several.
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
    E even = x[k];  // two independent sums
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
