#pragma once

#include <utility>
#include <vector>

#include "limb/codegen/graph.hpp"

namespace limb::codegen {

/// A direction in which the inputs move: nodes with the nodes of their derivatives.
using Direction = std::vector<std::pair<int, int>>;

/// Derivatives of the roots along a direction, by the chain rule from the inputs on, appended to
/// the graph. Only what depends on the direction is visited; derivatives that are zero stay
/// constants.
/// @param fixed nodes that count as constants, whatever they depend on.
std::vector<int> differentiate(Graph& graph, const std::vector<int>& roots,
                               const Direction& direction, const std::vector<int>& fixed = {});

}  // namespace limb::codegen
