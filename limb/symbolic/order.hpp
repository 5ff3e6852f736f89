#pragma once

#include <span>

#include "limb/symbolic/polynomial.hpp"

/// The order in which terms are written. It follows the contents, not the numbers that a ring
/// happened to give them.
namespace limb::symbolic {

/// By symbols in the order in which they were made, higher powers first.
bool comes_before(std::span<const Factor> a, std::span<const Factor> b);
/// No angle first, then by angles, cosine before sine.
bool comes_before(const Ring& ring, TrigId a, TrigId b);
/// All terms in that order; a number is one term.
std::vector<Term> ordered_terms(const Polynomial& x);
/// "cos(q1 + q2)"
std::string to_text(const Ring& ring, TrigId trig);

}  // namespace limb::symbolic
