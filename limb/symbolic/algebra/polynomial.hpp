#pragma once

#include <Eigen/Core>
#include <iosfwd>
#include <span>

#include "limb/base/error.hpp"
#include "limb/symbolic/algebra/ring.hpp"

/// The scalar of closed forms: a polynomial with exact rational coefficients in the symbols of a
/// ring and in sines and cosines of linear combinations of angles. Products of sines and cosines
/// are reduced to sums at once, so each value has one canonical form: two values are equal if and
/// only if their terms are, and zero has no terms. docs/derivations/trigonometric_polynomials.md
namespace limb::symbolic {

/// coefficient * monomial * (1, a cosine or a sine)
struct Term {
  std::uint64_t key;  ///< monomial in the upper half, trig in the lower: sorts by monomial
  Rational coefficient;

  MonomialId monomial() const { return static_cast<MonomialId>(key >> 32); }
  TrigId trig() const { return static_cast<TrigId>(key); }
  static std::uint64_t key_of(MonomialId monomial, TrigId trig) {
    return (std::uint64_t(monomial) << 32) | trig;
  }
};

/// An immutable value; copies share their terms. Numbers belong to no ring and combine with any.
class Polynomial {
 public:
  Polynomial() = default;
  Polynomial(int value) : constant_(value) {}  // NOLINT: implicit on purpose
  Polynomial(double value) : constant_(Rational::from_decimal(value)) {}  // NOLINT: 0.35 = 7/20
  Polynomial(Rational value) : constant_(std::move(value)) {}             // NOLINT
  static Polynomial symbol(const std::shared_ptr<Ring>& ring, SymbolId id);
  /// From terms in any order; terms with the same key are added.
  static Polynomial from_terms(const std::shared_ptr<Ring>& ring, std::vector<Term> terms);

  bool is_constant() const { return !storage_; }
  bool is_zero() const { return !storage_ && constant_.is_zero(); }
  bool is_one() const { return !storage_ && constant_.is_one(); }
  /// @pre is_constant()
  const Rational& constant() const { return constant_; }
  /// Null for numbers.
  const std::shared_ptr<Ring>& ring() const;
  /// Sorted by key; empty for a number, see constant().
  std::span<const Term> terms() const;
  /// Number of terms; 0 for zero, 1 for other numbers.
  std::size_t size() const;

  Polynomial operator-() const;
  friend Polynomial operator+(const Polynomial& a, const Polynomial& b);
  friend Polynomial operator-(const Polynomial& a, const Polynomial& b);
  friend Polynomial operator*(const Polynomial& a, const Polynomial& b);
  /// Division by a number or a single product of symbols. @throws Error for other divisors.
  friend Polynomial operator/(const Polynomial& a, const Polynomial& b);
  Polynomial& operator+=(const Polynomial& b) { return *this = *this + b; }
  Polynomial& operator-=(const Polynomial& b) { return *this = *this - b; }
  Polynomial& operator*=(const Polynomial& b) { return *this = *this * b; }
  Polynomial& operator/=(const Polynomial& b) { return *this = *this / b; }
  friend bool operator==(const Polynomial& a, const Polynomial& b);

 private:
  struct Storage;
  explicit Polynomial(std::shared_ptr<const Storage> storage) : storage_(std::move(storage)) {}
  /// @pre sorted, different keys, no zeros
  static Polynomial wrap(const std::shared_ptr<Ring>& ring, std::vector<Term> terms);
  static Polynomial add(const Polynomial& a, const Polynomial& b, int sign);
  Polynomial scaled(const Rational& factor) const;

  Rational constant_;
  std::shared_ptr<const Storage> storage_;  ///< null for numbers
};

/// Cosine and sine of a linear combination of symbols, pi and numbers (rad). @throws Error for
/// other arguments.
Polynomial cos(const Polynomial& angle);
Polynomial sin(const Polynomial& angle);
/// Square root of a nonnegative number. @throws Error for symbols, and for numbers whose prime
/// factors are too large to find.
Polynomial sqrt(const Polynomial& x);
/// x^n; a negative n divides.
Polynomial pow(const Polynomial& x, int n);
/// The quotient; empty where operator/ would throw.
std::optional<Polynomial> try_divide(const Polynomial& a, const Polynomial& b);

/// Result of a < b, for select(), by which limb's algorithms branch. Numbers are ordered; symbols
/// are not.
class Comparison {
 public:
  Comparison(const Polynomial& a, const Polynomial& b);
  Polynomial choose(const Polynomial& a, const Polynomial& b) const;

 private:
  std::optional<bool> known_;
};
inline Comparison operator<(const Polynomial& a, const Polynomial& b) {
  return {a, b};
}
inline Polynomial select(const Comparison& comparison, const Polynomial& a, const Polynomial& b) {
  return comparison.choose(a, b);
}

/// Plain text: "m2*l1^2 + 2*m2*l1*l2*cos(q2)"; equal values have equal texts.
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
