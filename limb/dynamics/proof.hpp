#pragma once

#include <functional>
#include <string>
#include <vector>

#include "limb/dynamics/arguments.hpp"

namespace limb {

/// One statement about a robot's equations of motion, tried on random states.
struct ProofRow {
  std::string statement;
  double worst = 0;      ///< largest difference seen, relative to 1 + the size of what is compared
  double tolerance = 0;  ///< what rounding (or, where said, a difference quotient) explains
  bool holds() const { return worst <= tolerance; }
};

struct ProofOptions {
  int states = 20;
  unsigned seed = 1;
  /// Called after each state with the number done.
  std::function<void(int)> progress;
};

/// Computes the dynamics of the robot in every way that limb knows, on random states inside its
/// limits, and compares: recursive Newton-Euler, M a + C v + g, Lagrange from Jacobians, the books'
/// iterations, and identities that need no second way (forward undoes inverse dynamics, energy,
/// dM/dt - 2 C, free flight, closed loops, rates of Jacobians). Rigid bodies alone: rotors, damping
/// and friction are left out.
/// @throws Error (computation failed) if the mass matrix is singular, Error if a option is wrong.
std::vector<ProofRow> prove(const Model<double>& model, const ProofOptions& options = {});

}  // namespace limb
