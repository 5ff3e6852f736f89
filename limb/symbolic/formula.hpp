#pragma once

#include <vector>

#include "limb/symbolic/polynomial.hpp"

/// An expression as one writes it: a tree of sums, products and powers. A value has one
/// Polynomial but many formulas; textbook_form.hpp finds a short one.
namespace limb::symbolic {

struct Formula {
  enum class Kind { number, symbol, cosine, sine, sum, product, power };

  Kind kind = Kind::number;
  Rational number;             ///< of a number
  SymbolId symbol = 0;         ///< of a symbol
  Angle angle;                 ///< of a cosine or sine
  int exponent = 1;            ///< of a power
  std::vector<Formula> parts;  ///< summands, factors (a number first), or what the power is of

  static Formula of_number(Rational value);
  static Formula of_symbol(SymbolId id);
  /// Terms in the given order; sums inside sums are opened, zeros dropped.
  static Formula sum_of(std::vector<Formula> parts);
  /// Factors in the given order; numbers are multiplied and moved to the front.
  static Formula product_of(std::vector<Formula> parts);
  static Formula power_of(Formula base, int exponent);

  bool is_number() const { return kind == Kind::number; }
  bool is_zero() const { return is_number() && number.is_zero(); }
  /// A minus sign would be printed first.
  bool is_negative() const;
  friend bool operator==(const Formula&, const Formula&);
};

/// The value that a formula stands for.
Polynomial expand(const std::shared_ptr<Ring>& ring, const Formula& formula);

/// How long it is in print, four for each symbol: letters, exponents, signs, parentheses.
int print_cost(const Formula& formula);

}  // namespace limb::symbolic
