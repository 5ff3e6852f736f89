#include "limb/symbolic/typeset/collect_factors.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace limb::symbolic {
namespace {

bool less(const DisplayTerm& a, const DisplayTerm& b) {
  return compare(a, b) < 0;
}

/// Greatest common divisor of the numerators over the common denominator; 1 if a number is not a
/// small ratio (decimals, for example); negative if all are.
Rational common_number(const DisplaySum& sum) {
  constexpr std::int64_t kLargest = 1000, kDenominator = 12;
  std::int64_t numerator = 0, denominator = 1;
  bool all_negative = true;
  for (const DisplayTerm& term : sum) {
    const Rational& c = term.coefficient;
    all_negative = all_negative && c.is_negative();
    if (numerator == 1 && denominator == 0) continue;
    if (!c.is_small() || std::abs(c.small_numerator()) > kLargest ||
        c.small_denominator() > kDenominator) {
      numerator = 1;
      denominator = 0;
      continue;
    }
    numerator = std::gcd(numerator, c.small_numerator());
    denominator = std::lcm(denominator, c.small_denominator());
    if (denominator > kLargest) {
      numerator = 1;
      denominator = 0;
    }
  }
  const Rational size = denominator == 0 ? Rational(1) : Rational(numerator, denominator);
  return all_negative ? -size : size;
}

void positive_first(std::vector<Formula>& parts) {
  if (parts.empty() || !parts.front().is_negative()) return;
  const auto positive = std::find_if(parts.begin(), parts.end(),
                                     [](const Formula& part) { return !part.is_negative(); });
  if (positive != parts.end()) std::rotate(parts.begin(), positive, positive + 1);
}

bool has(const DisplayTerm& term, const AtomPower& factor) {
  return std::find(term.factors.begin(), term.factors.end(), factor) != term.factors.end();
}

DisplayTerm without(const DisplayTerm& term, const std::vector<AtomPower>& factors) {
  DisplayTerm rest{term.coefficient, {}};
  for (const AtomPower& f : term.factors) {
    if (std::find(factors.begin(), factors.end(), f) == factors.end()) rest.factors.push_back(f);
  }
  return rest;
}

std::vector<AtomPower> common_factors(const DisplaySum& sum) {
  std::vector<AtomPower> common = sum.front().factors;
  for (const DisplayTerm& term : sum) {
    std::erase_if(common, [&](const AtomPower& f) { return !has(term, f); });
  }
  return common;
}

int cost(const std::vector<AtomPower>& factors) {
  int sum = 0;
  for (const AtomPower& f : factors) {
    sum += f.atom->cost + (f.power == 1 ? 0 : 4);
  }
  return sum;
}

/// In the given order, a positive term first.
Formula flat_sum(const DisplaySum& sum) {
  std::vector<Formula> parts;
  for (const DisplayTerm& term : sum) parts.push_back(term.formula());
  positive_first(parts);
  return Formula::sum_of(std::move(parts));
}

/// print_cost(flat_sum(sum)) of a sum of two or more terms, without the formula.
int flat_cost(const DisplaySum& sum) {
  constexpr int kSign = 4;
  int total = 0;
  bool any_positive = false;  // then a positive term is first, and has no sign
  for (const DisplayTerm& term : sum) {
    const Rational& c = term.coefficient;
    total += cost(term.factors);
    if (term.factors.empty() || !(c.is_one() || c == Rational(-1))) {
      total += print_cost(Formula::of_number(c));
    } else if (c.is_negative()) {
      total += kSign;
    }
    if (!c.is_negative()) total += kSign;
    any_positive = any_positive || !c.is_negative();
  }
  return any_positive ? total - kSign : total;
}

/// The first term of the expanded formula, without its coefficient.
DisplayTerm leading_term(AtomTable& table, const Formula& f) {
  DisplayTerm term{Rational(1), {}};
  switch (f.kind) {
    case Formula::Kind::number:
      break;
    case Formula::Kind::symbol:
    case Formula::Kind::cosine:
    case Formula::Kind::sine:
      term.multiply(table.of(f), 1);
      break;
    case Formula::Kind::power:
      for (const AtomPower& p : leading_term(table, f.parts.front()).factors) {
        term.multiply(p.atom, p.power * f.exponent);
      }
      break;
    case Formula::Kind::product:
      for (const Formula& part : f.parts) {
        for (const AtomPower& p : leading_term(table, part).factors) term.multiply(p.atom, p.power);
      }
      break;
    case Formula::Kind::sum:
      term = leading_term(table, f.parts.front());
      for (std::size_t i = 1; i < f.parts.size(); ++i) {
        DisplayTerm other = leading_term(table, f.parts[i]);
        if (compare(other, term) < 0) term = std::move(other);
      }
      break;
  }
  return term;
}

/// The square root of a term that is a square.
std::optional<DisplayTerm> square_root(const DisplayTerm& term) {
  const Rational& c = term.coefficient;
  if (c.is_negative() || !c.is_small()) return std::nullopt;
  const auto root = [](std::int64_t n) -> std::optional<std::int64_t> {
    for (std::int64_t k = 0; k * k <= n && k <= 1000; ++k) {
      if (k * k == n) return k;
    }
    return std::nullopt;
  };
  const auto n = root(c.small_numerator()), d = root(c.small_denominator());
  if (!n || !d) return std::nullopt;
  DisplayTerm result{Rational(*n, *d), {}};
  for (const AtomPower& f : term.factors) {
    if (f.power % 2 != 0) return std::nullopt;
    result.factors.push_back({f.atom, f.power / 2});
  }
  return result;
}

DisplayTerm product(const DisplayTerm& a, const DisplayTerm& b, const Rational& factor) {
  DisplayTerm result{a.coefficient * b.coefficient * factor, a.factors};
  for (const AtomPower& f : b.factors) result.multiply(f.atom, f.power);
  return result;
}

bool same(const DisplaySum& a, const DisplaySum& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const DisplayTerm& x, const DisplayTerm& y) {
                      return x.coefficient == y.coefficient && x.factors == y.factors;
                    });
}

/// (a + b)^2 from a^2 + 2ab + b^2, for two or three terms.
std::optional<Formula> perfect_square(const DisplaySum& sum) {
  if (sum.size() != 3 && sum.size() != 6) return std::nullopt;
  DisplaySum roots;
  for (const DisplayTerm& term : sum) {
    if (auto root = square_root(term)) roots.push_back(*std::move(root));
  }
  const std::size_t n = roots.size();
  if (n * (n + 1) / 2 != sum.size()) return std::nullopt;
  for (unsigned signs = 0; signs < (1u << (n - 1)); ++signs) {
    DisplaySum candidate = roots;
    for (std::size_t i = 1; i < n; ++i) {
      if ((signs >> (i - 1)) & 1u) candidate[i].coefficient = -candidate[i].coefficient;
    }
    DisplaySum square;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i; j < n; ++j) {
        square.push_back(product(candidate[i], candidate[j], i == j ? 1 : 2));
      }
    }
    std::sort(square.begin(), square.end(), less);
    if (!same(square, sum)) continue;
    std::sort(candidate.begin(), candidate.end(), less);
    return Formula::power_of(flat_sum(candidate), 2);
  }
  return std::nullopt;
}

/// Keeps the cheaper formula; the first if they cost the same.
void improve(std::optional<Formula>& best, int& best_cost, Formula candidate) {
  const int c = print_cost(candidate);
  if (c >= best_cost) return;
  best = std::move(candidate);
  best_cost = c;
}

/// A factor that some terms share, and how much is saved by writing it once.
struct Split {
  AtomPower factor;
  int saving;
};

/// The best splits, at most `count`.
std::vector<Split> splits(const DisplaySum& sum, std::size_t count) {
  // Every factor is numbered and has the list of its terms.
  std::map<std::pair<std::size_t, int>, std::size_t> numbers;
  std::vector<AtomPower> factors;
  std::vector<std::vector<std::size_t>> users;
  std::vector<std::vector<std::size_t>> of_term(sum.size());
  for (std::size_t t = 0; t < sum.size(); ++t) {
    for (const AtomPower& f : sum[t].factors) {
      const auto [at, is_new] = numbers.emplace(std::pair(f.atom->index, f.power), factors.size());
      if (is_new) {
        factors.push_back(f);
        users.emplace_back();
      }
      users[at->second].push_back(t);
      of_term[t].push_back(at->second);
    }
  }
  std::vector<Split> result;
  std::vector<std::size_t> counts(factors.size());
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const std::size_t n = users[f].size();
    if (n < 2 || n == sum.size()) continue;
    // The common factors of all terms with this factor are saved in all but one of them.
    std::fill(counts.begin(), counts.end(), 0);
    for (const std::size_t t : users[f]) {
      for (const std::size_t g : of_term[t]) ++counts[g];
    }
    std::vector<AtomPower> common;
    for (std::size_t g = 0; g < factors.size(); ++g) {
      if (counts[g] == n) common.push_back(factors[g]);
    }
    result.push_back({factors[f], static_cast<int>(n - 1) * cost(common)});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Split& a, const Split& b) { return a.saving > b.saving; });
  if (result.size() > count) result.resize(count);
  return result;
}

}  // namespace

Formula ordered_sum(AtomTable& table, std::vector<Formula> parts) {
  Formula sum = Formula::sum_of(std::move(parts));
  constexpr std::size_t kMaxParts = 200;
  if (sum.kind != Formula::Kind::sum || sum.parts.size() > kMaxParts) return sum;
  std::vector<std::pair<DisplayTerm, std::size_t>> order;
  for (std::size_t i = 0; i < sum.parts.size(); ++i) {
    order.emplace_back(leading_term(table, sum.parts[i]), i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return less(a.first, b.first); });
  std::vector<Formula> ordered;
  for (const auto& [term, i] : order) ordered.push_back(std::move(sum.parts[i]));
  positive_first(ordered);
  sum.parts = std::move(ordered);
  return sum;
}

Formula ordered_product(const Rational& number, Formula inner, const DisplaySum& inner_terms,
                        const std::vector<AtomPower>& powers) {
  const Atom* first = nullptr;
  for (const DisplayTerm& term : inner_terms) {
    if (term.factors.empty()) continue;
    const Atom* atom = term.factors.front().atom;
    if (first == nullptr || atom->index < first->index) first = atom;
  }
  std::vector<Formula> result{Formula::of_number(number)};
  bool placed = false;
  for (const AtomPower& p : powers) {
    if (!placed && first != nullptr && first->index < p.atom->index) {
      result.push_back(std::move(inner));
      placed = true;
    }
    result.push_back(Formula::power_of(p.atom->formula, p.power));
  }
  if (!placed) result.push_back(std::move(inner));
  return Formula::product_of(std::move(result));
}

Content content(const DisplaySum& sum) {
  Content c{common_number(sum), common_factors(sum), {}};
  for (const DisplayTerm& term : sum) {
    DisplayTerm rest = without(term, c.factors);
    rest.coefficient = rest.coefficient / c.number;
    c.rest.push_back(std::move(rest));
  }
  // Mostly in order already.
  if (!std::is_sorted(c.rest.begin(), c.rest.end(), less)) {
    std::sort(c.rest.begin(), c.rest.end(), less);
  }
  return c;
}

std::size_t FactorSearch::Hash::operator()(const DisplaySum& sum) const {
  std::uint64_t hash = sum.size();
  const auto add = [&](std::uint64_t x) { hash = (hash ^ x) * 0x9e3779b97f4a7c15 + (hash >> 29); };
  for (const DisplayTerm& term : sum) {
    const Rational& c = term.coefficient;
    if (c.is_small()) {
      add(static_cast<std::uint64_t>(c.small_numerator()));
      add(static_cast<std::uint64_t>(c.small_denominator()));
    }
    for (const AtomPower& f : term.factors) {
      add(64 * f.atom->index + static_cast<std::uint64_t>(f.power));
    }
  }
  return static_cast<std::size_t>(hash ^ (hash >> 32));
}

bool FactorSearch::Equal::operator()(const DisplaySum& a, const DisplaySum& b) const {
  return same(a, b);
}

Formula FactorSearch::shortest(const DisplaySum& sum) {
  if (sum.empty()) return Formula::of_number(0);
  if (sum.size() == 1) return sum.front().formula();
  constexpr std::size_t kMaxCached = 64;
  if (sum.size() > kMaxCached) return search(sum);
  if (const auto found = known_.find(sum); found != known_.end()) return found->second;
  return known_.emplace(sum, search(sum)).first->second;
}

Formula FactorSearch::search(const DisplaySum& sum) {
  std::optional<Formula> best;  // empty: flat_sum(sum)
  int best_cost = flat_cost(sum);
  // Common factors in front of a parenthesis, with and without the number.
  const Content shared = content(sum);
  if (!shared.factors.empty() || !shared.number.is_one()) {
    improve(best, best_cost,
            ordered_product(shared.number, shortest(shared.rest), shared.rest, shared.factors));
    // With the sign only, and without any number.
    for (const Rational& number : {Rational(shared.number.is_negative() ? -1 : 1), Rational(1)}) {
      if (shared.factors.empty() || number == shared.number) continue;
      DisplaySum scaled = shared.rest;
      for (DisplayTerm& term : scaled) term.coefficient *= shared.number / number;
      improve(best, best_cost, ordered_product(number, shortest(scaled), scaled, shared.factors));
    }
  }
  if (auto square = perfect_square(sum)) improve(best, best_cost, *std::move(square));
  // Factors of some of the terms: only the most promising ones, fewer in longer sums.
  const std::size_t width = sum.size() <= 6 ? 6 : sum.size() <= 12 ? 2 : 1;
  for (const Split& split : splits(sum, width)) {
    DisplaySum group, rest;
    for (const DisplayTerm& term : sum) (has(term, split.factor) ? group : rest).push_back(term);
    std::vector<Formula> parts;
    parts.reserve(2);
    parts.push_back(shortest(group));
    parts.push_back(shortest(rest));
    improve(best, best_cost, ordered_sum(table_, std::move(parts)));
  }
  return best ? *std::move(best) : flat_sum(sum);
}

}  // namespace limb::symbolic
