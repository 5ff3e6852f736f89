#pragma once

#include <vector>

#include "limb/codegen/graph.hpp"

namespace limb::codegen {

/// Which products are computed inside a sum, a b + c with one rounding.
struct Fusion {
  std::vector<int> product;  ///< of each node that is a sum: its operand fused into it, or -1
  std::vector<char> fused;   ///< of each node: a product that is computed nowhere else
};

/// Products that one sum alone uses, one product a sum.
/// @param needed, uses of each node.
/// @param copy those that several sums share, too, if all of these have room: one instruction less,
/// but a product in each of them. Some processors have units of their own for sums, so that this
/// costs time where products are what code waits for.
Fusion choose_fusion(const Graph& graph, const std::vector<char>& needed,
                     const std::vector<int>& uses, bool copy);

}  // namespace limb::codegen
