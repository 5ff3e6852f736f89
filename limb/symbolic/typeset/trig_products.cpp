#include <algorithm>
#include <functional>

#include "limb/symbolic/typeset/display_term.hpp"

/// Converts sums of sines and cosines back to products.
namespace limb::symbolic {
namespace {

struct Function {
  bool sine;
  Angle angle;
  friend bool operator==(const Function&, const Function&) = default;
};

/// coefficient * product of functions
struct Product {
  Rational coefficient;
  std::vector<Function> functions;
};

/// Makes the last symbol of the angle positive: theta_2 - theta_1, the angle of a link relative to
/// the one before it. Returns the sign that a sine acquires.
Rational orient(Angle& angle) {
  const AnglePart* last = nullptr;
  for (const AnglePart& part : angle) {
    if (part.symbol < AnglePart::kHalfTurn || last == nullptr) last = &part;
  }
  if (last == nullptr || !last->factor.is_negative()) return 1;
  for (AnglePart& part : angle) part.factor = -part.factor;
  return -1;
}

void append(Product& product, bool sine, Angle angle) {
  if (angle.empty() && !sine) return;
  const Rational sign = orient(angle);
  if (sine) product.coefficient *= sign;
  product.functions.push_back({sine, std::move(angle)});
}

/// Half of an angle, if the factors of symbols stay integers.
std::optional<Angle> half(const Angle& angle) {
  Angle result;
  for (const AnglePart& part : angle) {
    Rational factor = part.factor * Rational(1, 2);
    if (part.symbol < AnglePart::kHalfTurn && !factor.is_integer()) return std::nullopt;
    result.push_back({part.symbol, std::move(factor)});
  }
  return result;
}

/// The common functions of two products, and the remaining ones of each.
struct Difference {
  std::vector<Function> common, a, b;
};

Difference difference(const Product& x, const Product& y) {
  Difference d;
  d.b = y.functions;
  for (const Function& f : x.functions) {
    const auto same = std::find(d.b.begin(), d.b.end(), f);
    if (same == d.b.end()) {
      d.a.push_back(f);
    } else {
      d.common.push_back(f);
      d.b.erase(same);
    }
  }
  return d;
}

/// c f(A) +- c g(B) as one product, if possible. 1 counts as cos 0.
std::optional<Product> paired(const Product& x, const Product& y) {
  const bool same = x.coefficient == y.coefficient;
  if (!same && x.coefficient != -y.coefficient) return std::nullopt;
  const Difference d = difference(x, y);
  if (d.a.size() > 1 || d.b.size() > 1) return std::nullopt;
  const Function one{false, {}};
  const Function& f = d.a.empty() ? one : d.a[0];
  const Function& g = d.b.empty() ? one : d.b[0];
  if (f.sine != g.sine) return std::nullopt;
  const auto mean = half(add(f.angle, g.angle, 1)), gap = half(add(f.angle, g.angle, -1));
  if (!mean || !gap) return std::nullopt;
  Product product{x.coefficient * Rational(2), d.common};
  if (f.sine) {  // sin A + sin B, sin A - sin B
    append(product, same, *mean);
    append(product, !same, *gap);
  } else {  // cos A + cos B, cos A - cos B
    append(product, !same, *mean);
    append(product, !same, *gap);
    if (!same) product.coefficient = -product.coefficient;
  }
  return product;
}

int cost(const Product& product) {
  Formula formula;
  formula.kind = Formula::Kind::cosine;
  int sum = 0;
  for (const Function& f : product.functions) {
    formula.angle = f.angle;
    sum += print_cost(formula);
  }
  return sum;
}

/// Whether a pair was split by this single angle: cos(x + s) + cos(x - s) to cos x and cos s.
bool splits_off(const Product& product, SymbolId symbol) {
  const std::size_t n = product.functions.size();
  for (std::size_t i = n < 2 ? 0 : n - 2; i < n; ++i) {
    const Angle& angle = product.functions[i].angle;
    if (angle.size() == 1 && angle[0].symbol == symbol) return true;
  }
  return false;
}

/// Combines the cheapest pair until none is left; only pairs split by `symbol`, if given.
void pair_up(std::vector<Product>& products, std::optional<SymbolId> symbol = {}) {
  constexpr std::size_t kMaxProducts = 48;  // longer sums stay sums
  if (products.size() > kMaxProducts) return;
  for (;;) {
    std::optional<Product> best;
    int best_cost = 0;
    std::size_t best_i = 0, best_j = 0;
    for (std::size_t i = 0; i < products.size(); ++i) {
      for (std::size_t j = i + 1; j < products.size(); ++j) {
        std::optional<Product> candidate = paired(products[i], products[j]);
        if (!candidate || (symbol && !splits_off(*candidate, *symbol))) continue;
        const int candidate_cost = cost(*candidate);
        if (best && best_cost <= candidate_cost) continue;
        best = std::move(candidate);
        best_cost = candidate_cost;
        best_i = i;
        best_j = j;
      }
    }
    if (!best) return;
    products[best_i] = *std::move(best);
    products.erase(products.begin() + static_cast<std::ptrdiff_t>(best_j));
  }
}

/// a f(x + s) + b f(x - s) with different a and b as a sum of two products, split by one angle.
void split_off(std::vector<Product>& products, SymbolId symbol) {
  for (std::size_t i = 0; i < products.size(); ++i) {
    for (std::size_t j = i + 1; j < products.size(); ++j) {
      const Difference d = difference(products[i], products[j]);
      if (d.a.size() != 1 || d.b.size() != 1 || d.a[0].sine != d.b[0].sine) continue;
      const auto mean = half(add(d.a[0].angle, d.b[0].angle, 1));
      const auto gap = half(add(d.a[0].angle, d.b[0].angle, -1));
      if (!mean || !gap) continue;
      const bool sine = d.a[0].sine;
      const Rational a = products[i].coefficient, b = products[j].coefficient;
      Product first{a + b, d.common}, second{sine ? a - b : b - a, d.common};
      append(first, sine, *mean);
      append(first, false, *gap);
      append(second, !sine, *mean);
      append(second, true, *gap);
      if (!splits_off(first, symbol)) continue;
      products[i] = std::move(first);
      products[j] = std::move(second);
    }
  }
}

/// Angle by angle, the last first: recovers products of functions of single angles.
void pair_by_angles(std::vector<Product>& products) {
  std::vector<SymbolId> symbols;
  for (const Product& product : products) {
    for (const Function& f : product.functions) {
      for (const AnglePart& part : f.angle) symbols.push_back(part.symbol);
    }
  }
  std::sort(symbols.begin(), symbols.end(), std::greater<>());
  symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
  for (const SymbolId symbol : symbols) {
    pair_up(products, symbol);
    split_off(products, symbol);
  }
}

/// Whether the functions are these, in any order.
bool has_functions(const Product& product, std::vector<Function> functions) {
  if (product.functions.size() != functions.size()) return false;
  for (const Function& f : product.functions) {
    const auto same = std::find(functions.begin(), functions.end(), f);
    if (same == functions.end()) return false;
    functions.erase(same);
  }
  return true;
}

/// cos 2a = 2 cos^2 a - 1 = 1 - 2 sin^2 a, whichever leaves the smaller remainder; sin 2a = 2 sin a
/// cos a.
void expand_double_angles(std::vector<Product>& products) {
  std::vector<Product> result;
  for (std::size_t i = 0; i < products.size(); ++i) {
    Product& product = products[i];
    const auto at =
        std::find_if(product.functions.begin(), product.functions.end(), [](const Function& f) {
          return f.angle.front().symbol < AnglePart::kHalfTurn && half(f.angle).has_value();
        });
    if (at == product.functions.end()) {
      result.push_back(product);
      continue;
    }
    const Angle a = *half(at->angle);
    const bool sine = at->sine;
    product.functions.erase(at);
    Product square{product.coefficient * Rational(2), product.functions};
    if (sine) {
      append(square, true, a);
      append(square, false, a);
      result.push_back(std::move(square));
      continue;
    }
    // The remainder -c or +c is added to a term with the same other functions, if there is one.
    const auto same = [&](const Product& p) { return has_functions(p, product.functions); };
    auto other = std::find_if(result.begin(), result.end(), same);
    if (other == result.end()) {
      other =
          std::find_if(products.begin() + static_cast<std::ptrdiff_t>(i) + 1, products.end(), same);
      if (other == products.end()) {
        result.push_back({Rational(0), product.functions});
        other = result.end() - 1;
      }
    }
    const Rational minus = other->coefficient - product.coefficient;
    const Rational plus = other->coefficient + product.coefficient;
    const auto size = [](const Rational& x) { return x.is_negative() ? -x : x; };
    const bool as_sine = size(plus) < size(minus);
    if (as_sine) square.coefficient = -square.coefficient;
    other->coefficient = as_sine ? plus : minus;
    append(square, as_sine, a);
    append(square, as_sine, a);
    result.push_back(std::move(square));
  }
  products = std::move(result);
}

/// Which products of sines and cosines are formed.
enum class Products { by_angles, pairs, none };

/// Terms with factors in any order, as the atoms are not sorted yet.
DisplaySum terms_of(const Polynomial& x, Products products, AtomTable& table) {
  if (x.is_constant()) {
    if (x.is_zero()) return {};
    return {{x.constant(), {}}};
  }
  const Ring& ring = *x.ring();
  DisplaySum result;
  const std::span<const Term> terms = x.terms();
  for (std::size_t i = 0; i < terms.size();) {
    const MonomialId monomial = terms[i].monomial();
    std::vector<Product> sum;
    for (; i < terms.size() && terms[i].monomial() == monomial; ++i) {
      Product product{terms[i].coefficient, {}};
      if (const TrigId trig = terms[i].trig()) {
        append(product, Ring::is_sine(trig), ring.angle(trig));
      }
      sum.push_back(std::move(product));
    }
    if (products == Products::by_angles) pair_by_angles(sum);
    if (products != Products::none) {
      pair_up(sum);
      expand_double_angles(sum);
    }
    for (const Product& product : sum) {
      if (product.coefficient.is_zero()) continue;
      DisplayTerm term{product.coefficient, {}};
      for (const Factor& f : ring.monomial(monomial)) {
        term.factors.push_back({table.symbol(f.symbol), f.power});
      }
      for (const Function& f : product.functions) {
        term.factors.push_back({table.function(f.angle, f.sine), 1});
      }
      result.push_back(std::move(term));
    }
  }
  return result;
}

/// Sorts factors and terms, and adds equal terms.
void sort(DisplaySum& sum) {
  for (DisplayTerm& term : sum) {
    DisplayTerm ordered{std::move(term.coefficient), {}};
    for (const AtomPower& f : term.factors) ordered.multiply(f.atom, f.power);
    term = std::move(ordered);
  }
  std::sort(sum.begin(), sum.end(),
            [](const DisplayTerm& a, const DisplayTerm& b) { return compare(a, b) < 0; });
  DisplaySum collected;
  for (DisplayTerm& term : sum) {
    if (!collected.empty() && compare(collected.back(), term) == 0) {
      collected.back().coefficient += term.coefficient;
      if (collected.back().coefficient.is_zero()) collected.pop_back();
    } else {
      collected.push_back(std::move(term));
    }
  }
  sum = std::move(collected);
}

bool same(const DisplaySum& a, const DisplaySum& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const DisplayTerm& x, const DisplayTerm& y) {
                      return x.coefficient == y.coefficient && x.factors == y.factors;
                    });
}

}  // namespace

std::vector<DisplaySum> display_sums(const Polynomial& x, AtomTable& table) {
  std::vector<DisplaySum> all;
  for (const Products products : {Products::by_angles, Products::pairs, Products::none}) {
    all.push_back(terms_of(x, products, table));
  }
  table.sort();
  std::vector<DisplaySum> different;
  for (DisplaySum& sum : all) {
    sort(sum);
    const bool known = std::any_of(different.begin(), different.end(),
                                   [&](const DisplaySum& other) { return same(other, sum); });
    if (!known) different.push_back(std::move(sum));
  }
  return different;
}

}  // namespace limb::symbolic
