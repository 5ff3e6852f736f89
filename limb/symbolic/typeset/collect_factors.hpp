#pragma once

#include <unordered_map>

#include "limb/symbolic/typeset/display_term.hpp"

/// Search for common factors of sums.
namespace limb::symbolic {

/// Finds short formulas of sums. Caches its results.
class FactorSearch {
 public:
  explicit FactorSearch(AtomTable& table) : table_(table) {}
  Formula shortest(const DisplaySum& sum);

 private:
  struct Hash {
    std::size_t operator()(const DisplaySum& sum) const;
  };
  struct Equal {
    bool operator()(const DisplaySum& a, const DisplaySum& b) const;
  };
  Formula search(const DisplaySum& sum);
  AtomTable& table_;
  std::unordered_map<DisplaySum, Formula, Hash, Equal> known_;
};

/// The content of a sum, common to all terms: factors with equal powers, and a number.
struct Content {
  Rational number;
  std::vector<AtomPower> factors;
  DisplaySum rest;
};
Content content(const DisplaySum& sum);

/// The sum in the order of leading terms, with a positive part first if there is one. Very long
/// sums keep their order.
Formula ordered_sum(AtomTable& table, std::vector<Formula> parts);
/// number * powers * inner, where inner, the formula of a sum, is placed before the powers that
/// follow its first symbol in the order of atoms.
Formula ordered_product(const Rational& number, Formula inner, const DisplaySum& inner_terms,
                        const std::vector<AtomPower>& powers);

}  // namespace limb::symbolic
