#pragma once

#include <algorithm>

#include "limb/dynamics/factor/branch_inverse.hpp"

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
      next.ancestors = ancestors.size();
      if (parent(k) >= 0) {
        const Block& before = blocks[F.at(block_of[F.at(parent(k))])];
        next.level = before.level + 1;
        for (int m = 0; m < next.level; ++m)
          ancestors.push_back(ancestors[before.ancestors + F.at(m)]);
      }
      ancestors.push_back(static_cast<int>(blocks.size()));
      blocks.push_back(next);
    }
    ++blocks.back().count;
    block_of[F.at(k)] = static_cast<int>(blocks.size()) - 1;
  }
  const int count = static_cast<int>(blocks.size());
  for (int b = 0; b < count; ++b) {
    Block& block = blocks[F.at(b)];
    const Block& root = blocks[F.at(ancestors[block.ancestors])];
    block.tree_begin = root.row;
    block.tree_end = root.end;
    block.subtree = 4 * subtree.size();
    subtree.resize(subtree.size() + F.at(block.end - block.row), broadcast(T(0)));
    block.path = 4 * path.size();
    path.resize(path.size() + F.at(block.depth + 4), broadcast(T(0)));
    block.related = related.size();
    related.insert(related.end(), F.path_of(block.row), F.path_of(block.row) + block.depth);
    for (int k = block.row; k < block.end; ++k) related.push_back(k);
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
  product.assign(F.at(n), broadcast(T(0)));
  stride = (n + 3) / 4 * 4;
  inverse.assign(F.at(stride / 4 * n + 1), broadcast(T(0)));
}

/// W from L: row j is the unit row minus L(j, i) times row i, for all ancestors i of j.
template <typename T>
void invert(const PackedFactor<T>& F, BranchInverse<T>& W) {
  const T o = T(0), one = T(1);
  const Pack4<T> units[4] = {pack4(one, o, o, o), pack4(o, one, o, o), pack4(o, o, one, o),
                             pack4(o, o, o, one)};
  for (const auto& block : W.blocks) {
    const int last = block.row + block.count - 1, depth = block.depth;
    const int* const path = F.path_of(last);
    // Missing rows of the block repeat the last one; their results are discarded.
    const T* const L[4] = {F.row(block.row), F.row(std::min(block.row + 1, last)),
                           F.row(std::min(block.row + 2, last)),
                           F.row(std::min(block.row + 3, last))};
    T* const columns = W.data(W.path) + block.path;
    for (int b = 0; b <= block.level; ++b) {
      const auto& before = W.blocks[F.at(W.ancestors[block.ancestors + F.at(b)])];
      T* const rows = W.data(W.subtree) + before.subtree - 4 * before.row;
      Pack4<T> x[4];
      for (int r = 0; r < 4; ++r) x[r] = b == block.level ? units[r] : broadcast(o);
      for (int m = before.depth; m < depth; ++m) {
        const Pack4<T> row = load_pack4(rows + 4 * path[m]);
        for (int r = 0; r < 4; ++r) x[r] = x[r] - L[r][m] * row;
      }
      for (int r = 1; r < block.count; ++r) {
        for (int k = 0; k < r; ++k) x[r] = x[r] - L[r][depth + k] * x[k];
      }
      for (int r = 0; r < 4; ++r) {
        if (r < block.count) {
          store_pack4(x[r], rows + 4 * (block.row + r));
        } else {
          x[r] = broadcast(o);
        }
      }
      transpose(x[0], x[1], x[2], x[3]);
      for (int k = 0; k < 4; ++k) store_pack4(x[k], columns + 4 * (before.depth + k));
    }
  }
}

/// The inverse W D^-1 W^T: blocks on and below the diagonal, each also written transposed above it.
template <typename T>
void form_inverse(const PackedFactor<T>& F, BranchInverse<T>& W) {
  const int count = static_cast<int>(W.blocks.size());
  const auto* const blocks = W.blocks.data();
  const T* const inverse = F.inverse.data();
  const Eigen::Index stride = W.stride;
  T *const X = W.data(W.inverse), *const product = W.data(W.product);
  for (int c = 0; c < count; ++c) {
    const auto& column = blocks[c];
    const int* const shared = W.shared.data() + c * count;
    const int* const column_path = F.path_of(column.row + column.count - 1);
    const T* const row = W.data(W.path) + column.path;
    for (int m = 0; m < column.depth + column.count; ++m) {
      const int k = column_path[m];
      store_pack4(inverse[k] * load_pack4(row + 4 * m), product + 4 * k);
    }
    for (int v = c; v < count && blocks[v].row < column.tree_end; ++v) {
      const auto& block = blocks[v];
      const int* const path = F.path_of(block.row + block.count - 1);
      const T* const w = W.data(W.path) + block.path;
      const int length = shared[v];
      const Pack4<T> o = broadcast(T(0));
      Pack4<T> even[4] = {o, o, o, o}, odd[4] = {o, o, o, o};
      int m = 0;
      for (; m + 2 <= length; m += 2) {
        const Pack4<T> x = load_pack4(w + 4 * m), y = load_pack4(w + 4 * m + 4);
        const T *const p = product + 4 * path[m], *const q = product + 4 * path[m + 1];
        for (int k = 0; k < 4; ++k) {
          even[k] = even[k] + p[k] * x;
          odd[k] = odd[k] + q[k] * y;
        }
      }
      if (m < length) {
        const Pack4<T> x = load_pack4(w + 4 * m);
        const T* const p = product + 4 * path[m];
        for (int k = 0; k < 4; ++k) even[k] = even[k] + p[k] * x;
      }
      for (int k = 0; k < 4; ++k) even[k] = even[k] + odd[k];
      T* const to = X + block.row + column.row * stride;
      for (int k = 0; k < column.count; ++k) store_lanes(even[k], block.count, to + k * stride);
      if (v == c) continue;
      transpose(even[0], even[1], even[2], even[3]);
      T* const mirrored = X + column.row + block.row * stride;
      for (int k = 0; k < block.count; ++k)
        store_lanes(even[k], column.count, mirrored + k * stride);
    }
  }
}

/// 4 kPacks rows of -inverse times two columns, summed over the given rows of these. At most
/// `count` rows are written.
template <int kPacks, typename T>
LIMB_INLINE void multiply_two(const T* inverse, int stride, const int* begin, const int* end,
                              const T* A, const T* B, int count, T* X, T* Y) {
  Pack4<T> x[kPacks], y[kPacks];
  for (int m = 0; m < kPacks; ++m) x[m] = y[m] = broadcast(T(0));
  for (; begin != end; ++begin) {
    const T* const column = inverse + *begin * stride;
    const Pack4<T> a = broadcast(A[*begin]), b = broadcast(B[*begin]);
    for (int m = 0; m < kPacks; ++m) {
      const Pack4<T> rows = load_pack4(column + 4 * m);
      x[m] = x[m] - a * rows;
      y[m] = y[m] - b * rows;
    }
  }
  for (int m = 0; m + 1 < kPacks; ++m) {
    store_pack4(x[m], X + 4 * m);
    store_pack4(y[m], Y + 4 * m);
  }
  constexpr int kLast = 4 * kPacks - 4;
  store_lanes(x[kPacks - 1], std::min(count - kLast, 4), X + kLast);
  store_lanes(y[kPacks - 1], std::min(count - kLast, 4), Y + kLast);
}

/// X <- -(L^T D L)^-1 A and Y <- -(L^T D L)^-1 B, where A and B are nonzero only where row and
/// column are related.
template <typename T>
void multiply_inverse(const PackedFactor<T>& F, const BranchInverse<T>& W, const T* A, const T* B,
                      Eigen::Index stride, T* X, Eigen::Index X_stride, T* Y,
                      Eigen::Index Y_stride) {
  const int n = static_cast<int>(F.depth.size());
  for (const auto& block : W.blocks) {
    const int* const related = W.related.data() + block.related;
    const int* const related_end = related + block.depth + (block.end - block.row);
    // Rows of other trees are zero.
    const int tree_begin = block.tree_begin / 4 * 4;
    for (int c = block.row; c < block.row + block.count; ++c) {
      const T *const a = A + c * stride, *const b = B + c * stride;
      T *const x = X + c * X_stride, *const y = Y + c * Y_stride;
      for (int r = 0; r < tree_begin; ++r) x[r] = y[r] = T(0);
      int r = tree_begin;
      const auto run = [&](auto packs) __attribute__((always_inline)) {
        multiply_two<decltype(packs)::value>(W.data(W.inverse) + r, W.stride, related, related_end,
                                             a, b, n - r, x + r, y + r);
        r += 4 * decltype(packs)::value;
      };
      while (block.tree_end - r > 16) run(std::integral_constant<int, 5>());
      switch ((block.tree_end - r + 3) / 4) {
        case 4:
          run(std::integral_constant<int, 4>());
          break;
        case 3:
          run(std::integral_constant<int, 3>());
          break;
        case 2:
          run(std::integral_constant<int, 2>());
          break;
        case 1:
          run(std::integral_constant<int, 1>());
          break;
        default:
          break;
      }
      for (; r < n; ++r) x[r] = y[r] = T(0);
    }
  }
}

/// x <- (L^T D L)^-1 b
template <typename T>
void multiply_inverse(const PackedFactor<T>& F, const BranchInverse<T>& W, const T* b, T* x) {
  const int n = static_cast<int>(F.depth.size());
  for (int r = 0; r < n; r += 8) {
    Pack4<T> sum[4] = {broadcast(T(0)), broadcast(T(0)), broadcast(T(0)), broadcast(T(0))};
    const T* column = W.data(W.inverse) + r;
    int k = 0;
    for (; k + 2 <= n; k += 2, column += 2 * W.stride) {
      sum[0] = sum[0] + b[k] * load_pack4(column);
      sum[1] = sum[1] + b[k] * load_pack4(column + 4);
      sum[2] = sum[2] + b[k + 1] * load_pack4(column + W.stride);
      sum[3] = sum[3] + b[k + 1] * load_pack4(column + W.stride + 4);
    }
    if (k < n) {
      sum[0] = sum[0] + b[k] * load_pack4(column);
      sum[1] = sum[1] + b[k] * load_pack4(column + 4);
    }
    store_lanes(sum[0] + sum[2], std::min(n - r, 4), x + r);
    if (n - r > 4) store_lanes(sum[1] + sum[3], std::min(n - r - 4, 4), x + r + 4);
  }
}

}  // namespace limb::kernel
