#pragma once

#include <vector>

#include "limb/codegen/trace.hpp"

namespace limb::codegen {

/// -(left right), matrices of numbers that are named by their place in a list, by columns.
struct Product {
  int rows = 0, inner = 0, columns = 0;
  std::vector<int> left, right, result;

  int left_at(int r, int k) const { return left[static_cast<std::size_t>(r + k * rows)]; }
  int right_at(int k, int c) const { return right[static_cast<std::size_t>(k + c * inner)]; }
  int result_at(int r, int c) const { return result[static_cast<std::size_t>(r + c * rows)]; }
};

/// A computation in two steps: a recorded one, whose results are the first numbers of a list, and
/// products of matrices, which append to it; a straight line of code, then loops. Serves where
/// products are most of the work and a straight line of them would be longer than the caches of
/// instructions.
struct Split {
  Trace trace;                    ///< results, in order: the first numbers; the first one is zero
  std::vector<Product> products;  ///< each of numbers that stand before its results
  int size = 0;                   ///< of the list
  std::vector<Array> outputs;     ///< what the whole computes
  std::vector<int> results;       ///< the number of each entry of each output
};

}  // namespace limb::codegen
