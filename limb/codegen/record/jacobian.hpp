#pragma once

#include <vector>

#include "limb/codegen/record/differentiate.hpp"
#include "limb/codegen/record/traced.hpp"
#include "limb/model/core/model.hpp"

/// Derivatives of recorded results by forward differentiation of the graph, for user-defined
/// functions; those of the dynamics are recorded from their analytic recursion.
namespace limb::codegen {

/// The unit direction of each entry of x, which are inputs.
std::vector<Direction> unit_directions(const VectorX<Traced>& x);

/// The robot's tangent directions at q, which is an input: direction k is the derivative of
/// integrate(q, eps e_k) by eps at eps = 0.
std::vector<Direction> tangents(const Model<Traced>& model, const VectorX<Traced>& q);

/// dy, one column per direction, appended to the graph that is being recorded. Directions that
/// affect disjoint entries of y are differentiated in one pass [Curtis 1974, compression]: those of
/// separate limbs, for example.
MatrixX<Traced> jacobian(const VectorX<Traced>& y, const std::vector<Direction>& directions);

}  // namespace limb::codegen
