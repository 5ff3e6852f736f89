#pragma once

#include "limb/symbolic/derive/closed_form.hpp"

namespace limb::symbolic {

/// Operational-space inertia Lambda = (J M^-1 J^T)^-1 as numerator / denominator, for the nonzero
/// rows of J, at most nv of them.   [Khatib 1987]
struct OperationalSpaceInertia {
  std::vector<int> rows;  ///< rows of J that are used: 0 to 5
  Matrix numerator;
  Polynomial denominator;
};
/// @throws Error if all rows are zero, or if the chosen rows are linearly dependent for every q.
OperationalSpaceInertia derive_operational_space_inertia(const Matrix& M, const FrameForm& frame);

}  // namespace limb::symbolic
