#pragma once

#include <set>

#include "limb/symbolic/derive/closed_form.hpp"
#include "limb/symbolic/derive/operational_space_inertia.hpp"

/// One call for the whole derivation: all routes, their comparison, frames.
namespace limb::symbolic {

/// The quantities that can be derived. C is the matrix with C qd = V; B splits V into squares and
/// products of velocities.
enum class Quantity { M, C, B, christoffel, V, G, K, P, tau, J, Jdot, Lambda, mu, rho };

/// "M", "christoffel", ...
const char* to_text(Quantity quantity);
/// All names, in the order above.
const std::vector<std::string>& quantity_names();
/// @throws Error with the nearest name if there is no such quantity.
Quantity quantity_from_text(const std::string& name);

/// The routes to the equations of motion.
enum class DerivationMethod {
  lagrange,
  newton_euler,     ///< the recursion in 3-vectors [Craig 2005]
  both,             ///< these two
  modern_robotics,  ///< the recursion in twists and wrenches [Lynch 2017]
  all,              ///< these three
};
bool uses_lagrange(DerivationMethod method);
bool uses_newton_euler(DerivationMethod method);
bool uses_modern_robotics(DerivationMethod method);

struct DeriveOptions {
  DerivationMethod method = DerivationMethod::both;
  std::vector<std::string> frames;  ///< for J, Jdot and Lambda
  std::set<Quantity> quantities;    ///< empty: all that need no frame, and J and Jdot of the frames
  /// All parts of the closed form, whatever the quantities: pages with steps and functions use
  /// them.
  bool complete = false;
  std::size_t max_terms = 0;  ///< of the quantities; checked after each part; 0: no limit
};

struct Derivation {
  Robot robot;
  DerivationMethod method = DerivationMethod::both;
  std::set<Quantity> quantities;
  ClosedFormParts parts;       ///< the parts of `form` that the quantities need
  ClosedForm form;             ///< from the Lagrangian if that is one of the routes
  Vector tau_newton_euler;     ///< empty without that route
  Vector tau_modern_robotics;  ///< empty without that route
  std::vector<FrameForm> frames;
  std::vector<OperationalSpaceInertia> lambdas;  ///< one per frame, if requested
};

/// Derives only what the quantities need: G, for example, needs no mass matrix. With `all`, robots
/// that have joints of several degrees of freedom are derived by the two other routes, with a note.
/// @throws Error if the routes disagree: then one of them is wrong, and no result is returned; and
/// beyond max_terms, as soon as that is known.
Derivation derive(Robot robot, const DeriveOptions& options = {});

/// Total number of terms of the requested quantities.
std::size_t term_count(const Derivation& derivation);

}  // namespace limb::symbolic
