#pragma once

#include <span>

#include "limb/symbolic/algebra/polynomial.hpp"

/// Derivatives, substitution and evaluation of closed forms.
namespace limb::symbolic {

/// Partial derivative d x / d symbol.
Polynomial differentiate(const Polynomial& x, SymbolId symbol);
/// Time derivative d x / dt by the chain rule over the rates of the symbols.
Polynomial rate(const Polynomial& x);
/// x with a symbol replaced, in powers and in angles.
/// @throws Error if the symbol occurs in an angle and the replacement is not an angle.
Polynomial substitute(const Polynomial& x, SymbolId symbol, const Polynomial& replacement);
/// Whether the symbol occurs, in a power or in an angle.
bool depends_on(const Polynomial& x, SymbolId symbol);
/// The coefficient of symbol^power; angles that contain the symbol stay in it.
Polynomial coefficient(const Polynomial& x, SymbolId symbol, int power);

/// The value of x at numbers for all symbols, in the order of the ring.
double evaluate(const Polynomial& x, std::span<const double> values);
/// The known values of the symbols of the ring; not-a-number for unknown ones.
std::vector<double> known_values(const Ring& ring);

}  // namespace limb::symbolic
