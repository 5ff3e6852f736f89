#include "limb/symbolic/typeset/textbook_form.hpp"

#include <algorithm>

#include "limb/symbolic/typeset/collect_factors.hpp"

namespace limb::symbolic {
namespace {

/// Terms with the same velocities and accelerations.
struct RateGroup {
  std::vector<AtomPower> rates;
  DisplaySum coefficient;  ///< without the rates
};

std::vector<RateGroup> by_rates(const DisplaySum& sum) {
  std::vector<RateGroup> groups;
  for (const DisplayTerm& term : sum) {
    RateGroup split;
    DisplayTerm rest{term.coefficient, {}};
    for (const AtomPower& f : term.factors) {
      (f.atom->is_rate() ? split.rates : rest.factors).push_back(f);
    }
    auto same = std::find_if(groups.begin(), groups.end(),
                             [&](const RateGroup& g) { return g.rates == split.rates; });
    if (same == groups.end()) {
      groups.push_back(std::move(split));
      same = groups.end() - 1;
    }
    same->coefficient.push_back(std::move(rest));
  }
  return groups;
}

bool has_acceleration(const RateGroup& group) {
  return !group.rates.empty() && group.rates.back().atom->rank == Atom::Rank::acceleration;
}

/// The ratio with b = ratio * a, if there is one.
std::optional<Rational> ratio(const DisplaySum& a, const DisplaySum& b) {
  if (a.size() != b.size()) return std::nullopt;
  const Rational r = b.front().coefficient / a.front().coefficient;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].factors != b[i].factors || b[i].coefficient != r * a[i].coefficient) {
      return std::nullopt;
    }
  }
  return r;
}

/// -1 if all terms are negative: the sign is moved in front of the parenthesis.
Rational common_sign(const DisplaySum& sum) {
  const bool negative = std::all_of(
      sum.begin(), sum.end(), [](const DisplayTerm& t) { return t.coefficient.is_negative(); });
  return negative ? -1 : 1;
}

/// Sum of coefficient times rates; products of velocities with proportional coefficients share
/// one: m l_1 l_2 s_2 (2 v_1 v_2 + v_2^2).
Formula collected(AtomTable& table, FactorSearch& search, const std::vector<RateGroup>& groups) {
  std::vector<Formula> parts;
  std::vector<bool> done(groups.size(), false);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (done[i]) continue;
    DisplaySum rates{{Rational(1), groups[i].rates}};
    for (std::size_t j = i + 1; j < groups.size() && !groups[i].rates.empty(); ++j) {
      if (done[j] || has_acceleration(groups[i]) || has_acceleration(groups[j]) ||
          groups[j].rates.empty()) {
        continue;
      }
      if (const auto r = ratio(groups[i].coefficient, groups[j].coefficient)) {
        rates.push_back({*r, groups[j].rates});
        done[j] = true;
      }
    }
    DisplaySum coefficient = groups[i].coefficient;
    const Rational sign = common_sign(coefficient);
    for (DisplayTerm& term : coefficient) term.coefficient *= sign;
    if (rates.size() > 1) {
      // The common number is moved to the coefficient, so that the factors of the rates are
      // integers.
      const Content c = content(rates);
      const Rational number = sign * c.number;
      const Rational outer(number.is_negative() ? -1 : 1);
      for (DisplayTerm& term : coefficient) term.coefficient *= outer * number;
      rates = c.rest;
      const Formula shared = ordered_product(1, search.shortest(rates), rates, c.factors);
      parts.push_back(
          Formula::product_of({Formula::of_number(outer), search.shortest(coefficient), shared}));
      continue;
    }
    Formula plain =
        ordered_product(sign, search.shortest(coefficient), coefficient, groups[i].rates);
    // The number may be placed in front of the parenthesis, which the rates need anyway.
    if (const Rational number = content(coefficient).number; !number.is_one()) {
      DisplaySum whole = coefficient;
      for (DisplayTerm& term : whole) term.coefficient = term.coefficient / number;
      Formula scaled =
          ordered_product(sign * number, search.shortest(whole), whole, groups[i].rates);
      if (print_cost(scaled) < print_cost(plain)) plain = std::move(scaled);
    }
    parts.push_back(std::move(plain));
  }
  return ordered_sum(table, std::move(parts));
}

Formula shortest_formula(AtomTable& table, const DisplaySum& sum) {
  FactorSearch search(table);
  if (sum.empty()) return Formula::of_number(0);
  const std::vector<RateGroup> groups = by_rates(sum);
  if (groups.size() == 1 && groups[0].rates.empty()) return search.shortest(sum);
  const Formula plain = collected(table, search, groups);
  Content shared = content(sum);
  // Rates stay with their terms.
  std::vector<AtomPower> rates;
  for (const AtomPower& f : shared.factors) {
    if (f.atom->is_rate()) rates.push_back(f);
  }
  std::erase_if(shared.factors, [](const AtomPower& f) { return f.atom->is_rate(); });
  for (DisplayTerm& term : shared.rest) {
    for (const AtomPower& f : rates) term.multiply(f.atom, f.power);
  }
  if (shared.factors.empty() && shared.number.is_one()) return plain;
  Formula inside = collected(table, search, by_rates(shared.rest));
  Formula outside = ordered_product(shared.number, std::move(inside), shared.rest, shared.factors);
  return print_cost(outside) < print_cost(plain) ? outside : plain;
}

}  // namespace

Formula textbook_form(const Polynomial& x) {
  if (x.is_constant()) return Formula::of_number(x.constant());
  AtomTable table(*x.ring());
  std::optional<Formula> best;
  int best_cost = 0;
  for (const DisplaySum& sum : display_sums(x, table)) {
    Formula candidate = shortest_formula(table, sum);
    const int cost = print_cost(candidate);
    if (best && best_cost <= cost) continue;
    best = std::move(candidate);
    best_cost = cost;
  }
  return *best;
}

Formula expanded_form(const Polynomial& x) {
  if (x.is_constant()) return Formula::of_number(x.constant());
  AtomTable table(*x.ring());
  std::optional<Formula> best;
  for (const DisplaySum& sum : display_sums(x, table)) {
    std::vector<Formula> parts;
    for (const DisplayTerm& term : sum) parts.push_back(term.formula());
    Formula candidate = ordered_sum(table, std::move(parts));
    if (!best || print_cost(candidate) < print_cost(*best)) best = std::move(candidate);
  }
  return *best;
}

}  // namespace limb::symbolic
