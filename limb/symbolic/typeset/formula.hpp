#pragma once

#include <vector>

#include "limb/symbolic/algebra/polynomial.hpp"

/// An expression as it is printed: a tree of sums, products and powers. A value has one Polynomial
/// but many formulas; textbook_form.hpp finds a short one.
namespace limb::symbolic {

struct Formula {
  enum class Kind { number, symbol, cosine, sine, sum, product, power };

  Kind kind = Kind::number;
  Rational number;             ///< for number
  SymbolId symbol = 0;         ///< for symbol
  Angle angle;                 ///< for cosine and sine
  int exponent = 1;            ///< for power
  std::vector<Formula> parts;  ///< summands, factors (a number first), or the base of a power

  static Formula of_number(Rational value);
  static Formula of_symbol(SymbolId id);
  /// Terms in the given order; nested sums are flattened, zeros dropped.
  static Formula sum_of(std::vector<Formula> parts);
  /// Factors in the given order; numbers are multiplied and moved to the front.
  static Formula product_of(std::vector<Formula> parts);
  static Formula power_of(Formula base, int exponent);

  bool is_number() const { return kind == Kind::number; }
  bool is_zero() const { return is_number() && number.is_zero(); }
  /// Whether it is printed with a leading minus sign.
  bool is_negative() const;
  friend bool operator==(const Formula&, const Formula&);
};

/// The value of a formula.
Polynomial expand(const std::shared_ptr<Ring>& ring, const Formula& formula);

/// Length in print, 4 per symbol: letters, exponents, signs, parentheses.
int print_cost(const Formula& formula);

}  // namespace limb::symbolic
