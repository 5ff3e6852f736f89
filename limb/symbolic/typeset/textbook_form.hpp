#pragma once

#include "limb/symbolic/typeset/formula.hpp"

/// From the canonical form of a value to the form of a textbook.
namespace limb::symbolic {

/// A short formula for the value: c_1, s_{12}, products and squares of them, common factors taken
/// out, terms collected by velocities and accelerations. Of several candidates, the one with the
/// fewest printed symbols. The same value always gives the same formula, and expand() recovers the
/// value.
/// docs/symbolic.md, "From polynomial to formula"
Formula textbook_form(const Polynomial& x);

/// The shortest sum of products, without parentheses:
/// \tfrac{2}{3} m l^2 \dot{\theta}_1^2 + \tfrac{1}{2} m l^2 ...
Formula expanded_form(const Polynomial& x);

}  // namespace limb::symbolic
