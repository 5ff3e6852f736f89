#pragma once

#include <Eigen/Core>
#include <iosfwd>
#include <span>

#include "limb/base/error.hpp"
#include "limb/symbolic/ring.hpp"

/// The scalar of closed forms: a polynomial over exact ratios in the symbols of a ring, times
/// sines and cosines of combinations of angles. Products of sines and cosines become sums at once,
/// so that each value has exactly one form: two values are equal if and only if they compare equal,
/// and zero is zero. docs/derivations/trigonometric_polynomials.md
namespace limb::symbolic {

/// coefficient * monomial * (1, a cosine or a sine)
struct Term {
  std::uint64_t key;  ///< monomial above, trig below: terms of one monomial are neighbours
  Rational coefficient;

  MonomialId monomial() const { return static_cast<MonomialId>(key >> 32); }
  TrigId trig() const { return static_cast<TrigId>(key); }
  static std::uint64_t key_of(MonomialId monomial, TrigId trig) {
    return (std::uint64_t(monomial) << 32) | trig;
  }
};

/// An immutable value; copies share their terms. Numbers belong to no ring and mix with any.
class Polynomial {
 public:
  Polynomial() = default;
  Polynomial(int value) : constant_(value) {}  // NOLINT: numbers are constants
  Polynomial(double value) : constant_(Rational::from_decimal(value)) {}  // NOLINT: 0.35 = 7/20
  Polynomial(Rational value) : constant_(std::move(value)) {}             // NOLINT
  static Polynomial symbol(const std::shared_ptr<Ring>& ring, SymbolId id);
  /// From terms in any order; equal ones are added.
  static Polynomial from_terms(const std::shared_ptr<Ring>& ring, std::vector<Term> terms);

  bool is_constant() const { return !body_; }
  bool is_zero() const { return !body_ && constant_.is_zero(); }
  bool is_one() const { return !body_ && constant_.is_one(); }
  /// @pre is_constant()
  const Rational& constant() const { return constant_; }
  /// Null for numbers.
  const std::shared_ptr<Ring>& ring() const;
  /// Sorted by key. A number has none here: see constant().
  std::span<const Term> terms() const;
  /// How many summands it has; 0 for zero, 1 for other numbers.
  std::size_t size() const;

  Polynomial operator-() const;
  friend Polynomial operator+(const Polynomial& a, const Polynomial& b);
  friend Polynomial operator-(const Polynomial& a, const Polynomial& b);
  friend Polynomial operator*(const Polynomial& a, const Polynomial& b);
  /// By a number or a single product of symbols. @throws Error that says so for anything else.
  friend Polynomial operator/(const Polynomial& a, const Polynomial& b);
  Polynomial& operator+=(const Polynomial& b) { return *this = *this + b; }
  Polynomial& operator-=(const Polynomial& b) { return *this = *this - b; }
  Polynomial& operator*=(const Polynomial& b) { return *this = *this * b; }
  Polynomial& operator/=(const Polynomial& b) { return *this = *this / b; }
  friend bool operator==(const Polynomial& a, const Polynomial& b);

 private:
  struct Body;
  explicit Polynomial(std::shared_ptr<const Body> body) : body_(std::move(body)) {}
  /// Sorted, different keys, no zeros.
  static Polynomial wrap(const std::shared_ptr<Ring>& ring, std::vector<Term> terms);
  static Polynomial add(const Polynomial& a, const Polynomial& b, int sign);
  Polynomial scaled(const Rational& factor) const;

  Rational constant_;
  std::shared_ptr<const Body> body_;  ///< null for numbers
};

/// Of a sum of multiples of symbols, of pi and of numbers (rad). @throws Error for anything else.
Polynomial cos(const Polynomial& angle);
Polynomial sin(const Polynomial& angle);
/// Of a number that is not negative. @throws Error for symbols and for primes that cannot be found.
Polynomial sqrt(const Polynomial& x);
/// x^n; negative n as division.
Polynomial pow(const Polynomial& x, int n);
/// The quotient where it is one, nothing where operator/ would throw.
std::optional<Polynomial> try_divide(const Polynomial& a, const Polynomial& b);

/// Numbers are ordered, symbols are not. limb's algorithms choose by select().
class Order {
 public:
  Order(const Polynomial& a, const Polynomial& b);
  Polynomial choose(const Polynomial& a, const Polynomial& b) const;

 private:
  std::optional<bool> known_;
};
inline Order operator<(const Polynomial& a, const Polynomial& b) {
  return {a, b};
}
inline Polynomial select(const Order& order, const Polynomial& a, const Polynomial& b) {
  return order.choose(a, b);
}

/// Plain text: "m2*l1^2 + 2*m2*l1*l2*cos(q2)"; one text for one value.
std::string to_text(const Polynomial& x);
std::ostream& operator<<(std::ostream& out, const Polynomial& x);

}  // namespace limb::symbolic

namespace Eigen {

template <>
struct NumTraits<limb::symbolic::Polynomial> {
  using Scalar = limb::symbolic::Polynomial;
  using Real = Scalar;
  using NonInteger = Scalar;
  using Nested = Scalar;
  using Literal = Scalar;
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 1,
    ReadCost = 1,
    AddCost = 100,
    MulCost = 1000
  };
  static Scalar epsilon() { return 0; }
  static Scalar dummy_precision() { return 0; }
  static int digits10() { return 0; }
};

}  // namespace Eigen
