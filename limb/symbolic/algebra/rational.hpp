#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "limb/symbolic/algebra/big_integer.hpp"

namespace limb::symbolic {

/// An exact ratio in lowest terms, denominator > 0: two 64-bit integers while they suffice, which
/// is nearly always, large integers otherwise. It never overflows and never rounds; a number of
/// more than 2048 bits is an Error.
class Rational {
 public:
  Rational() : number_(0) {}
  Rational(int value) : number_(value) {}  // NOLINT: implicit on purpose
  Rational(std::int64_t value);            // NOLINT
  /// @throws Error if the denominator is 0.
  Rational(std::int64_t numerator, std::int64_t denominator);
  Rational(const BigInteger& numerator, const BigInteger& denominator);
  /// The number as its shortest decimal: 0.35 is 7/20. @throws Error if it is not finite.
  static Rational from_decimal(double value);

  Rational(const Rational& o);
  Rational(Rational&& o) noexcept : number_(o.number_), denominator_(o.denominator_) {
    o.number_ = 0;
    o.denominator_ = 1;
  }
  Rational& operator=(const Rational& o);
  Rational& operator=(Rational&& o) noexcept {
    std::swap(number_, o.number_);
    std::swap(denominator_, o.denominator_);
    return *this;
  }
  ~Rational() {
    if (is_big()) delete big();
  }

  bool is_zero() const { return number_ == 0 && denominator_ == 1; }
  bool is_one() const { return number_ == 1 && denominator_ == 1; }
  bool is_integer() const;
  bool is_negative() const { return is_big() ? big()->numerator.is_negative() : number_ < 0; }
  /// Both parts are below 2^63.
  bool is_small() const { return !is_big(); }
  /// @pre is_small()
  std::int64_t small_numerator() const { return number_; }
  std::int64_t small_denominator() const { return denominator_; }
  BigInteger numerator() const;
  BigInteger denominator() const;
  /// The nearest double; below 2.3e-308 the last bit may be off.
  double to_double() const;
  /// "7/20", "-3"
  std::string to_text() const;

  Rational operator-() const;
  friend Rational operator+(const Rational& a, const Rational& b);
  friend Rational operator-(const Rational& a, const Rational& b) { return a + (-b); }
  friend Rational operator*(const Rational& a, const Rational& b);
  /// @throws Error if b is 0.
  friend Rational operator/(const Rational& a, const Rational& b);
  Rational& operator+=(const Rational& b) { return *this = *this + b; }
  Rational& operator-=(const Rational& b) { return *this = *this - b; }
  Rational& operator*=(const Rational& b) { return *this = *this * b; }
  friend bool operator==(const Rational& a, const Rational& b);
  /// -1, 0, 1
  friend int compare(const Rational& a, const Rational& b);
  friend bool operator<(const Rational& a, const Rational& b) { return compare(a, b) < 0; }
  /// The largest integer that does not exceed it.
  Rational floor() const;

 private:
  struct Big {
    BigInteger numerator, denominator;
  };
  bool is_big() const { return denominator_ == 0; }
  void set(BigInteger numerator, BigInteger denominator);  ///< in lowest terms

  Big* big() const { return reinterpret_cast<Big*>(static_cast<std::intptr_t>(number_)); }

  std::int64_t number_;  ///< the numerator; where denominator_ is 0, the address of a Big
  std::int64_t denominator_ = 1;
};

/// x^n; negative n inverts the ratio. @throws Error for 0 to a negative power.
Rational power(const Rational& x, int n);

}  // namespace limb::symbolic
