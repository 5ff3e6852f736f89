#pragma once

#include <span>

#include "limb/symbolic/algebra/polynomial.hpp"

/// The order in which terms are printed. It depends on their contents only, not on the indices that
/// a ring gave them.
namespace limb::symbolic {

/// By symbols in order of creation, higher powers first.
bool comes_before(std::span<const Factor> a, std::span<const Factor> b);
/// Terms without an angle first, then by angle, cosine before sine.
bool comes_before(const Ring& ring, TrigId a, TrigId b);
/// All terms in this order; a nonzero number is one term.
std::vector<Term> ordered_terms(const Polynomial& x);
/// "cos(q1 + q2)"
std::string to_text(const Ring& ring, TrigId trig);

}  // namespace limb::symbolic
