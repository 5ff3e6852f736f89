#include "limb/symbolic/typeset/formula.hpp"

#include <algorithm>

namespace limb::symbolic {

using Kind = Formula::Kind;

bool operator==(const Formula& a, const Formula& b) {
  return a.kind == b.kind && a.number == b.number && a.symbol == b.symbol && a.angle == b.angle &&
         a.exponent == b.exponent && a.parts == b.parts;
}

Formula Formula::of_number(Rational value) {
  Formula f;
  f.number = std::move(value);
  return f;
}

Formula Formula::of_symbol(SymbolId id) {
  Formula f;
  f.kind = Kind::symbol;
  f.symbol = id;
  return f;
}

Formula Formula::sum_of(std::vector<Formula> parts) {
  Formula f;
  f.kind = Kind::sum;
  for (Formula& part : parts) {
    if (part.is_zero()) continue;
    if (part.kind == Kind::sum) {
      for (Formula& inner : part.parts) f.parts.push_back(std::move(inner));
    } else {
      f.parts.push_back(std::move(part));
    }
  }
  if (f.parts.empty()) return of_number(0);
  if (f.parts.size() == 1) return Formula(f.parts.front());
  return f;
}

Formula Formula::product_of(std::vector<Formula> parts) {
  Formula f;
  f.kind = Kind::product;
  Rational number(1);
  for (Formula& part : parts) {
    if (part.is_number()) {
      number *= part.number;
    } else if (part.kind == Kind::product) {
      for (Formula& inner : part.parts) {
        if (inner.is_number()) {
          number *= inner.number;
        } else {
          f.parts.push_back(std::move(inner));
        }
      }
    } else {
      f.parts.push_back(std::move(part));
    }
  }
  if (f.parts.empty() || number.is_zero()) return of_number(number);
  if (!number.is_one()) f.parts.insert(f.parts.begin(), of_number(number));
  if (f.parts.size() == 1) return Formula(f.parts.front());
  return f;
}

Formula Formula::power_of(Formula base, int exponent) {
  if (exponent == 1) return base;
  Formula f;
  f.kind = Kind::power;
  f.exponent = exponent;
  f.parts.push_back(std::move(base));
  return f;
}

bool Formula::is_negative() const {
  switch (kind) {
    case Kind::number:
      return number.is_negative();
    case Kind::sum:
    case Kind::product:
      return parts.front().is_negative();
    default:
      return false;
  }
}

namespace {

Polynomial expand_trig(const std::shared_ptr<Ring>& ring, const Formula& formula) {
  std::vector<Term> terms;
  for (FoldedTerm& t : ring->fold(formula.angle, formula.kind == Kind::sine)) {
    terms.push_back({Term::key_of(t.monomial, t.trig), std::move(t.coefficient)});
  }
  return Polynomial::from_terms(ring, std::move(terms));
}

// One printed symbol costs 4. A pair of parentheses costs less than a symbol, so that m (a + b)
// beats m a + m b; nested parentheses cost more, as they are harder to read.
constexpr int kSymbol = 4, kParentheses = 3, kNested = 13;

/// A fraction counts as three symbols: numerator, bar, denominator.
int number_cost(const Rational& x) {
  return kSymbol * ((x.is_integer() ? 1 : 3) + (x.is_negative() ? 1 : 0));
}

int angle_cost(const Angle& angle) {
  // c_{12} is one symbol; anything else is spelled out with its function.
  const auto plain = [](const AnglePart& part) {
    return part.factor.is_one() && part.symbol < AnglePart::kHalfTurn;
  };
  if (std::all_of(angle.begin(), angle.end(), plain)) return kSymbol;
  int cost = 2;
  for (const AnglePart& part : angle) cost += plain(part) ? 1 : 2;
  return kSymbol * cost;
}

bool has_parentheses(const Formula& f) {
  const bool encloses = f.kind == Kind::product || f.kind == Kind::power;
  return std::any_of(f.parts.begin(), f.parts.end(), [&](const Formula& part) {
    return (encloses && part.kind == Kind::sum) || has_parentheses(part);
  });
}

int parentheses_cost(const Formula& f) {
  if (f.kind != Kind::sum) return 0;
  return has_parentheses(f) ? kNested : kParentheses;
}

}  // namespace

Polynomial expand(const std::shared_ptr<Ring>& ring, const Formula& formula) {
  switch (formula.kind) {
    case Kind::number:
      return formula.number;
    case Kind::symbol:
      return Polynomial::symbol(ring, formula.symbol);
    case Kind::cosine:
    case Kind::sine:
      return expand_trig(ring, formula);
    case Kind::power:
      return pow(expand(ring, formula.parts.front()), formula.exponent);
    case Kind::sum: {
      Polynomial sum;
      for (const Formula& part : formula.parts) sum += expand(ring, part);
      return sum;
    }
    default: {
      Polynomial product(1);
      for (const Formula& part : formula.parts) product *= expand(ring, part);
      return product;
    }
  }
}

int print_cost(const Formula& formula) {
  switch (formula.kind) {
    case Kind::number:
      return number_cost(formula.number);
    case Kind::symbol:
      return kSymbol;
    case Kind::cosine:
    case Kind::sine:
      return angle_cost(formula.angle);
    case Kind::power:
      return print_cost(formula.parts.front()) + kSymbol + parentheses_cost(formula.parts.front());
    case Kind::sum: {
      int cost = formula.is_negative() ? 0 : -kSymbol;  // no sign before the first term
      for (const Formula& part : formula.parts) {
        cost += print_cost(part) + (part.is_negative() ? 0 : kSymbol);
      }
      return cost;
    }
    default: {
      int cost = 0;
      for (const Formula& part : formula.parts) {
        const bool sign_only = part.is_number() && part.number == Rational(-1);
        cost += sign_only ? kSymbol : print_cost(part) + parentheses_cost(part);
      }
      return cost;
    }
  }
}

}  // namespace limb::symbolic
