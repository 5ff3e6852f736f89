#pragma once

#include <vector>

#include "limb/symbolic/formula.hpp"

/// Terms on their way from the one form of a value to the form that is printed: products of
/// powers of symbols, sines and cosines, in the order in which one writes them.
namespace limb::symbolic {

/// A symbol, or a sine or cosine.
struct Atom {
  /// The place in a product: roots, masses, other parameters, lengths of joints, sines and
  /// cosines, rates, rates of rates.
  enum class Rank { root, mass, parameter, coordinate, function, velocity, acceleration };
  Rank rank = Rank::parameter;
  SymbolId symbol = 0;
  Angle angle;  ///< of a function
  bool sine = false;

  static Atom of_symbol(const Ring& ring, SymbolId id);
  static Atom of_function(Angle angle, bool sine);
  bool is_rate() const { return rank >= Rank::velocity; }
  Formula formula() const;
  friend bool operator==(const Atom&, const Atom&) = default;
};
/// Negative, 0 or positive: the order within products.
int compare(const Atom& a, const Atom& b);

struct AtomPower {
  Atom atom;
  int power;
  friend bool operator==(const AtomPower&, const AtomPower&) = default;
};

struct WrittenTerm {
  Rational coefficient;
  std::vector<AtomPower> factors;  ///< in order

  void multiply(const Atom& atom, int power);
  Formula formula() const;
};
/// The order within sums: rates of rates, rates, then the rest; coefficients do not count.
int compare(const WrittenTerm& a, const WrittenTerm& b);

/// Which products of sines and cosines are formed.
enum class Products {
  none,    ///< sines and cosines of sums of angles, as the ring has them
  pairs,   ///< cos(a + b) + cos(a - b) becomes 2 cos a cos b
  squares  ///< and what is left of double angles becomes squares: cos 2a = 2 cos^2 a - 1
};
/// The terms of a value, sorted.
std::vector<WrittenTerm> written_terms(const Polynomial& x, Products products);

}  // namespace limb::symbolic
