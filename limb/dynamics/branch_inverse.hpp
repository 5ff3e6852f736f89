#pragma once

#include <vector>

#include "limb/dynamics/lanes.hpp"
#include "limb/dynamics/packed_factor.hpp"

namespace limb::kernel {

/// The inverse W D^-1 W^T of a packed factor L^T D L, W = L^-1, and its products with matrices that
/// are as sparse as the tree: four rows at a time, all by columns.
///
/// Rows stand in blocks, up to four that follow each other without a branch between them. A block
/// is related to those on its way from the root and to those it carries. Row j of W differs from
/// zero on the path of j alone.
template <typename T>
struct BranchInverse {
  struct Block {
    int row = 0, count = 0;
    int end = 0;                       ///< one past the last row that it carries
    int depth = 0;                     ///< rows before its own on the path
    int tree_begin = 0, tree_end = 0;  ///< rows that hang on the same root
    std::size_t way = 0;               ///< where its way begins in `ways`: blocks, itself the last
    int level = 0;                     ///< blocks before it there
    std::size_t carried = 0;           ///< where its part of `carried` begins
    std::size_t path = 0;              ///< where its part of `path` begins
    std::size_t related = 0;  ///< where its related rows begin in `related`: path, then subtree
  };

  BranchInverse() = default;
  explicit BranchInverse(const PackedFactor<T>& F);

  std::vector<Block> blocks;
  std::vector<int> ways;
  std::vector<int> shared;  ///< [b * blocks + c]: how many rows the paths of both have in common
  std::vector<int> related;
  // Of Four, so that no register crosses a line of the cache.
  std::vector<Four<T>> carried;  ///< W(j, block) for each row j that a block carries, its own first
  std::vector<Four<T>> path;     ///< W(block, k) for each row k on the path of its last row
  std::vector<Four<T>> product;  ///< D^-1 W^T of four unit columns, by rows
  std::vector<Four<T>> inverse;  ///< by columns
  int stride = 0;                ///< of inverse, in numbers; zero beyond the last row

  static T* numbers(std::vector<Four<T>>& x) { return reinterpret_cast<T*>(x.data()); }
  static const T* numbers(const std::vector<Four<T>>& x) {
    return reinterpret_cast<const T*>(x.data());
  }
};

}  // namespace limb::kernel
