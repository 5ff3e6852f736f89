#pragma once

#include <vector>

#include "limb/codegen/record/graph.hpp"

namespace limb::codegen {

/// Which products are computed inside a sum, a b + c with one rounding.
struct Fusion {
  std::vector<int> product;  ///< for each sum: the operand fused into it, or -1
  std::vector<char> fused;   ///< for each node: a product that is only computed fused
};

/// Fuses products that are used by only one sum, one product per sum.
/// @param needed, uses of each node.
/// @param copy also fuse products shared by several sums, if all of these can: one instruction
/// less, but one product in each of them. Some processors have separate units for sums, so that
/// this costs time where products are the bottleneck.
Fusion choose_fusion(const Graph& graph, const std::vector<char>& needed,
                     const std::vector<int>& uses, bool copy);

}  // namespace limb::codegen
