#pragma once

#include <vector>

#include "limb/codegen/differentiate.hpp"
#include "limb/codegen/traced.hpp"
#include "limb/model/model.hpp"

/// Derivatives of recorded results by forward differentiation of the graph, for functions of your
/// own; those of the dynamics are recorded from their analytic recursion.
namespace limb::codegen {

/// One direction for each entry of x, which are inputs.
std::vector<Direction> along(const VectorX<Traced>& x);

/// The robot's tangents at q, which is an input: column k is the derivative along
/// integrate(q, e e_k).
std::vector<Direction> tangents(const Model<Traced>& model, const VectorX<Traced>& q);

/// dy, one column a direction, appended to the graph that is being recorded. Directions of which no
/// entry of y depends on two are differentiated in one pass [Curtis 1974, compression]: those of
/// separate limbs, for example.
MatrixX<Traced> jacobian(const VectorX<Traced>& y, const std::vector<Direction>& directions);

}  // namespace limb::codegen
