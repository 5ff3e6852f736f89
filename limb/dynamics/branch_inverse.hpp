#pragma once

#include <vector>

#include "limb/dynamics/lanes.hpp"
#include "limb/dynamics/packed_factor.hpp"

namespace limb::kernel {

/// W = L^-1 of a packed factor L^T D L, and products with W D^-1 W^T, the inverse of the matrix:
/// for right sides as sparse as the tree allows, four rows and four columns at a time, all by
/// columns.
///
/// Rows stand in blocks, up to four that follow each other without a branch between them. A block
/// is related to those on its way from the root and to those it carries. Row j of W differs from
/// zero on the path of j alone, column k in what k carries alone.
template <typename T>
struct BranchInverse {
  struct Block {
    int row = 0, count = 0;
    int end = 0;              ///< one past the last row that it carries
    int depth = 0;            ///< rows before its own on the path
    int last = 0;             ///< one past the last block that it carries
    std::size_t way = 0;      ///< where its way begins in `ways`: blocks, itself the last
    int level = 0;            ///< blocks before it there
    std::size_t carried = 0;  ///< where its part of `carried` begins
    std::size_t path = 0;     ///< where its part of `path` begins
  };

  BranchInverse() = default;
  explicit BranchInverse(const PackedFactor<T>& F);

  std::vector<Block> blocks;
  std::vector<int> ways;
  std::vector<int> shared;  ///< [b * blocks + c]: how many rows the paths of both have in common
  std::vector<T> carried;   ///< W(j, block) for each row j that a block carries, its own first
  std::vector<T> path;      ///< W(block, k) for each row k on the path of its last row
  std::vector<T> pivots;    ///< D^-1 of each block
  std::vector<T> product;   ///< D^-1 W^T of three right sides, four columns each, by rows
};

}  // namespace limb::kernel
