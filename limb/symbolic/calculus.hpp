#pragma once

#include <span>

#include "limb/symbolic/polynomial.hpp"

/// Derivatives, replacement and values of closed forms.
namespace limb::symbolic {

/// d x / d symbol, all other symbols held.
Polynomial differentiate(const Polynomial& x, SymbolId symbol);
/// d x / dt: each symbol moves with its rate.
Polynomial rate(const Polynomial& x);
/// x with a symbol replaced, in powers and in angles.
/// @throws Error if the symbol stands in an angle and the replacement is none.
Polynomial substitute(const Polynomial& x, SymbolId symbol, const Polynomial& replacement);
/// Whether the symbol occurs, in a power or in an angle.
bool depends_on(const Polynomial& x, SymbolId symbol);
/// The coefficient of symbol^power, a value without the symbol's powers.
Polynomial coefficient(const Polynomial& x, SymbolId symbol, int power);

/// The number that x is at values of the symbols, one for each, in the order of the ring.
double evaluate(const Polynomial& x, std::span<const double> values);
/// Values that the symbols of the ring have by themselves; not-a-number where they have none.
std::vector<double> known_values(const Ring& ring);

}  // namespace limb::symbolic
