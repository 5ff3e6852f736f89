#pragma once

#include "limb/model/recipe/expression.hpp"
#include "limb/symbolic/algebra/polynomial.hpp"

/// Constants of recipes in closed forms: ratios stay exact ratios, pi stays a symbol.
namespace limb {

template <>
inline constexpr bool kExact<symbolic::Polynomial> = true;

template <>
struct ConstantsOf<symbolic::Polynomial> {
  using T = symbolic::Polynomial;
  static T ratio(std::int64_t numerator, std::int64_t denominator) {
    return symbolic::Rational(numerator, denominator);
  }
  static T decimal(double value) { return value; }
  static T pi() {
    const auto& ring = symbolic::RingScope::current("pi");
    return T::symbol(ring, ring->pi());
  }
};

}  // namespace limb
