#include "limb/symbolic/algebra/polynomial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "limb/symbolic/algebra/term_order.hpp"

namespace limb::symbolic {

struct Polynomial::Storage {
  std::shared_ptr<Ring> ring;
  std::vector<Term> terms;

  Storage(std::shared_ptr<Ring> r, std::vector<Term> t) : ring(std::move(r)), terms(std::move(t)) {
    ring->count_terms(terms.size());
  }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  ~Storage() { ring->release_terms(terms.size()); }
};

namespace {

const std::shared_ptr<Ring> kNoRing;

const std::shared_ptr<Ring>& common_ring(const Polynomial& a, const Polynomial& b) {
  if (a.ring() && b.ring() && a.ring() != b.ring()) {
    throw Error("symbolic: values from different rings cannot be combined");
  }
  return a.ring() ? a.ring() : b.ring();
}

/// Adds up equal keys and drops zeros.
void collect(std::vector<Term>& terms) {
  std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.key < b.key; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < terms.size();) {
    Term sum = std::move(terms[i++]);
    while (i < terms.size() && terms[i].key == sum.key) sum.coefficient += terms[i++].coefficient;
    if (!sum.coefficient.is_zero()) terms[kept++] = std::move(sum);
  }
  terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(kept), terms.end());
}

/// Sums terms, collecting in between so that memory stays close to that of the result.
class Accumulator {
 public:
  void add(std::uint64_t key, Rational coefficient) {
    if (terms_.size() >= limit_) {
      collect(terms_);
      limit_ = std::max(kBlock, 2 * terms_.size());
    }
    terms_.push_back({key, std::move(coefficient)});
  }
  std::vector<Term> take() {
    collect(terms_);
    return std::move(terms_);
  }

 private:
  static constexpr std::size_t kBlock = 1u << 16;
  std::vector<Term> terms_;
  std::size_t limit_ = kBlock;
};

std::string shortened(const Polynomial& x) {
  const std::string text = to_text(x);
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

/// The argument as an angle. @throws Error if it is not one.
Angle angle_of(const char* call, const Polynomial& x) {
  const auto refuse = [&] {
    fail_computation(call, fmt::format("'{}' is not an angle, expected a linear combination of "
                                       "symbols, pi and numbers",
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

std::string power_text(const std::string& name, int power) {
  return power == 1 ? name : name + "^" + std::to_string(power);
}

}  // namespace

const std::shared_ptr<Ring>& Polynomial::ring() const {
  return storage_ ? storage_->ring : kNoRing;
}
std::span<const Term> Polynomial::terms() const {
  return storage_ ? std::span<const Term>(storage_->terms) : std::span<const Term>();
}
std::size_t Polynomial::size() const {
  return storage_ ? storage_->terms.size() : constant_.is_zero() ? 0 : 1;
}

Polynomial Polynomial::wrap(const std::shared_ptr<Ring>& ring, std::vector<Term> terms) {
  if (terms.empty()) return {};
  if (terms.size() == 1 && terms[0].key == 0) return {std::move(terms[0].coefficient)};
  terms.shrink_to_fit();
  return Polynomial(std::make_shared<const Storage>(ring, std::move(terms)));
}

Polynomial Polynomial::from_terms(const std::shared_ptr<Ring>& ring, std::vector<Term> terms) {
  collect(terms);
  return wrap(ring, std::move(terms));
}

Polynomial Polynomial::symbol(const std::shared_ptr<Ring>& ring, SymbolId id) {
  return wrap(ring, {{Term::key_of(ring->intern({{id, 1}}), 0), Rational(1)}});
}

Polynomial Polynomial::scaled(const Rational& factor) const {
  if (factor.is_zero()) return {};
  if (factor.is_one()) return *this;
  if (!storage_) return constant_ * factor;
  std::vector<Term> terms = storage_->terms;
  for (Term& term : terms) term.coefficient *= factor;
  return wrap(storage_->ring, std::move(terms));
}

Polynomial Polynomial::operator-() const {
  return scaled(Rational(-1));
}

Polynomial Polynomial::add(const Polynomial& a, const Polynomial& b, int sign) {
  if (b.is_zero()) return a;
  if (a.is_zero()) return sign < 0 ? -b : b;
  const auto signed_ = [sign](const Rational& x) { return sign < 0 ? -x : x; };
  if (!a.storage_ && !b.storage_) return a.constant_ + signed_(b.constant_);
  const std::shared_ptr<Ring>& ring = common_ring(a, b);
  const Term constant_a{0, a.constant_}, constant_b{0, b.constant_};
  const std::span<const Term> x = a.storage_ ? a.terms() : std::span(&constant_a, 1);
  const std::span<const Term> y = b.storage_ ? b.terms() : std::span(&constant_b, 1);
  ring->count_products((x.size() + y.size()) / 4);  // cost of the sum in products of terms
  std::vector<Term> sum;
  sum.reserve(x.size() + y.size());
  std::size_t i = 0, j = 0;
  while (i < x.size() || j < y.size()) {
    if (j == y.size() || (i < x.size() && x[i].key < y[j].key)) {
      sum.push_back(x[i++]);
    } else if (i == x.size() || y[j].key < x[i].key) {
      sum.push_back({y[j].key, signed_(y[j].coefficient)});
      ++j;
    } else {
      Rational c = x[i].coefficient + signed_(y[j].coefficient);
      if (!c.is_zero()) sum.push_back({x[i].key, std::move(c)});
      ++i;
      ++j;
    }
  }
  return wrap(ring, std::move(sum));
}

Polynomial operator+(const Polynomial& a, const Polynomial& b) {
  return Polynomial::add(a, b, 1);
}
Polynomial operator-(const Polynomial& a, const Polynomial& b) {
  return Polynomial::add(a, b, -1);
}

Polynomial operator*(const Polynomial& a, const Polynomial& b) {
  if (!a.storage_) return b.scaled(a.constant_);
  if (!b.storage_) return a.scaled(b.constant_);
  const std::shared_ptr<Ring>& shared = common_ring(a, b);
  Ring& ring = *shared;
  const std::vector<Term>&x = a.storage_->terms, &y = b.storage_->terms;
  ring.count_products(x.size() * y.size());
  const auto group_end = [](const std::vector<Term>& terms, std::size_t i) {
    const MonomialId monomial = terms[i].monomial();
    while (i < terms.size() && terms[i].monomial() == monomial) ++i;
    return i;
  };
  Accumulator sum;
  Rational factor, inner;
  for (std::size_t i = 0; i < x.size();) {
    const std::size_t i_end = group_end(x, i);
    for (std::size_t j = 0; j < y.size();) {
      const std::size_t j_end = group_end(y, j);
      const MonomialId monomial = ring.multiply(x[i].monomial(), y[j].monomial(), factor);
      for (std::size_t k = i; k < i_end; ++k) {
        for (std::size_t l = j; l < j_end; ++l) {
          Rational c = x[k].coefficient * y[l].coefficient;
          if (!factor.is_one()) c *= factor;
          const TrigId t = x[k].trig(), u = y[l].trig();
          if (t == 0 || u == 0) {
            sum.add(Term::key_of(monomial, t | u), std::move(c));
            continue;
          }
          for (const FoldedTerm& folded : ring.multiply(t, u)) {
            if (folded.monomial == 0) {
              sum.add(Term::key_of(monomial, folded.trig), c * folded.coefficient);
            } else {
              const MonomialId m = ring.multiply(monomial, folded.monomial, inner);
              sum.add(Term::key_of(m, folded.trig), c * folded.coefficient * inner);
            }
          }
        }
      }
      j = j_end;
    }
    i = i_end;
  }
  return Polynomial::wrap(shared, sum.take());
}

std::optional<Polynomial> try_divide(const Polynomial& a, const Polynomial& b) {
  if (b.is_zero()) return std::nullopt;
  if (b.is_constant()) return a * Polynomial(Rational(1) / b.constant());
  if (b.size() != 1 || b.terms()[0].trig() != 0) return std::nullopt;
  const Term& divisor = b.terms()[0];
  Rational factor;
  const MonomialId inverse = b.ring()->invert(divisor.monomial(), factor);
  return a * Polynomial::from_terms(b.ring(),
                                    {{Term::key_of(inverse, 0), factor / divisor.coefficient}});
}

Polynomial operator/(const Polynomial& a, const Polynomial& b) {
  if (auto quotient = try_divide(a, b)) return *std::move(quotient);
  if (b.is_zero()) fail_computation("symbolic", "division by 0");
  std::string text = to_text(b);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  fail_computation("symbolic", fmt::format("division by '{}', expected a number or a single "
                                           "product of symbols",
                                           text));
}

bool operator==(const Polynomial& a, const Polynomial& b) {
  if (!a.storage_ || !b.storage_) return !a.storage_ && !b.storage_ && a.constant_ == b.constant_;
  if (a.storage_ == b.storage_) return true;
  common_ring(a, b);
  return std::ranges::equal(a.storage_->terms, b.storage_->terms, [](const Term& x, const Term& y) {
    return x.key == y.key && x.coefficient == y.coefficient;
  });
}

Polynomial pow(const Polynomial& x, int n) {
  Polynomial result(1), square = n < 0 ? Polynomial(1) / x : x;
  for (unsigned k = n < 0 ? 0u - static_cast<unsigned>(n) : static_cast<unsigned>(n); k != 0;
       k >>= 1) {
    if (k & 1u) result = result * square;
    if (k > 1) square = square * square;
  }
  return result;
}

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
  // sqrt(n/d) = sqrt(n d)/d; each squared prime factor of n d is taken out of the root.
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

Comparison::Comparison(const Polynomial& a, const Polynomial& b) {
  const Polynomial d = b - a;
  if (d.is_constant()) known_ = !d.is_zero() && !d.constant().is_negative();
}

Polynomial Comparison::choose(const Polynomial& a, const Polynomial& b) const {
  if (!known_) fail_computation("symbolic", "a branch on the value of a symbol has no closed form");
  return *known_ ? a : b;
}

std::string to_text(const Polynomial& x) {
  if (x.is_zero()) return "0";
  std::string text;
  for (const Term& term : ordered_terms(x)) {
    const bool negative = term.coefficient.is_negative();
    const Rational size = negative ? -term.coefficient : term.coefficient;
    std::string product;
    const auto append = [&](const std::string& factor) {
      if (!product.empty()) product += "*";
      product += factor;
    };
    if (!size.is_one() || term.key == 0) append(size.to_text());
    if (!x.is_constant()) {
      for (const Factor& f : x.ring()->monomial(term.monomial())) {
        append(power_text(x.ring()->symbol(f.symbol).name, f.power));
      }
      if (term.trig() != 0) append(to_text(*x.ring(), term.trig()));
    }
    text += text.empty() ? (negative ? "-" : "") : negative ? " - " : " + ";
    text += product;
  }
  return text;
}

std::ostream& operator<<(std::ostream& out, const Polynomial& x) {
  return out << to_text(x);
}

}  // namespace limb::symbolic
