#include "limb/symbolic/algebra/calculus.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace limb::symbolic {
namespace {

int power_of(const Ring& ring, MonomialId monomial, SymbolId symbol) {
  for (const Factor& f : ring.monomial(monomial)) {
    if (f.symbol == symbol) return f.power;
  }
  return 0;
}

/// The monomial with the symbol's power changed to the given one.
MonomialId with_power(Ring& ring, MonomialId monomial, SymbolId symbol, int power) {
  std::vector<Factor> factors = ring.monomial(monomial);
  std::erase_if(factors, [&](const Factor& f) { return f.symbol == symbol; });
  if (power != 0) {
    const auto at = std::find_if(factors.begin(), factors.end(),
                                 [&](const Factor& f) { return f.symbol > symbol; });
    factors.insert(at, {symbol, power});
  }
  return ring.intern(std::move(factors));
}

Rational angle_factor(const Ring& ring, TrigId trig, SymbolId symbol) {
  if (trig == 0) return {};
  for (const AnglePart& part : ring.angle(trig)) {
    if (part.symbol == symbol) return part.factor;
  }
  return {};
}

/// cos or sin as a polynomial.
Polynomial trig_value(const std::shared_ptr<Ring>& ring, TrigId trig) {
  return Polynomial::from_terms(ring, {{Term::key_of(0, trig), Rational(1)}});
}

/// The sine for a cosine of the same angle, and vice versa.
TrigId conjugate(TrigId trig) {
  return trig ^ 1u;
}

}  // namespace

Polynomial differentiate(const Polynomial& x, SymbolId symbol) {
  if (x.is_constant()) return 0;
  Ring& ring = *x.ring();
  std::vector<Term> terms;
  for (const Term& term : x.terms()) {
    if (const int n = power_of(ring, term.monomial(), symbol); n != 0) {
      const MonomialId lower = with_power(ring, term.monomial(), symbol, n - 1);
      terms.push_back({Term::key_of(lower, term.trig()), term.coefficient * Rational(n)});
    }
    if (const Rational k = angle_factor(ring, term.trig(), symbol); !k.is_zero()) {
      const Rational sign(Ring::is_sine(term.trig()) ? 1 : -1);
      terms.push_back(
          {Term::key_of(term.monomial(), conjugate(term.trig())), sign * k * term.coefficient});
    }
  }
  return Polynomial::from_terms(x.ring(), std::move(terms));
}

Polynomial rate(const Polynomial& x) {
  Polynomial sum;
  if (x.is_constant()) return sum;
  const std::size_t symbols = x.ring()->symbols().size();
  for (SymbolId s = 0; s < symbols; ++s) {
    const std::optional<SymbolId> v = x.ring()->symbol(s).rate;
    if (!v || !depends_on(x, s)) continue;
    sum += differentiate(x, s) * Polynomial::symbol(x.ring(), *v);
  }
  return sum;
}

bool depends_on(const Polynomial& x, SymbolId symbol) {
  for (const Term& term : x.terms()) {
    if (power_of(*x.ring(), term.monomial(), symbol) != 0) return true;
    if (!angle_factor(*x.ring(), term.trig(), symbol).is_zero()) return true;
  }
  return false;
}

Polynomial coefficient(const Polynomial& x, SymbolId symbol, int power) {
  if (x.is_constant()) return power == 0 ? x : 0;
  std::vector<Term> terms;
  for (const Term& term : x.terms()) {
    if (power_of(*x.ring(), term.monomial(), symbol) != power) continue;
    const MonomialId m = with_power(*x.ring(), term.monomial(), symbol, 0);
    terms.push_back({Term::key_of(m, term.trig()), term.coefficient});
  }
  return Polynomial::from_terms(x.ring(), std::move(terms));
}

Polynomial substitute(const Polynomial& x, SymbolId symbol, const Polynomial& replacement) {
  if (x.is_constant()) return x;
  const std::shared_ptr<Ring>& ring = x.ring();
  const RingScope scope(ring);
  Polynomial sum;
  std::vector<Term> kept;
  for (const Term& term : x.terms()) {
    const int n = power_of(*ring, term.monomial(), symbol);
    const Rational k = angle_factor(*ring, term.trig(), symbol);
    if (n == 0 && k.is_zero()) {
      kept.push_back(term);
      continue;
    }
    const MonomialId m = with_power(*ring, term.monomial(), symbol, 0);
    Polynomial value = Polynomial::from_terms(ring, {{Term::key_of(m, 0), term.coefficient}});
    if (n != 0) value *= pow(replacement, n);
    if (k.is_zero()) {
      if (term.trig() != 0) value *= trig_value(ring, term.trig());
    } else {
      // The angle as a sum, with the symbol replaced.
      Polynomial angle = Polynomial(k) * replacement;
      for (const AnglePart& part : ring->angle(term.trig())) {
        if (part.symbol == symbol) continue;
        Polynomial unit(1);
        if (part.symbol == AnglePart::kHalfTurn) {
          unit = Polynomial::symbol(ring, ring->pi());
        } else if (part.symbol != AnglePart::kRadian) {
          unit = Polynomial::symbol(ring, part.symbol);
        }
        angle += Polynomial(part.factor) * unit;
      }
      value *= Ring::is_sine(term.trig()) ? sin(angle) : cos(angle);
    }
    sum += value;
  }
  return sum + Polynomial::from_terms(ring, std::move(kept));
}

double evaluate(const Polynomial& x, std::span<const double> values) {
  if (x.is_constant()) return x.constant().to_double();
  const Ring& ring = *x.ring();
  double sum = 0;
  for (const Term& term : x.terms()) {
    double product = term.coefficient.to_double();
    for (const Factor& f : ring.monomial(term.monomial())) {
      product *= std::pow(values[f.symbol], f.power);
    }
    if (term.trig() != 0) {
      double angle = 0;
      for (const AnglePart& part : ring.angle(term.trig())) {
        const double unit = part.symbol == AnglePart::kHalfTurn ? std::numbers::pi
                            : part.symbol == AnglePart::kRadian ? 1.0
                                                                : values[part.symbol];
        angle += part.factor.to_double() * unit;
      }
      product *= Ring::is_sine(term.trig()) ? std::sin(angle) : std::cos(angle);
    }
    sum += product;
  }
  return sum;
}

std::vector<double> known_values(const Ring& ring) {
  std::vector<double> values;
  for (const Symbol& symbol : ring.symbols()) {
    values.push_back(symbol.value.value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  return values;
}

}  // namespace limb::symbolic
