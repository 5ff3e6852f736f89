#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "limb/dynamics/arguments.hpp"

namespace limb {

/// One statement about a robot's equations of motion, checked at random states.
struct ProofRow {
  std::string statement;
  double worst = 0;      ///< largest difference seen, relative to 1 + the norm of the reference
  double tolerance = 0;  ///< bound on the error of rounding (or of finite differences, if stated)
  bool holds() const { return worst <= tolerance; }
};

struct ProofOptions {
  int states = 20;
  std::uint64_t seed = 1;
  /// Called after each state with the number done.
  std::function<void(int)> progress;
};

/// Computes the dynamics of the robot by every formulation in limb, at random states inside its
/// limits, and compares them: recursive Newton-Euler, M a + C v + g, Lagrange with Jacobians, the
/// textbook algorithms, and identities (forward dynamics inverts inverse dynamics, energy,
/// dM/dt - 2 C, free flight, closed loops, rates of Jacobians). Rigid bodies only: armature,
/// damping and friction are left out.
/// @throws Error (computation failed) if the mass matrix is singular, Error if an option is wrong.
std::vector<ProofRow> prove(const Model<double>& model, const ProofOptions& options = {});

}  // namespace limb
