#include "limb/symbolic/algebra/rational.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "limb/base/error.hpp"

namespace limb::symbolic {
namespace {

BigInteger big(const char* digits) {
  BigInteger x;
  for (const char* c = digits; *c != 0; ++c) x = x * BigInteger(10) + BigInteger(*c - '0');
  return x;
}

// Known values, from the definition: 2^128 - 1 and its factors; 30!.
TEST(BigInteger, MatchesKnownNumbers) {
  BigInteger x(1);
  for (int i = 1; i <= 30; ++i) x = x * BigInteger(i);
  EXPECT_EQ(x.to_text(), "265252859812191058636308480000000");
  const BigInteger all = BigInteger(1).shifted_left(128) - BigInteger(1);
  EXPECT_EQ(all.to_text(), "340282366920938463463374607431768211455");
  EXPECT_EQ((all / big("18446744073709551617")).to_text(), "18446744073709551615");
  EXPECT_EQ((-all).to_text(), "-340282366920938463463374607431768211455");
  EXPECT_EQ(BigInteger(std::numeric_limits<std::int64_t>::min()).to_text(), "-9223372036854775808");
  EXPECT_EQ(BigInteger().to_text(), "0");
  EXPECT_EQ(BigInteger(1'000'000'007).to_text(), "1000000007");
}

// a = q b + r with |r| < |b|, for sizes of one, two and many words; words of only ones or zeros
// provoke the rare corrections of long division.
TEST(BigInteger, DivisionUndoesMultiplication) {
  std::mt19937_64 engine(20261115);
  const auto random = [&](int words) {
    BigInteger x(static_cast<std::int64_t>(engine() >> 33));
    for (int i = 0; i < words; ++i) {
      const std::uint64_t kind = engine() % 3;
      const std::int64_t word = kind == 0   ? 0
                                : kind == 1 ? 0xffffffff
                                            : std::int64_t(engine() >> 32);
      x = x.shifted_left(32) + BigInteger(word);
    }
    return engine() % 2 == 0 ? x : -x;
  };
  for (int i = 0; i < 20000; ++i) {
    const BigInteger a = random(int(engine() % 8)), b = random(int(engine() % 5));
    if (b.is_zero()) continue;
    BigInteger q, r;
    BigInteger::divide(a, b, q, r);
    ASSERT_EQ(q * b + r, a) << a.to_text() << " / " << b.to_text();
    const BigInteger size_r = r.is_negative() ? -r : r, size_b = b.is_negative() ? -b : b;
    ASSERT_LT(compare(size_r, size_b), 0);
    ASSERT_EQ((a * b) / b, a);
    const BigInteger g = gcd(a, b);
    ASSERT_TRUE((a - (a / g) * g).is_zero());
  }
}

TEST(Rational, IsInLowestTerms) {
  EXPECT_EQ(Rational(6, -4).to_text(), "-3/2");
  EXPECT_EQ(Rational(0, 7), Rational(0));
  EXPECT_EQ((Rational(1, 6) + Rational(1, 3)).to_text(), "1/2");
  EXPECT_EQ((Rational(2, 3) * Rational(3, 4)).to_text(), "1/2");
  EXPECT_TRUE((Rational(1, 6) - Rational(1, 6)).is_zero());
}

TEST(Rational, TakesDecimalsAsWritten) {
  EXPECT_EQ(Rational::from_decimal(0.35).to_text(), "7/20");
  EXPECT_EQ(Rational::from_decimal(-9.81).to_text(), "-981/100");
  EXPECT_EQ(Rational::from_decimal(1e-7).to_text(), "1/10000000");
  EXPECT_EQ(Rational::from_decimal(2.5e20).to_text(), "250000000000000000000");
  EXPECT_EQ(Rational::from_decimal(0.1) + Rational::from_decimal(0.2), Rational::from_decimal(0.3));
  EXPECT_THROW(Rational::from_decimal(std::nan("")), Error);
}

// A decimal is read and written back as the same double, also where a quotient in extended
// precision would be rounded twice (0.897900007).
TEST(Rational, IsRoundedOnce) {
  EXPECT_EQ(Rational::from_decimal(0.897900007).to_double(), 0.897900007);
  EXPECT_EQ(Rational::from_decimal(-0.897900007).to_double(), -0.897900007);
  std::mt19937_64 engine(3);
  for (int i = 0; i < 20000; ++i) {
    // Between 1e-20 and 1e20, with up to 17 digits.
    const double value =
        std::ldexp(static_cast<double>(engine() >> 11), static_cast<int>(engine() % 133) - 119) *
        (i % 2 == 0 ? 1 : -1);
    ASSERT_EQ(Rational::from_decimal(value).to_double(), value) << i;
  }
  // A tie between two doubles, and the same with a small part above and below it.
  const Rational one(1), tie = one + power(Rational(1, 2), 53), little = power(Rational(1, 2), 400);
  EXPECT_EQ(tie.to_double(), 1);
  EXPECT_EQ((tie + little).to_double(), 1 + 2.220446049250313e-16);
  EXPECT_EQ((tie - little).to_double(), 1);
  EXPECT_EQ((-tie - little).to_double(), -1 - 2.220446049250313e-16);
}

// 2^2047 has 2048 bits, the limit.
TEST(Rational, RefusesNumbersOfMoreThan2048Bits) {
  EXPECT_EQ(power(Rational(2), 2047).numerator().bits(), 2048u);
  EXPECT_THROW(power(Rational(2), 2048), Error);
  EXPECT_THROW(power(Rational(1, 2), 2048), Error);
  Rational kept = power(Rational(2), 2047);
  EXPECT_THROW(kept *= Rational(2), Error);
  EXPECT_EQ(kept, power(Rational(2), 2047));
}

// The field axioms for numbers of any size, with many around 2^63.
TEST(Rational, NeverOverflows) {
  std::mt19937_64 engine(7);
  const auto random = [&] {
    const auto bits = engine() % 63;
    const auto d = static_cast<std::int64_t>(engine() >> (1 + engine() % 62)) + 1;
    return Rational(static_cast<std::int64_t>(engine() >> bits >> 1) - 5, d);
  };
  for (int i = 0; i < 5000; ++i) {
    const Rational a = random(), b = random(), c = random();
    ASSERT_EQ((a + b) + c, a + (b + c));
    ASSERT_EQ((a * b) * c, a * (b * c));
    ASSERT_EQ(a * (b + c), a * b + a * c);
    ASSERT_TRUE(((a + b) - b - a).is_zero());
    if (!b.is_zero()) {
      ASSERT_EQ(a / b * b, a);
    }
    // Rounding of each factor and of the sum: 4 eps of the larger part.
    const double sum = (a * b + c).to_double();
    const double scale = std::abs(a.to_double() * b.to_double()) + std::abs(c.to_double());
    ASSERT_NEAR(sum, a.to_double() * b.to_double() + c.to_double(), 4 * 2.2e-16 * scale);
  }
}

TEST(Rational, SmallAndBigRepresentationsAreEqual) {
  const Rational big_one = power(Rational(10), 30) / power(Rational(10), 30);
  EXPECT_TRUE(big_one.is_small());
  EXPECT_EQ(big_one, Rational(1));
  EXPECT_EQ(power(Rational(2, 3), -3).to_text(), "27/8");
  EXPECT_EQ(Rational(-7, 2).floor(), Rational(-4));
  EXPECT_EQ(power(Rational(10), 40).to_double(), 1e40);
  EXPECT_EQ(power(Rational(10), -40).to_double(), 1e-40);
}

TEST(Rational, ReportsErrors) {
  EXPECT_THROW(Rational(1, 0), Error);
  EXPECT_THROW(Rational(1) / Rational(0), Error);
}

}  // namespace
}  // namespace limb::symbolic
