#pragma once

#include <map>

#include "limb/symbolic/written_term.hpp"

/// The search for common factors of sums.
namespace limb::symbolic {

/// Terms without those that differ in their coefficient only, in order.
using WrittenSum = std::vector<WrittenTerm>;

/// A formula and the term that decides where it stands in a sum.
struct Written {
  Formula formula;
  WrittenTerm first;
};

/// Short formulas of sums. Remembers what it has seen.
class FactorSearch {
 public:
  Formula shortest(const WrittenSum& sum);

 private:
  struct Less {
    bool operator()(const WrittenSum& a, const WrittenSum& b) const;
  };
  Formula search(const WrittenSum& sum);
  std::map<WrittenSum, Formula, Less> known_;
};

/// What all terms share: factors with the same power in each, and the number.
struct Content {
  Rational number;
  std::vector<AtomPower> factors;
  WrittenSum rest;
};
Content content(const WrittenSum& sum);

/// In order, with a positive one first where there is one.
Formula ordered_sum(std::vector<Written> parts);
/// number * powers * inner, where inner, the formula of a sum, stands before the powers that come
/// after its first symbol.
Formula ordered_product(const Rational& number, Formula inner, const WrittenSum& inner_terms,
                        const std::vector<AtomPower>& powers);

}  // namespace limb::symbolic
