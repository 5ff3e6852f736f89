#pragma once

#include <vector>

#include "limb/codegen/graph.hpp"

namespace limb::codegen {

/// Which products are computed inside a sum, a b + c with one rounding.
struct Fusion {
  std::vector<int> product;  ///< of each node that is a sum: its operand fused into it, or -1
  std::vector<char> fused;   ///< of each node: a product that is computed nowhere else
};

/// Products that sums alone use, all of which have room for it (one product a sum). A product that
/// several sums share is then computed in each, at no cost.
/// @param needed, uses of each node.
Fusion choose_fusion(const Graph& graph, const std::vector<char>& needed,
                     const std::vector<int>& uses);

}  // namespace limb::codegen
