#pragma once

#include <utility>
#include <vector>

#include "limb/codegen/record/graph.hpp"

namespace limb::codegen {

/// A direction in the space of inputs: pairs of a node and the node of its derivative.
using Direction = std::vector<std::pair<int, int>>;

/// Derivatives of the roots along a direction by forward differentiation, appended to the graph.
/// Zero derivatives stay constants. The derivative of |x| at 0 is that of x, as for Dual; those of
/// sqrt at 0 and of atan2 at (0, 0) are not finite.
/// @param fixed nodes that are treated as constants.
std::vector<int> differentiate(Graph& graph, const std::vector<int>& roots,
                               const Direction& direction, const std::vector<int>& fixed = {});

}  // namespace limb::codegen
