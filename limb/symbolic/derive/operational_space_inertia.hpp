#pragma once

#include "limb/symbolic/derive/closed_form.hpp"

namespace limb::symbolic {

/// Operational-space dynamics F = Lambda xdd + mu + rho with the inertia Lambda = (J M^-1 J^T)^-1,
/// each as numerator / denominator with one denominator, for the nonzero rows of J, at most nv of
/// them.   [Khatib 1987]
struct OperationalSpaceInertia {
  std::vector<int> rows;  ///< rows of J that are used: 0 to 5
  Matrix numerator;
  Polynomial denominator;
  Vector mu, rho;  ///< numerators; empty if V and G are not given
};
/// The velocity-dependent and gravity forces of the robot, and its velocities.
struct OperationalForces {
  Vector V, G, v;
};
/// @throws Error if all rows are zero, or if the chosen rows are linearly dependent for every q.
OperationalSpaceInertia derive_operational_space_inertia(const Matrix& M, const FrameForm& frame,
                                                         const OperationalForces* forces = nullptr);

}  // namespace limb::symbolic
