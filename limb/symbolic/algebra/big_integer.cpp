#include "limb/symbolic/algebra/big_integer.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace limb::symbolic {

BigInteger::BigInteger(std::int64_t value) : negative_(value < 0) {
  std::uint64_t m =
      negative_ ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  for (; m != 0; m >>= 32) digits_.push_back(static_cast<std::uint32_t>(m));
}

void BigInteger::trim(Digits& digits) {
  while (!digits.empty() && digits.back() == 0) digits.pop_back();
}

BigInteger BigInteger::make(Digits digits, bool negative) {
  trim(digits);
  BigInteger result;
  result.negative_ = negative && !digits.empty();
  result.digits_ = std::move(digits);
  return result;
}

std::size_t BigInteger::bits() const {
  return digits_.empty()
             ? 0
             : 32 * digits_.size() - static_cast<std::size_t>(std::countl_zero(digits_.back()));
}

bool BigInteger::fits_int64() const {
  return bits() <= 63;  // the lowest 64-bit integer is kept as a big one
}

std::int64_t BigInteger::to_int64() const {
  std::int64_t m = 0;
  for (std::size_t i = digits_.size(); i-- > 0;) m = (m << 32) | digits_[i];
  return negative_ ? -m : m;
}

BigInteger BigInteger::operator-() const {
  return make(digits_, !negative_);
}

int BigInteger::compare_magnitudes(const Digits& a, const Digits& b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  for (std::size_t i = a.size(); i-- > 0;) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

int compare(const BigInteger& a, const BigInteger& b) {
  if (a.negative_ != b.negative_) return a.negative_ ? -1 : 1;
  const int c = BigInteger::compare_magnitudes(a.digits_, b.digits_);
  return a.negative_ ? -c : c;
}

BigInteger::Digits BigInteger::add(const Digits& a, const Digits& b) {
  const Digits &longer = a.size() < b.size() ? b : a, &shorter = a.size() < b.size() ? a : b;
  Digits sum(longer.size() + 1);
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < longer.size(); ++i) {
    carry += std::uint64_t(longer[i]) + (i < shorter.size() ? shorter[i] : 0);
    sum[i] = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  sum[longer.size()] = static_cast<std::uint32_t>(carry);
  return sum;
}

BigInteger::Digits BigInteger::subtract(const Digits& a, const Digits& b) {
  Digits rest(a.size());
  std::int64_t borrow = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::int64_t d = std::int64_t(a[i]) - (i < b.size() ? b[i] : 0) - borrow;
    borrow = d < 0 ? 1 : 0;
    if (d < 0) d += std::int64_t(1) << 32;
    rest[i] = static_cast<std::uint32_t>(d);
  }
  return rest;
}

BigInteger operator+(const BigInteger& a, const BigInteger& b) {
  if (a.negative_ == b.negative_) {
    return BigInteger::make(BigInteger::add(a.digits_, b.digits_), a.negative_);
  }
  if (BigInteger::compare_magnitudes(a.digits_, b.digits_) >= 0) {
    return BigInteger::make(BigInteger::subtract(a.digits_, b.digits_), a.negative_);
  }
  return BigInteger::make(BigInteger::subtract(b.digits_, a.digits_), b.negative_);
}

BigInteger operator-(const BigInteger& a, const BigInteger& b) {
  return a + (-b);
}

BigInteger operator*(const BigInteger& a, const BigInteger& b) {
  BigInteger::Digits product(a.digits_.size() + b.digits_.size());
  for (std::size_t i = 0; i < a.digits_.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < b.digits_.size(); ++j) {
      carry += std::uint64_t(a.digits_[i]) * b.digits_[j] + product[i + j];
      product[i + j] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    product[i + b.digits_.size()] = static_cast<std::uint32_t>(carry);
  }
  return BigInteger::make(std::move(product), a.negative_ != b.negative_);
}

std::uint32_t BigInteger::divide_small(const Digits& a, std::uint32_t b, Digits& quotient) {
  quotient.assign(a.size(), 0);
  std::uint64_t rest = 0;
  for (std::size_t i = a.size(); i-- > 0;) {
    rest = (rest << 32) | a[i];
    quotient[i] = static_cast<std::uint32_t>(rest / b);
    rest %= b;
  }
  return static_cast<std::uint32_t>(rest);
}

/// Long division with estimated quotient digits [Knuth 1997, Sec. 4.3.1, algorithm D].
void BigInteger::divide_long(const Digits& a, const Digits& b, Digits& quotient,
                             Digits& remainder) {
  // Both are shifted until the divisor's highest bit is set: an estimate is then at most 2 too
  // large.
  const auto shift = static_cast<std::size_t>(std::countl_zero(b.back()));
  const Digits v = make(b, false).shifted_left(shift).digits_;
  Digits u = make(a, false).shifted_left(shift).digits_;
  u.resize(a.size() + 1);
  const std::size_t n = v.size(), m = a.size() - n;
  quotient.assign(m + 1, 0);
  for (std::size_t j = m + 1; j-- > 0;) {
    const std::uint64_t top = (std::uint64_t(u[j + n]) << 32) | u[j + n - 1];
    std::uint64_t guess = top / v[n - 1], rest = top % v[n - 1];
    while ((guess >> 32) != 0 || guess * v[n - 2] > ((rest << 32) | u[j + n - 2])) {
      --guess;
      rest += v[n - 1];
      if ((rest >> 32) != 0) break;
    }
    std::int64_t borrow = 0;
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < n; ++i) {
      carry += guess * v[i];
      const std::int64_t d = std::int64_t(u[i + j]) - borrow - std::int64_t(carry & 0xffffffffu);
      u[i + j] = static_cast<std::uint32_t>(d);
      borrow = d < 0 ? 1 : 0;
      carry >>= 32;
    }
    const std::int64_t d = std::int64_t(u[j + n]) - borrow - std::int64_t(carry);
    u[j + n] = static_cast<std::uint32_t>(d);
    if (d < 0) {  // one too large: add the divisor again
      --guess;
      std::uint64_t back = 0;
      for (std::size_t i = 0; i < n; ++i) {
        back += std::uint64_t(u[i + j]) + v[i];
        u[i + j] = static_cast<std::uint32_t>(back);
        back >>= 32;
      }
      u[j + n] += static_cast<std::uint32_t>(back);
    }
    quotient[j] = static_cast<std::uint32_t>(guess);
  }
  remainder.assign(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t pair = (std::uint64_t(u[i + 1]) << 32) | u[i];
    remainder[i] = static_cast<std::uint32_t>(pair >> shift);
  }
}

void BigInteger::divide(const BigInteger& a, const BigInteger& b, BigInteger& quotient,
                        BigInteger& remainder) {
  const bool negative = a.negative_ != b.negative_, rest_negative = a.negative_;
  Digits q, r;
  if (compare_magnitudes(a.digits_, b.digits_) < 0) {
    r = a.digits_;
  } else if (b.digits_.size() == 1) {
    r = {divide_small(a.digits_, b.digits_[0], q)};
  } else {
    divide_long(a.digits_, b.digits_, q, r);
  }
  quotient = make(std::move(q), negative);
  remainder = make(std::move(r), rest_negative);
}

BigInteger operator/(const BigInteger& a, const BigInteger& b) {
  BigInteger quotient, remainder;
  BigInteger::divide(a, b, quotient, remainder);
  return quotient;
}

BigInteger BigInteger::shifted_left(std::size_t n) const {
  if (is_zero()) return {};
  const std::size_t words = n / 32, rest = n % 32;
  Digits shifted(digits_.size() + words + 1);
  for (std::size_t i = 0; i < digits_.size(); ++i) {
    const std::uint64_t d = std::uint64_t(digits_[i]) << rest;
    shifted[i + words] |= static_cast<std::uint32_t>(d);
    shifted[i + words + 1] = static_cast<std::uint32_t>(d >> 32);
  }
  return make(std::move(shifted), negative_);
}

BigInteger gcd(BigInteger a, BigInteger b) {
  a.negative_ = b.negative_ = false;
  BigInteger quotient, rest;
  while (!b.is_zero()) {
    BigInteger::divide(a, b, quotient, rest);
    a = std::move(b);
    b = std::move(rest);
  }
  return a;
}

std::string BigInteger::to_text() const {
  if (is_zero()) return "0";
  std::string text;
  Digits rest = digits_, quotient;
  while (!rest.empty()) {
    std::uint32_t nine = divide_small(rest, 1'000'000'000, quotient);
    rest = quotient;
    trim(rest);
    for (int i = 0; i < 9 && (nine != 0 || !rest.empty()); ++i, nine /= 10) {
      text.push_back(static_cast<char>('0' + nine % 10));
    }
  }
  if (negative_) text.push_back('-');
  std::reverse(text.begin(), text.end());
  return text;
}

BigInteger power_of_ten(unsigned n) {
  BigInteger result(1), square(10);
  for (; n != 0; n >>= 1) {
    if (n & 1u) result = result * square;
    if (n > 1) square = square * square;
  }
  return result;
}

}  // namespace limb::symbolic
