#pragma once

#include <set>

#include "limb/symbolic/closed_form.hpp"

/// One call for everything that is asked of a robot: both ways, the comparison, frames.
namespace limb::symbolic {

/// What can be asked for. C is the matrix with C qd = V; B the split of V into squares and
/// products.
enum class Quantity { M, C, B, christoffel, V, G, K, P, tau, J, Jdot, Lambda };

/// "M", "christoffel", ...
const char* to_text(Quantity quantity);
/// All names, in the order above.
const std::vector<std::string>& quantity_names();
/// @throws Error with the nearest name if there is no such quantity.
Quantity quantity_from_text(const std::string& name);

enum class Way { lagrange, newton_euler, both };

struct DeriveOptions {
  Way way = Way::both;
  std::vector<std::string> frames;  ///< for J, Jdot and Lambda
  std::set<Quantity> quantities;    ///< empty: all that need no frame, and J of the frames
};

struct Derivation {
  Robot robot;
  Way way = Way::both;
  std::set<Quantity> quantities;
  ClosedForm form;          ///< of the Lagrangian, unless the way is Newton-Euler alone
  Vector tau_newton_euler;  ///< empty where the way is Lagrange alone
  std::vector<FrameForm> frames;
  std::vector<LambdaForm> lambdas;  ///< of each frame, where asked for
};

/// @throws Error if the ways disagree: then one of them is wrong, and no result is given.
Derivation derive(Robot robot, const DeriveOptions& options = {});

/// Terms of all asked quantities.
std::size_t term_count(const Derivation& derivation);

}  // namespace limb::symbolic
