#pragma once

#include <map>

#include "limb/symbolic/written_term.hpp"

/// The search for common factors of sums.
namespace limb::symbolic {

/// Short formulas of sums. Remembers what it has seen.
class FactorSearch {
 public:
  explicit FactorSearch(AtomTable& table) : table_(table) {}
  Formula shortest(const WrittenSum& sum);

 private:
  struct Less {
    bool operator()(const WrittenSum& a, const WrittenSum& b) const;
  };
  Formula search(const WrittenSum& sum);
  AtomTable& table_;
  std::map<WrittenSum, Formula, Less> known_;
};

/// What all terms share: factors with the same power in each, and the number.
struct Content {
  Rational number;
  std::vector<AtomPower> factors;
  WrittenSum rest;
};
Content content(const WrittenSum& sum);

/// In the order of their leading terms, with a positive one first where there is one. The order of
/// very long sums is left as it is.
Formula ordered_sum(AtomTable& table, std::vector<Formula> parts);
/// number * powers * inner, where inner, the formula of a sum, stands before the powers that come
/// after its first symbol.
Formula ordered_product(const Rational& number, Formula inner, const WrittenSum& inner_terms,
                        const std::vector<AtomPower>& powers);

}  // namespace limb::symbolic
