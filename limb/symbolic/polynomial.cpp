#include "limb/symbolic/polynomial.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace limb::symbolic {

struct Polynomial::Body {
  std::shared_ptr<Ring> ring;
  std::vector<Term> terms;

  Body(std::shared_ptr<Ring> r, std::vector<Term> t) : ring(std::move(r)), terms(std::move(t)) {
    ring->count(terms.size());
  }
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;
  ~Body() { ring->uncount(terms.size()); }
};

namespace {

const std::shared_ptr<Ring> kNoRing;

const std::shared_ptr<Ring>& common_ring(const Polynomial& a, const Polynomial& b) {
  if (a.ring() && b.ring() && a.ring() != b.ring()) {
    throw Error("symbolic: two values of different rings do not mix");
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

/// Collects in between, so that a product never holds much more than its own terms.
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

}  // namespace

const std::shared_ptr<Ring>& Polynomial::ring() const {
  return body_ ? body_->ring : kNoRing;
}
std::span<const Term> Polynomial::terms() const {
  return body_ ? std::span<const Term>(body_->terms) : std::span<const Term>();
}
std::size_t Polynomial::size() const {
  return body_ ? body_->terms.size() : constant_.is_zero() ? 0 : 1;
}

Polynomial Polynomial::wrap(const std::shared_ptr<Ring>& ring, std::vector<Term> terms) {
  if (terms.empty()) return {};
  if (terms.size() == 1 && terms[0].key == 0) return {std::move(terms[0].coefficient)};
  terms.shrink_to_fit();
  return Polynomial(std::make_shared<const Body>(ring, std::move(terms)));
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
  if (!body_) return constant_ * factor;
  std::vector<Term> terms = body_->terms;
  for (Term& term : terms) term.coefficient *= factor;
  return wrap(body_->ring, std::move(terms));
}

Polynomial Polynomial::operator-() const {
  return scaled(Rational(-1));
}

Polynomial Polynomial::add(const Polynomial& a, const Polynomial& b, int sign) {
  if (b.is_zero()) return a;
  if (a.is_zero()) return sign < 0 ? -b : b;
  const auto signed_ = [sign](const Rational& x) { return sign < 0 ? -x : x; };
  if (!a.body_ && !b.body_) return a.constant_ + signed_(b.constant_);
  const std::shared_ptr<Ring>& ring = common_ring(a, b);
  const Term constant_a{0, a.constant_}, constant_b{0, b.constant_};
  const std::span<const Term> x = a.body_ ? a.terms() : std::span(&constant_a, 1);
  const std::span<const Term> y = b.body_ ? b.terms() : std::span(&constant_b, 1);
  ring->work((x.size() + y.size()) / 4);  // a sum of so many terms costs about that many products
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
  if (!a.body_) return b.scaled(a.constant_);
  if (!b.body_) return a.scaled(b.constant_);
  const std::shared_ptr<Ring>& shared = common_ring(a, b);
  Ring& ring = *shared;
  const std::vector<Term>&x = a.body_->terms, &y = b.body_->terms;
  ring.work(x.size() * y.size());
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
  if (!a.body_ || !b.body_) return !a.body_ && !b.body_ && a.constant_ == b.constant_;
  if (a.body_ == b.body_) return true;
  common_ring(a, b);
  return std::ranges::equal(a.body_->terms, b.body_->terms, [](const Term& x, const Term& y) {
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

Order::Order(const Polynomial& a, const Polynomial& b) {
  const Polynomial d = b - a;
  if (d.is_constant()) known_ = !d.is_zero() && !d.constant().is_negative();
}

Polynomial Order::choose(const Polynomial& a, const Polynomial& b) const {
  if (!known_) fail_computation("symbolic", "a choice by the size of a symbol has no closed form");
  return *known_ ? a : b;
}

}  // namespace limb::symbolic
