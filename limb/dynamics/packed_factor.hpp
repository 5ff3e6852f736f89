#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "limb/dynamics/arguments.hpp"

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
  std::vector<T> L, LD;  ///< by rows: L with whatever on its diagonal, and L times the pivot
  VectorX<T> D, inverse;
};

/// Row i, less what its descendants up to `end` take from it: first entries, four by four.
template <typename T>
void take_descendants(PackedFactor<T>& F, int i, int end) {
  using P = PackedFactor<T>;
  using Lanes = typename P::Lanes;
  const int depth = F.depth[P::at(i)];
  T* own = F.row(i);
  const auto load = [](const T* x) { return Eigen::Map<const Lanes>(x); };
  int c = 0;
  for (; c + P::kFour < depth; c += 2 * P::kFour) {
    Lanes a0 = load(own + c), a1 = load(own + c + P::kFour);
    for (int k = i + 1; k < end; ++k) {
      const int begin = F.start[P::at(k)];
      const T factor = F.LD[P::at(begin + depth - 1)];
      const T* row = F.L.data() + begin + c;
      a0 -= factor * load(row);
      a1 -= factor * load(row + P::kFour);
    }
    Eigen::Map<Lanes>(own + c) = a0;
    Eigen::Map<Lanes>(own + c + P::kFour) = a1;
  }
  if (c >= depth) return;
  Lanes a0 = load(own + c), a1 = Lanes::Constant(T(0));
  int k = i + 1;
  for (; k + 1 < end; k += 2) {
    const int begin = F.start[P::at(k)], next = F.start[P::at(k + 1)];
    a0 -= F.LD[P::at(begin + depth - 1)] * load(F.L.data() + begin + c);
    a1 -= F.LD[P::at(next + depth - 1)] * load(F.L.data() + next + c);
  }
  if (k < end) {
    const int begin = F.start[P::at(k)];
    a0 -= F.LD[P::at(begin + depth - 1)] * load(F.L.data() + begin + c);
  }
  Eigen::Map<Lanes>(own + c) = a0 + a1;
}

/// Factors the leading n x n part of the matrix whose column k stands at `columns + k * stride`
/// (upper triangle read). A pivot that is not larger than `tolerance` times the entry it came from
/// is dropped with its row: its inverse, and its row of L, are zero. @returns how many remain;
/// `dropped` is the smallest index among the others, or -1.
template <typename T>
int factorize(PackedFactor<T>& F, int n, const T* columns, Eigen::Index stride, const T& tolerance,
              int& dropped) {
  using P = PackedFactor<T>;
  int rank = 0;
  dropped = -1;
  for (int i = n - 1; i >= 0; --i) {
    const int depth = F.depth[P::at(i)], begin = F.start[P::at(i)];
    const int* path = F.path_of(i);
    T* row = F.row(i);
    T* scaled = F.LD.data() + begin;
    const T* column = columns + i * stride;
    for (int m = 0; m < depth; ++m) row[m] = column[path[m]];
    const int padded = (depth + P::kFour - 1) / P::kFour * P::kFour;
    for (int m = depth; m < padded; ++m) row[m] = T(0);
    const T entry = row[depth - 1];
    take_descendants(F, i, std::min(F.end[P::at(i)], n));
    const T pivot = row[depth - 1];
    F.D[i] = pivot;
    if constexpr (Branching<T>) {
      if (!(tolerance * entry < pivot)) {
        dropped = i;
        F.D[i] = F.inverse[i] = T(0);
        for (int m = 0; m < padded; ++m) row[m] = scaled[m] = T(0);
        continue;
      }
    }
    ++rank;
    const T inverse = T(1) / pivot;
    F.inverse[i] = inverse;
    for (int m = 0; m + 1 < depth; ++m) {
      scaled[m] = row[m];
      row[m] = row[m] * inverse;
    }
  }
  return rank;
}

/// x <- L^-T x
template <typename T>
void solve_transposed(const PackedFactor<T>& F, int n, T* x) {
  for (int k = n - 1; k >= 0; --k) {
    const int* path = F.path_of(k);
    const T* row = F.row(k);
    const T value = x[k];
    for (int m = F.depth[F.at(k)] - 2; m >= 0; --m) x[path[m]] = x[path[m]] - row[m] * value;
  }
}

/// x <- L^-1 x
template <typename T>
void solve_forward(const PackedFactor<T>& F, int n, T* x) {
  for (int k = 0; k < n; ++k) {
    const int* path = F.path_of(k);
    const T* row = F.row(k);
    T sum = x[k];
    for (int m = F.depth[F.at(k)] - 2; m >= 0; --m) sum = sum - row[m] * x[path[m]];
    x[k] = sum;
  }
}

/// x <- (L^T D L)^-1 x, for a factor without dropped rows.
template <typename T>
void solve(const PackedFactor<T>& F, int n, T* x) {
  solve_transposed(F, n, x);
  for (int k = 0; k < n; ++k) x[k] = x[k] * F.inverse[k];
  solve_forward(F, n, x);
}

}  // namespace limb::kernel
