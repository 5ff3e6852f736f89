#pragma once

#include <vector>

#include "limb/dynamics/factor/packed_factor.hpp"
#include "limb/dynamics/recursive/pack4.hpp"

namespace limb::kernel {

/// The inverse W D^-1 W^T of a packed factor L^T D L, W = L^-1, and its products with matrices of
/// branch-induced sparsity: four rows at a time, all column-major.
///
/// Rows are grouped in blocks of up to four consecutive ones without a branch between them. A block
/// is related to its ancestors and its descendants. Row j of W is nonzero only on the path from the
/// root to j.
template <typename T>
struct BranchInverse {
  struct Block {
    int row = 0, count = 0;
    int end = 0;                       ///< one past the last row of its subtree
    int depth = 0;                     ///< rows before its first one on the path
    int tree_begin = 0, tree_end = 0;  ///< rows of the tree with the same root
    std::size_t ancestors = 0;         ///< offset in `ancestors`: blocks from the root to itself
    int level = 0;                     ///< number of blocks before it there
    std::size_t subtree = 0;           ///< offset in `subtree`, in numbers
    std::size_t path = 0;              ///< offset in `path`, in numbers
    std::size_t related = 0;  ///< offset in `related`: rows of its path, then of its subtree
  };

  BranchInverse() = default;
  explicit BranchInverse(const PackedFactor<T>& F);

  std::vector<Block> blocks;
  std::vector<int> ancestors;
  std::vector<int> shared;  ///< [b * blocks + c]: number of rows common to both paths
  std::vector<int> related;
  // Stored as Pack4 for alignment: no load crosses a cache line.
  std::vector<Pack4<T>> subtree;  ///< W(j, block) for each row j of the subtree of a block
  std::vector<Pack4<T>> path;     ///< W(block, k) for each row k on the path of its last row
  std::vector<Pack4<T>> product;  ///< D^-1 W^T of four unit columns, by rows
  std::vector<Pack4<T>> inverse;  ///< column-major
  int stride = 0;                 ///< of `inverse`, in numbers; rows beyond the last are zero

  static T* data(std::vector<Pack4<T>>& x) { return reinterpret_cast<T*>(x.data()); }
  static const T* data(const std::vector<Pack4<T>>& x) {
    return reinterpret_cast<const T*>(x.data());
  }
};

}  // namespace limb::kernel
