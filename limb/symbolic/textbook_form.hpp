#pragma once

#include "limb/symbolic/formula.hpp"

/// From the one form of a value to the form that a lecture writes.
namespace limb::symbolic {

/// A short formula of the value: c_1, s_{12}, products and squares of them, common factors taken
/// out, rates collected. Among a few ways of writing it the one with the fewest printed symbols;
/// the same value always gives the same formula, and expand() gives the value back.
/// docs/symbolic.md, the page
Formula textbook_form(const Polynomial& x);

}  // namespace limb::symbolic
