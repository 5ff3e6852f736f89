#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace limb::symbolic {

/// An integer of any size. Coefficients exceed 64 bits only where files give many digits, so this
/// is schoolbook arithmetic: short, and fast enough for a few hundred bits.
class BigInteger {
 public:
  BigInteger() = default;
  BigInteger(std::int64_t value);  // NOLINT: implicit on purpose

  bool is_zero() const { return digits_.empty(); }
  bool is_negative() const { return negative_; }
  bool is_one() const { return !negative_ && digits_.size() == 1 && digits_[0] == 1; }
  bool fits_int64() const;
  /// @pre fits_int64()
  std::int64_t to_int64() const;
  /// Number of bits of the magnitude; 0 for 0.
  std::size_t bits() const;
  std::string to_text() const;

  BigInteger operator-() const;
  friend BigInteger operator+(const BigInteger& a, const BigInteger& b);
  friend BigInteger operator-(const BigInteger& a, const BigInteger& b);
  friend BigInteger operator*(const BigInteger& a, const BigInteger& b);
  /// Rounded towards zero. @pre b is not 0
  friend BigInteger operator/(const BigInteger& a, const BigInteger& b);
  friend bool operator==(const BigInteger&, const BigInteger&) = default;
  /// -1, 0, 1
  friend int compare(const BigInteger& a, const BigInteger& b);
  /// Magnitude shifted left by n bits.
  BigInteger shifted_left(std::size_t n) const;
  /// Quotient and remainder with a = quotient b + remainder, both rounded towards zero.
  static void divide(const BigInteger& a, const BigInteger& b, BigInteger& quotient,
                     BigInteger& remainder);
  friend BigInteger gcd(BigInteger a, BigInteger b);

 private:
  using Digits = std::vector<std::uint32_t>;  ///< base 2^32, lowest first, no leading zeros
  static int compare_magnitudes(const Digits& a, const Digits& b);
  static Digits add(const Digits& a, const Digits& b);
  static Digits subtract(const Digits& a, const Digits& b);  ///< @pre a >= b
  static std::uint32_t divide_small(const Digits& a, std::uint32_t b, Digits& quotient);
  static void divide_long(const Digits& a, const Digits& b, Digits& quotient, Digits& remainder);
  static void trim(Digits& digits);
  static BigInteger make(Digits digits, bool negative);

  Digits digits_;
  bool negative_ = false;
};

/// 10^n
BigInteger power_of_ten(unsigned n);

}  // namespace limb::symbolic
