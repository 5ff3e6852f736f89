#pragma once

#include <algorithm>

#include "limb/dynamics/branch_inverse.hpp"

namespace limb::kernel {

template <typename T>
BranchInverse<T>::BranchInverse(const PackedFactor<T>& F) {
  const int n = static_cast<int>(F.depth.size());
  const auto parent = [&](int k) {
    return F.depth[F.at(k)] > 1 ? F.path_of(k)[F.depth[F.at(k)] - 2] : -1;
  };
  std::vector<int> children(F.depth.size(), 0), block_of(F.depth.size(), 0);
  for (int k = 0; k < n; ++k) {
    if (parent(k) >= 0) ++children[F.at(parent(k))];
  }
  for (int k = 0; k < n; ++k) {
    const bool follows =
        k > 0 && parent(k) == k - 1 && children[F.at(k - 1)] == 1 && blocks.back().count < 4;
    if (!follows) {
      Block next;
      next.row = k;
      next.end = F.end[F.at(k)];
      next.depth = F.depth[F.at(k)] - 1;
      next.way = ways.size();
      if (parent(k) >= 0) {
        const Block& before = blocks[F.at(block_of[F.at(parent(k))])];
        next.level = before.level + 1;
        for (int m = 0; m < next.level; ++m) ways.push_back(ways[before.way + F.at(m)]);
      }
      ways.push_back(static_cast<int>(blocks.size()));
      blocks.push_back(next);
    }
    ++blocks.back().count;
    block_of[F.at(k)] = static_cast<int>(blocks.size()) - 1;
  }
  const int count = static_cast<int>(blocks.size());
  for (int b = 0; b < count; ++b) {
    Block& block = blocks[F.at(b)];
    block.last = b + 1;
    while (block.last < count && blocks[F.at(block.last)].row < block.end) ++block.last;
    block.carried = carried.size();
    carried.resize(carried.size() + F.at(4 * (block.end - block.row)), T(0));
    block.path = path.size();
    path.resize(path.size() + F.at(4 * (block.depth + 4)), T(0));
  }
  for (int b = 0; b < count; ++b) {
    for (int c = 0; c < count; ++c) {
      const Block &x = blocks[F.at(b)], &y = blocks[F.at(c)];
      const int *i = F.path_of(x.row + x.count - 1), *j = F.path_of(y.row + y.count - 1);
      int rows = 0;
      while (rows < std::min(x.depth + x.count, y.depth + y.count) && i[rows] == j[rows]) ++rows;
      shared.push_back(rows);
    }
  }
  pivots.assign(F.at(4 * count), T(0));
  product.assign(F.at(12 * (n + 4)), T(0));
}

/// W from L: row j is the unit less L(j, i) times row i for all i before j on its path.
template <typename T>
void invert(const PackedFactor<T>& F, BranchInverse<T>& W) {
  const T o = T(0), one = T(1);
  const Four<T> units[4] = {four(one, o, o, o), four(o, one, o, o), four(o, o, one, o),
                            four(o, o, o, one)};
  T* pivots = W.pivots.data();
  for (const auto& block : W.blocks) {
    const int last = block.row + block.count - 1, depth = block.depth;
    const int* const path = F.path_of(last);
    // Rows beyond the block's own are those of its last one, of which nothing is kept.
    const T* const L[4] = {F.row(block.row), F.row(std::min(block.row + 1, last)),
                           F.row(std::min(block.row + 2, last)),
                           F.row(std::min(block.row + 3, last))};
    for (int k = 0; k < block.count; ++k) pivots[k] = F.inverse[block.row + k];
    pivots += 4;
    T* const columns = W.path.data() + block.path;
    for (int b = 0; b <= block.level; ++b) {
      const auto& before = W.blocks[F.at(W.ways[block.way + F.at(b)])];
      T* const rows = W.carried.data() + before.carried - 4 * before.row;
      Four<T> x[4];
      for (int r = 0; r < 4; ++r) x[r] = b == block.level ? units[r] : all(o);
      for (int m = before.depth; m < depth; ++m) {
        const Four<T> row = load_four(rows + 4 * path[m]);
        for (int r = 0; r < 4; ++r) x[r] = x[r] - L[r][m] * row;
      }
      for (int r = 1; r < block.count; ++r) {
        for (int k = 0; k < r; ++k) x[r] = x[r] - L[r][depth + k] * x[k];
      }
      for (int r = 0; r < 4; ++r) {
        if (r < block.count) {
          store_four(x[r], rows + 4 * (block.row + r));
        } else {
          x[r] = all(o);
        }
      }
      transpose(x[0], x[1], x[2], x[3]);
      for (int k = 0; k < 4; ++k) store_four(x[k], columns + 4 * (before.depth + k));
    }
  }
}

/// x <- (L^T D L)^-1 x
template <typename T>
void multiply_inverse(const PackedFactor<T>& F, BranchInverse<T>& W, T* x) {
  T* const product = W.product.data();
  const T* pivots = W.pivots.data();
  for (const auto& block : W.blocks) {
    const T* w = W.carried.data() + block.carried;
    Four<T> sum[4] = {all(T(0)), all(T(0)), all(T(0)), all(T(0))};
    int j = block.row;
    for (; j + 4 <= block.end; j += 4, w += 16) {
      for (int k = 0; k < 4; ++k) sum[k] = sum[k] + x[j + k] * load_four(w + 4 * k);
    }
    for (; j < block.end; ++j, w += 4) sum[0] = sum[0] + x[j] * load_four(w);
    store_four(load_four(pivots) * ((sum[0] + sum[1]) + (sum[2] + sum[3])), product + block.row);
    pivots += 4;
  }
  for (const auto& block : W.blocks) {
    const int* const path = F.path_of(block.row + block.count - 1);
    const T* const w = W.path.data() + block.path;
    Four<T> even = all(T(0)), odd = all(T(0));
    int m = 0;
    for (; m + 2 <= block.depth + block.count; m += 2) {
      even = even + product[path[m]] * load_four(w + 4 * m);
      odd = odd + product[path[m + 1]] * load_four(w + 4 * m + 4);
    }
    if (m < block.depth + block.count) even = even + product[path[m]] * load_four(w + 4 * m);
    store_some(even + odd, block.count, x + block.row);
  }
}

/// Two right sides and three results of as many columns each, in blocks.
template <typename T>
struct InverseColumns {
  const T* A[2];  ///< stride of both
  Eigen::Index A_stride;
  T* X[3];
  Eigen::Index X_stride[3];
};

/// product <- D^-1 W^T [A_0 A_1 -1] for the columns of a block. A, and so the product, differs from
/// zero only on related rows.
template <int kColumns, typename T>
LIMB_INLINE void multiply_transposed(const PackedFactor<T>& F, BranchInverse<T>& W, int number,
                                     const InverseColumns<T>& of) {
  const auto* const blocks = W.blocks.data();
  const auto& column = blocks[number];
  const int* const way = W.ways.data() + column.way;
  const int* const path = F.path_of(column.row + column.count - 1);
  const Eigen::Index stride = of.A_stride;
  const T *const A = of.A[0] + column.row * stride, *const B = of.A[1] + column.row * stride;
  const auto rows_of = [&](int u, int begin, int end) __attribute__((always_inline)) {
    const auto& block = blocks[u];
    const T* const rows = W.carried.data() + block.carried - 4 * block.row;
    Four<T> a[4] = {all(T(0)), all(T(0)), all(T(0)), all(T(0))}, b[4] = {a[0], a[0], a[0], a[0]};
    const auto take = [&](int j) __attribute__((always_inline)) {
      const Four<T> w = load_four(rows + 4 * j);
      for (int c = 0; c < kColumns; ++c) {
        a[c] = a[c] + A[j + c * stride] * w;
        b[c] = b[c] + B[j + c * stride] * w;
      }
    };
    // What the block carries, as far as it is related: on the path, then all behind the column.
    for (int m = block.depth; m < column.depth; ++m) take(path[m]);
    for (int j = begin; j < end; ++j) take(j);
    const Four<T> pivots = load_four(W.pivots.data() + 4 * u);
    for (int c = 0; c < kColumns; ++c) {
      a[c] = pivots * a[c];
      b[c] = pivots * b[c];
    }
    transpose(a[0], a[1], a[2], a[3]);
    transpose(b[0], b[1], b[2], b[3]);
    T* const product = W.product.data() + 12 * block.row;
    for (int k = 0; k < 4; ++k) {
      store_four(a[k], product + 12 * k);
      store_four(b[k], product + 12 * k + 4);
    }
  };
  for (int m = 0; m < column.level; ++m) rows_of(way[m], column.row, column.end);
  for (int u = number; u < column.last; ++u) rows_of(u, blocks[u].row, blocks[u].end);
  // W^T of units are rows of W.
  T* const product = W.product.data() + 8;
  const T* const w = W.path.data() + column.path;
  for (int m = 0; m < column.depth + column.count; ++m) {
    store_four(-F.inverse[path[m]] * load_four(w + 4 * m), product + 12 * path[m]);
  }
  for (int k = column.row + column.count; k < column.end; ++k) {
    store_four(all(T(0)), product + 12 * k);
  }
}

/// -W times the product, for the columns of a block.
template <int kColumns, typename T>
LIMB_INLINE void multiply_rows(const PackedFactor<T>& F, const BranchInverse<T>& W, int number,
                               const InverseColumns<T>& of) {
  const int count = static_cast<int>(W.blocks.size());
  const auto* const blocks = W.blocks.data();
  const auto& column = blocks[number];
  const int* const shared = W.shared.data() + number * count;
  const T* const product = W.product.data();
  T* const to[3] = {of.X[0] + column.row * of.X_stride[0], of.X[1] + column.row * of.X_stride[1],
                    of.X[2] + column.row * of.X_stride[2]};
  for (int v = 0; v < count; ++v) {
    const auto& block = blocks[v];
    const bool behind = number <= v && v < column.last;
    const int length = behind ? block.depth + block.count : shared[v];
    const int* const path = F.path_of(block.row + block.count - 1);
    const T* const w = W.path.data() + block.path;
    Four<T> sum[3][kColumns];
    for (auto& x : sum) {
      for (Four<T>& y : x) y = all(T(0));
    }
    for (int m = 0; m < length; ++m) {
      const Four<T> rows = load_four(w + 4 * m);
      const T* const y = product + 12 * path[m];
      for (int x = 0; x < 3; ++x) {
        for (int c = 0; c < kColumns; ++c) sum[x][c] = sum[x][c] - y[4 * x + c] * rows;
      }
    }
    for (int x = 0; x < 3; ++x) {
      for (int c = 0; c < kColumns; ++c) {
        store_some(sum[x][c], block.count, to[x] + block.row + c * of.X_stride[x]);
      }
    }
  }
}

/// X <- (L^T D L)^-1 [-A_0, -A_1, 1]; both A differ from zero only where rows and columns are
/// related.
template <typename T>
void multiply_inverse(const PackedFactor<T>& F, BranchInverse<T>& W, const InverseColumns<T>& of) {
  const int count = static_cast<int>(W.blocks.size());
  for (int c = 0; c < count; ++c) {
    const auto run = [&](auto columns) __attribute__((always_inline)) {
      multiply_transposed<decltype(columns)::value>(F, W, c, of);
      multiply_rows<decltype(columns)::value>(F, W, c, of);
    };
    switch (W.blocks[F.at(c)].count) {
      case 1:
        run(std::integral_constant<int, 1>());
        break;
      case 2:
        run(std::integral_constant<int, 2>());
        break;
      case 3:
        run(std::integral_constant<int, 3>());
        break;
      default:
        run(std::integral_constant<int, 4>());
    }
  }
}

}  // namespace limb::kernel
