#include "limb/symbolic/algebra/rational.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "limb/base/check.hpp"

namespace limb::symbolic {
namespace {

/// 600 decimal digits. Powers of powers in a file could otherwise ask for numbers of any size.
constexpr std::size_t kMaxBits = 2048;

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();

/// a b in 64 bits; false where it does not fit (the lowest integer counts as too large).
bool multiply(std::int64_t a, std::int64_t b, std::int64_t& product) {
  return !__builtin_mul_overflow(a, b, &product) && product != kLowest;
}
bool add(std::int64_t a, std::int64_t b, std::int64_t& sum) {
  return !__builtin_add_overflow(a, b, &sum) && sum != kLowest;
}

/// Decimal digits as an integer, read 18 at a time.
BigInteger read_digits(const std::string& digits) {
  BigInteger result;
  for (std::size_t i = 0; i < digits.size(); i += 18) {
    const std::string part = digits.substr(i, 18);
    result =
        result * power_of_ten(static_cast<unsigned>(part.size())) + BigInteger(std::stoll(part));
  }
  return result;
}

}  // namespace

Rational::Rational(std::int64_t value) : number_(value) {
  if (value == kLowest) {
    number_ = 0;
    set(BigInteger(value), BigInteger(1));
  }
}

Rational::Rational(std::int64_t n, std::int64_t d) : number_(0) {
  if (d == 0) fail("Rational", "denominator", "0", "a nonzero number");
  if (n == kLowest || d == kLowest) {
    *this = Rational(BigInteger(n), BigInteger(d));
    return;
  }
  const std::int64_t g = std::gcd(n, d);
  number_ = (d < 0 ? -n : n) / g;
  denominator_ = (d < 0 ? -d : d) / g;
}

Rational::Rational(const BigInteger& n, const BigInteger& d) : number_(0) {
  if (d.is_zero()) fail("Rational", "denominator", "0", "a nonzero number");
  BigInteger g = gcd(n, d);
  if (d.is_negative()) g = -g;
  set(n / g, d / g);
}

void Rational::set(BigInteger n, BigInteger d) {
  if (std::max(n.bits(), d.bits()) > kMaxBits) {
    fail_computation("symbolic", fmt::format("an exact number has more than {} bits, which is the "
                                             "limit",
                                             kMaxBits));
  }
  if (is_big()) delete big();
  if (n.fits_int64() && d.fits_int64()) {
    number_ = n.to_int64();
    denominator_ = d.to_int64();
  } else {
    number_ = reinterpret_cast<std::intptr_t>(new Big{std::move(n), std::move(d)});
    denominator_ = 0;
  }
}

Rational Rational::from_decimal(double value) {
  check_finite("Rational::from_decimal", "value", value);
  const std::string text = limb::to_text(value);
  std::string digits;
  int exponent = 0;
  bool fraction = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == 'e') {
      exponent += std::stoi(text.substr(i + 1));
      break;
    }
    if (text[i] == '.') fraction = true;
    if (text[i] < '0' || text[i] > '9') continue;
    digits.push_back(text[i]);
    if (fraction) --exponent;
  }
  BigInteger n = read_digits(digits);
  if (text[0] == '-') n = -n;
  const BigInteger ten = power_of_ten(static_cast<unsigned>(std::abs(exponent)));
  return exponent < 0 ? Rational(n, ten) : Rational(n * ten, BigInteger(1));
}

Rational::Rational(const Rational& o) : number_(o.number_), denominator_(o.denominator_) {
  if (o.is_big()) number_ = reinterpret_cast<std::intptr_t>(new Big(*o.big()));
}

Rational& Rational::operator=(const Rational& o) {
  Rational copy(o);
  return *this = std::move(copy);
}

bool Rational::is_integer() const {
  return is_big() ? big()->denominator.is_one() : denominator_ == 1;
}
BigInteger Rational::numerator() const {
  return is_big() ? big()->numerator : BigInteger(number_);
}
BigInteger Rational::denominator() const {
  return is_big() ? big()->denominator : BigInteger(denominator_);
}

double Rational::to_double() const {
  constexpr std::int64_t kExact = std::int64_t(1) << 53;
  if (!is_big() && -kExact <= number_ && number_ <= kExact && denominator_ <= kExact) {
    return static_cast<double>(number_) / static_cast<double>(denominator_);
  }
  // A quotient of 62 or 63 bits. Its last bit is set if there is a remainder, so that only the
  // conversion to double rounds, to the side of the exact value.
  const bool negative = numerator().is_negative();
  const BigInteger n = negative ? -numerator() : numerator(), d = denominator();
  const std::ptrdiff_t shift =
      62 - static_cast<std::ptrdiff_t>(n.bits()) + static_cast<std::ptrdiff_t>(d.bits());
  const BigInteger a = shift > 0 ? n.shifted_left(static_cast<std::size_t>(shift)) : n;
  const BigInteger b = shift < 0 ? d.shifted_left(static_cast<std::size_t>(-shift)) : d;
  BigInteger quotient, remainder;
  BigInteger::divide(a, b, quotient, remainder);
  std::int64_t bits = quotient.to_int64();
  if (!remainder.is_zero()) bits |= 1;
  const double value = std::ldexp(static_cast<double>(bits), static_cast<int>(-shift));
  return negative ? -value : value;
}

std::string Rational::to_text() const {
  const std::string n = numerator().to_text();
  return is_integer() ? n : n + "/" + denominator().to_text();
}

Rational Rational::operator-() const {
  Rational result(*this);
  if (is_big()) {
    result.big()->numerator = -result.big()->numerator;
  } else {
    result.number_ = -result.number_;
  }
  return result;
}

Rational operator+(const Rational& a, const Rational& b) {
  if (a.is_small() && b.is_small()) {
    std::int64_t n = 0;
    if (a.denominator_ == 1 && b.denominator_ == 1) {
      if (add(a.number_, b.number_, n)) return Rational(n);
    } else {
      // n1/d1 + n2/d2 with g = gcd(d1, d2): only g can share factors with the new numerator.
      const std::int64_t g = std::gcd(a.denominator_, b.denominator_);
      const std::int64_t da = a.denominator_ / g, db = b.denominator_ / g;
      std::int64_t x = 0, y = 0, d = 0;
      if (multiply(a.number_, db, x) && multiply(b.number_, da, y) && add(x, y, n)) {
        const std::int64_t common = std::gcd(n, g);
        if (multiply(da, b.denominator_ / common, d)) {
          Rational result;
          result.number_ = n / common;
          result.denominator_ = d;
          return result;
        }
      }
    }
  }
  const BigInteger da = a.denominator(), db = b.denominator();
  return Rational(a.numerator() * db + b.numerator() * da, da * db);
}

Rational operator*(const Rational& a, const Rational& b) {
  if (a.is_small() && b.is_small()) {
    std::int64_t n = 0, d = 1;
    if (a.denominator_ == 1 && b.denominator_ == 1) {
      if (multiply(a.number_, b.number_, n)) return Rational(n);
    } else {
      const std::int64_t g = std::gcd(a.number_, b.denominator_);
      const std::int64_t h = std::gcd(b.number_, a.denominator_);
      if (multiply(a.number_ / g, b.number_ / h, n) &&
          multiply(a.denominator_ / h, b.denominator_ / g, d)) {
        Rational result;
        result.number_ = n;
        result.denominator_ = n == 0 ? 1 : d;
        return result;
      }
    }
  }
  return Rational(a.numerator() * b.numerator(), a.denominator() * b.denominator());
}

Rational operator/(const Rational& a, const Rational& b) {
  if (b.is_zero()) fail_computation("Rational", "division by 0");
  if (b.is_small()) return a * Rational(b.denominator_, b.number_);
  return Rational(a.numerator() * b.denominator(), a.denominator() * b.numerator());
}

bool operator==(const Rational& a, const Rational& b) {
  if (a.is_small() != b.is_small()) return false;
  if (a.is_small()) return a.number_ == b.number_ && a.denominator_ == b.denominator_;
  return a.big()->numerator == b.big()->numerator && a.big()->denominator == b.big()->denominator;
}

int compare(const Rational& a, const Rational& b) {
  const Rational d = a - b;
  return d.is_zero() ? 0 : d.is_negative() ? -1 : 1;
}

Rational Rational::floor() const {
  if (is_integer()) return *this;
  const BigInteger q = numerator() / denominator();  // towards zero
  return Rational(is_negative() ? q - BigInteger(1) : q, BigInteger(1));
}

Rational power(const Rational& x, int n) {
  Rational result(1), square = n < 0 ? Rational(1) / x : x;
  for (unsigned k = n < 0 ? 0u - static_cast<unsigned>(n) : static_cast<unsigned>(n); k != 0;
       k >>= 1) {
    if (k & 1u) result = result * square;
    if (k > 1) square = square * square;
  }
  return result;
}

}  // namespace limb::symbolic
