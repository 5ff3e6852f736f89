#include <fmt/format.h>

#include <cmath>

#include "limb/symbolic/polynomial.hpp"

/// Sines, cosines and square roots of exact arguments.
namespace limb::symbolic {
namespace {

std::string shortened(const Polynomial& x) {
  const std::string text = to_text(x);
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

/// The argument as an angle; @throws Error where it is none.
Angle angle_of(const char* call, const Polynomial& x) {
  const auto refuse = [&] {
    fail_computation(call, fmt::format("'{}' is no angle, expected a sum of multiples of symbols, "
                                       "of pi and of numbers",
                                       shortened(x)));
  };
  Angle angle;
  Rational radians = x.is_constant() ? x.constant() : Rational();
  Rational half_turns;
  for (const Term& term : x.terms()) {
    const std::vector<Factor>& factors = x.ring()->monomial(term.monomial());
    if (term.trig() != 0 || factors.size() > 1) refuse();
    if (factors.empty()) {
      radians = term.coefficient;
      continue;
    }
    const Symbol& symbol = x.ring()->symbol(factors[0].symbol);
    if (factors[0].power != 1 || symbol.radicand != 0) refuse();
    if (symbol.name == "pi") {
      half_turns = term.coefficient;
    } else {
      angle = add(angle, {{factors[0].symbol, term.coefficient}}, Rational(1));
    }
  }
  if (!half_turns.is_zero()) angle.push_back({AnglePart::kHalfTurn, half_turns});
  if (!radians.is_zero()) angle.push_back({AnglePart::kRadian, radians});
  return angle;
}

Polynomial trig_of(const char* call, const Polynomial& x, bool sine) {
  if (x.is_zero()) return sine ? 0 : 1;
  const std::shared_ptr<Ring> ring =
      x.is_constant() ? RingScope::current("the sine or cosine of a number") : x.ring();
  std::vector<Term> terms;
  for (FoldedTerm& t : ring->fold(angle_of(call, x), sine)) {
    terms.push_back({Term::key_of(t.monomial, t.trig), std::move(t.coefficient)});
  }
  return Polynomial::from_terms(ring, std::move(terms));
}

}  // namespace

Polynomial cos(const Polynomial& angle) {
  return trig_of("cos", angle, false);
}
Polynomial sin(const Polynomial& angle) {
  return trig_of("sin", angle, true);
}

Polynomial sqrt(const Polynomial& x) {
  if (!x.is_constant()) {
    fail_computation("sqrt", fmt::format("'{}' has symbols, expected a number", shortened(x)));
  }
  const Rational& r = x.constant();
  if (r.is_negative()) fail_computation("sqrt", fmt::format("{} is negative", r.to_text()));
  // sqrt(n/d) = sqrt(n d)/d; each square of a prime in n d leaves the root.
  const BigInteger product = r.numerator() * r.denominator();
  if (!product.fits_int64()) {
    fail_computation("sqrt", fmt::format("{} has too many digits to be kept exact", r.to_text()));
  }
  std::int64_t rest = product.to_int64();
  Rational outside = Rational(1) / Rational(r.denominator(), BigInteger(1));
  Polynomial inside(1);
  const auto take = [&](std::int64_t prime, int times) {
    outside *= power(Rational(prime), times / 2);
    if (times % 2 == 0) return;
    const std::shared_ptr<Ring>& ring = RingScope::current("a square root");
    inside *= Polynomial::symbol(ring, ring->root_of_prime(prime));
  };
  constexpr std::int64_t kLargest = 1 << 21;
  for (std::int64_t p = 2; p <= kLargest && p * p <= rest; ++p) {
    int times = 0;
    for (; rest % p == 0; rest /= p) ++times;
    if (times > 0) take(p, times);
  }
  if (rest == 0) return 0;
  const auto root = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(rest))));
  if (root * root == rest) {
    take(root, 2);
  } else if (rest / kLargest >= kLargest) {
    fail_computation("sqrt", fmt::format("{} has no small prime factors and cannot be kept exact; "
                                         "write a decimal",
                                         r.to_text()));
  } else if (rest > 1) {
    take(rest, 1);
  }
  return outside * inside;
}

}  // namespace limb::symbolic
