#pragma once

#include <vector>

#include "limb/codegen/record/trace.hpp"

namespace limb::codegen {

/// -(left right): matrices by columns, whose entries are indices into a list of numbers.
struct Product {
  int rows = 0, inner = 0, columns = 0;
  std::vector<int> left, right, result;

  int left_at(int r, int k) const { return left[static_cast<std::size_t>(r + k * rows)]; }
  int right_at(int k, int c) const { return right[static_cast<std::size_t>(k + c * inner)]; }
  int result_at(int r, int c) const { return result[static_cast<std::size_t>(r + c * rows)]; }
};

/// A computation in two steps: a recorded one, whose results are the first numbers of a list, and
/// products of matrices, which append to the list; straight-line code, then loops. Useful where
/// products are most of the work and straight-line code for them would exceed the instruction
/// caches.
struct Split {
  Trace trace;                    ///< its results, in order, start the list; the first is zero
  std::vector<Product> products;  ///< each uses numbers that come before its results
  int size = 0;                   ///< of the list
  std::vector<Array> outputs;     ///< of the whole computation
  std::vector<int> results;       ///< the index of each entry of each output
};

}  // namespace limb::codegen
