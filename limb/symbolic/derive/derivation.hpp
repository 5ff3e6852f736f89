#pragma once

#include <set>

#include "limb/symbolic/derive/closed_form.hpp"
#include "limb/symbolic/derive/operational_space_inertia.hpp"

/// One call for the whole derivation: both methods, their comparison, frames.
namespace limb::symbolic {

/// The quantities that can be derived. C is the matrix with C qd = V; B splits V into squares and
/// products of velocities.
enum class Quantity { M, C, B, christoffel, V, G, K, P, tau, J, Jdot, Lambda };

/// "M", "christoffel", ...
const char* to_text(Quantity quantity);
/// All names, in the order above.
const std::vector<std::string>& quantity_names();
/// @throws Error with the nearest name if there is no such quantity.
Quantity quantity_from_text(const std::string& name);

enum class DerivationMethod { lagrange, newton_euler, both };

struct DeriveOptions {
  DerivationMethod method = DerivationMethod::both;
  std::vector<std::string> frames;  ///< for J, Jdot and Lambda
  std::set<Quantity> quantities;    ///< empty: all that need no frame, and J and Jdot of the frames
};

struct Derivation {
  Robot robot;
  DerivationMethod method = DerivationMethod::both;
  std::set<Quantity> quantities;
  ClosedForm form;          ///< from the Lagrangian, unless the method is newton_euler
  Vector tau_newton_euler;  ///< empty if the method is lagrange
  std::vector<FrameForm> frames;
  std::vector<OperationalSpaceInertia> lambdas;  ///< one per frame, if requested
};

/// @throws Error if the methods disagree: then one of them is wrong, and no result is returned.
Derivation derive(Robot robot, const DeriveOptions& options = {});

/// Total number of terms of the requested quantities.
std::size_t term_count(const Derivation& derivation);

}  // namespace limb::symbolic
