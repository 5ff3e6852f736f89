#include "limb/symbolic/algebra/polynomial.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "limb/math/testing/compare.hpp"
#include "limb/symbolic/algebra/calculus.hpp"
#include "limb/symbolic/algebra/scalar.hpp"

namespace limb::symbolic {
namespace {

/// Two joint coordinates, two parameters and a constant angle.
struct PolynomialTest : ::testing::Test {
  std::shared_ptr<Ring> ring = Ring::make();
  RingScope scope{ring};
  SymbolId m_id = ring->add_symbol({"m", Symbol::Kind::parameter, 1.5, {}, 0});
  SymbolId l_id = ring->add_symbol({"l", Symbol::Kind::parameter, 0.25, {}, 0});
  SymbolId alpha_id = ring->add_symbol({"alpha", Symbol::Kind::parameter, 0.4, {}, 0});
  SymbolId q1_id = ring->add_coordinate("q1", "qd1", "qdd1");
  SymbolId q2_id = ring->add_coordinate("q2", "qd2", "qdd2");
  Polynomial m = Polynomial::symbol(ring, m_id), l = Polynomial::symbol(ring, l_id);
  Polynomial alpha = Polynomial::symbol(ring, alpha_id);
  Polynomial q1 = Polynomial::symbol(ring, q1_id), q2 = Polynomial::symbol(ring, q2_id);
  Polynomial pi = ConstantsOf<Polynomial>::pi();

  Polynomial named(const char* name) { return Polynomial::symbol(ring, *ring->find_symbol(name)); }

  /// A random value of a few terms.
  Polynomial random(std::mt19937_64& engine, int depth = 3) {
    const auto pick = [&](int n) { return static_cast<int>(engine() % static_cast<unsigned>(n)); };
    if (depth == 0) {
      const Polynomial angle =
          Polynomial(pick(5) - 2) * q1 + Polynomial(Rational(pick(7) - 3, 2)) * q2 +
          Polynomial(pick(3) - 1) * alpha + Polynomial(Rational(pick(24), 12)) * pi;
      switch (pick(6)) {
        case 0:
          return m;
        case 1:
          return l * q2;
        case 2:
          return cos(angle);
        case 3:
          return sin(angle);
        case 4:
          return sqrt(Polynomial(pick(12)));
        default:
          return Rational(pick(9) - 4, 1 + pick(4));
      }
    }
    const Polynomial a = random(engine, depth - 1), b = random(engine, depth - 1);
    return pick(2) == 0 ? a + b : a * b;
  }

  std::vector<double> random_values(std::mt19937_64& engine) {
    std::vector<double> values = known_values(*ring);
    std::uniform_real_distribution<double> number(-1.5, 1.5);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (ring->symbols()[i].kind != Symbol::Kind::number) values[i] = number(engine);
    }
    return values;
  }
};

TEST_F(PolynomialTest, PythagoreanIdentity) {
  EXPECT_TRUE((cos(q1) * cos(q1) + sin(q1) * sin(q1)).is_one());
  const Polynomial a = Polynomial(2) * q1 - q2 + alpha;
  EXPECT_TRUE((cos(a) * cos(a) + sin(a) * sin(a)).is_one());
}

TEST_F(PolynomialTest, AngleSumIdentities) {
  EXPECT_EQ(cos(q1) * cos(q2) - sin(q1) * sin(q2), cos(q1 + q2));
  EXPECT_EQ(sin(q1) * cos(q2) + cos(q1) * sin(q2), sin(q1 + q2));
  EXPECT_EQ(cos(q1 - q2), cos(q2 - q1));
  EXPECT_EQ(sin(q1 - q2), -sin(q2 - q1));
  EXPECT_EQ(cos(alpha) * cos(alpha), (Polynomial(1) + cos(Polynomial(2) * alpha)) / 2);
}

TEST_F(PolynomialTest, QuarterTurnsAreRemoved) {
  EXPECT_EQ(cos(q1 + pi / 2), -sin(q1));
  EXPECT_EQ(sin(q1 + pi / 2), cos(q1));
  EXPECT_EQ(cos(q1 + pi), -cos(q1));
  EXPECT_EQ(cos(q1 - pi / 2), sin(q1));
  EXPECT_EQ(sin(Polynomial(7) * pi / 2 - q1), -cos(q1));
  EXPECT_EQ(cos(pi / 2), Polynomial(0));
  EXPECT_EQ(sin(pi / 2), Polynomial(1));
}

TEST_F(PolynomialTest, MultiplesOfFifteenDegreesAreExact) {
  EXPECT_EQ(cos(pi / 3), Polynomial(Rational(1, 2)));
  EXPECT_EQ(cos(pi / 6), sqrt(Polynomial(3)) / 2);
  EXPECT_EQ(Polynomial(2) * cos(pi / 4) * cos(pi / 4), Polynomial(1));
  EXPECT_EQ(cos(pi / 12) * Polynomial(4), sqrt(Polynomial(6)) + sqrt(Polynomial(2)));
  EXPECT_EQ(cos(q1 + pi / 4) * sqrt(Polynomial(2)), cos(q1) - sin(q1));
  // All 24 of them against the C library; the sum of two roots is accurate to a few eps.
  for (int k = 0; k < 24; ++k) {
    const Polynomial angle = Polynomial(Rational(k, 12)) * pi;
    const double x = k * std::numbers::pi / 12;
    const std::vector<double> values = known_values(*ring);
    EXPECT_NEAR(evaluate(cos(angle), values), std::cos(x), 8 * 2.2e-16) << k;
    EXPECT_NEAR(evaluate(sin(angle), values), std::sin(x), 8 * 2.2e-16) << k;
  }
}

TEST_F(PolynomialTest, OtherFractionsOfAHalfTurnCombine) {
  const Polynomial a = pi / 9;
  EXPECT_TRUE((cos(a) * cos(a) + sin(a) * sin(a)).is_one());
  EXPECT_EQ(sin(a), cos(pi / 2 - a));
  EXPECT_EQ(cos(q1 + a) * cos(a) + sin(q1 + a) * sin(a), cos(q1));
  const Polynomial b(0.35);  // radians
  EXPECT_TRUE((cos(b) * cos(b) + sin(b) * sin(b)).is_one());
  EXPECT_EQ(cos(q1 + b) * cos(b) + sin(q1 + b) * sin(b), cos(q1));
}

TEST_F(PolynomialTest, SquareRootsAreReduced) {
  const auto root = [](int n) { return sqrt(Polynomial(n)); };
  EXPECT_EQ(root(8), Polynomial(2) * root(2));
  EXPECT_EQ(root(2) * root(3), root(6));
  EXPECT_EQ(root(6) * root(6), Polynomial(6));
  EXPECT_EQ(root(49), Polynomial(7));
  EXPECT_EQ(sqrt(Polynomial(Rational(1, 2))), root(2) / 2);
  EXPECT_EQ(Polynomial(1) / root(2), root(2) / 2);
  EXPECT_EQ((root(2) + root(3)) * (root(3) - root(2)), Polynomial(1));
}

TEST_F(PolynomialTest, OrderOfOperationsDoesNotMatter) {
  std::mt19937_64 engine(1);
  for (int i = 0; i < 300; ++i) {
    const Polynomial a = random(engine), b = random(engine), c = random(engine);
    ASSERT_EQ((a + b) * c, a * c + b * c) << "seed 1, case " << i;
    ASSERT_EQ((a * b) * c, a * (b * c)) << "seed 1, case " << i;
    ASSERT_EQ(a * b, b * a);
    ASSERT_TRUE((a - a).is_zero());
    ASSERT_EQ(to_text(a * b + c), to_text(c + b * a));
  }
}

TEST_F(PolynomialTest, EvaluationCommutesWithOperations) {
  std::mt19937_64 engine(2);
  for (int i = 0; i < 300; ++i) {
    const Polynomial a = random(engine), b = random(engine);
    const std::vector<double> x = random_values(engine);
    const double va = evaluate(a, x), vb = evaluate(b, x);
    // A few hundred terms of the size of the factors: 1e-12 of the scale is far above rounding and
    // far below any wrong term.
    const double scale =
        1 + std::abs(va) + std::abs(vb) + std::abs(va * vb) + static_cast<double>((a * b).size());
    ASSERT_NEAR(evaluate(a * b, x), va * vb, 1e-12 * scale * 100) << "seed 2, case " << i;
    ASSERT_NEAR(evaluate(a + b, x), va + vb, 1e-12 * scale * 100);
  }
}

TEST_F(PolynomialTest, DerivativesMatchFiniteDifferences) {
  std::mt19937_64 engine(3);
  for (int i = 0; i < 200; ++i) {
    const Polynomial a = random(engine);
    std::vector<double> x = random_values(engine);
    for (const SymbolId s : {m_id, q1_id, q2_id, alpha_id}) {
      const double exact = evaluate(differentiate(a, s), x), h = 1e-5, at = x[s];
      x[s] = at + h;
      const double up = evaluate(a, x);
      x[s] = at - h;
      const double down = evaluate(a, x);
      x[s] = at;
      // Central differences: h^2 times the third derivative, and eps / h.
      const double scale = 1 + std::abs(up) + static_cast<double>(a.size());
      ASSERT_NEAR(exact, (up - down) / (2 * h), 3e-6 * scale) << "seed 3, case " << i;
    }
  }
}

TEST_F(PolynomialTest, DerivativeRules) {
  std::mt19937_64 engine(4);
  for (int i = 0; i < 100; ++i) {
    const Polynomial a = random(engine), b = random(engine);
    EXPECT_EQ(differentiate(a * b, q1_id),
              differentiate(a, q1_id) * b + a * differentiate(b, q1_id));
    EXPECT_EQ(rate(a * b), rate(a) * b + a * rate(b));
    EXPECT_EQ(differentiate(differentiate(a, q1_id), q2_id),
              differentiate(differentiate(a, q2_id), q1_id));
  }
  EXPECT_EQ(rate(m * sin(q1)), m * cos(q1) * named("qd1"));
  EXPECT_EQ(rate(rate(q2)), named("qdd2"));
}

TEST_F(PolynomialTest, SubstitutionReplacesInPowersAndAngles) {
  EXPECT_EQ(substitute(l * q1 * q1 * cos(q1 + q2), q1_id, q2 - q1),
            l * (q2 - q1) * (q2 - q1) * cos(Polynomial(2) * q2 - q1));
  EXPECT_EQ(substitute(m * cos(q1), q1_id, pi / 3), m / 2);
  EXPECT_EQ(substitute(m / l, l_id, Polynomial(0.5)), Polynomial(2) * m);
  EXPECT_EQ(coefficient(m * q1 * q1 + l * q1 + cos(q1), q1_id, 2), m);
  EXPECT_EQ(coefficient(m * q1 * q1 + l * q1 + cos(q1), q1_id, 0), cos(q1));
}

TEST_F(PolynomialTest, TextIsReadable) {
  EXPECT_EQ(to_text(m * l * l + Polynomial(2) * m * l * cos(q2) - l / 2),
            "m*l^2 + 2*m*l*cos(q2) - 1/2*l");
  EXPECT_EQ(to_text(sin(q1 + Polynomial(2) * q2 + pi / 9) * m / l),
            "m*l^-1*sin(q1 + 2*q2 + 1/9*pi)");
  EXPECT_EQ(to_text(Polynomial(0)), "0");
  EXPECT_EQ(to_text(-cos(q1)), "-cos(q1)");
}

TEST_F(PolynomialTest, ReportsErrors) {
  using limb::testing::message;
  EXPECT_EQ(message([&] { m / (m + l); }),
            "symbolic: division by 'm + l', expected a number or a single product of symbols "
            "[computation failed]");
  EXPECT_EQ(message([&] { m / Polynomial(0); }), "symbolic: division by 0 [computation failed]");
  EXPECT_EQ(message([&] { cos(m * l); }),
            "cos: 'm*l' is not an angle, expected a linear combination of symbols, pi and numbers "
            "[computation failed]");
  EXPECT_EQ(message([&] { sqrt(m); }),
            "sqrt: 'm' has symbols, expected a number [computation failed]");
  EXPECT_EQ(message([&] { sqrt(Polynomial(-2)); }), "sqrt: -2 is negative [computation failed]");
  EXPECT_EQ(message([&] { select(m < l, m, l); }),
            "symbolic: a branch on the value of a symbol has no closed form [computation failed]");
  EXPECT_EQ(message([&] {
              ring->add_symbol({"m", Symbol::Kind::parameter, {}, {}, 0});
            }),
            "Ring::add_symbol: the name 'm' is already used");
  const auto other = Ring::make();
  const Polynomial x =
      Polynomial::symbol(other, other->add_symbol({"x", Symbol::Kind::parameter, {}, {}, 0}));
  EXPECT_EQ(message([&] { m + x; }), "symbolic: values from different rings cannot be combined");
}

TEST(Polynomial, MemoryIsBounded) {
  const auto ring = Ring::make({.terms = 1000, .total_terms = 3000});
  Polynomial sum(0), square(1);
  for (int i = 0; i < 20; ++i) {
    sum += Polynomial::symbol(
        ring, ring->add_symbol({"x" + std::to_string(i), Symbol::Kind::parameter, {}, {}, 0}));
  }
  const auto text = limb::testing::message([&] {
    for (int i = 0; i < 5; ++i) square = square * sum;
  });
  EXPECT_EQ(text,
            "symbolic: a closed form has 1540 terms, more than the limit of 1000 "
            "(Ring::Limits::terms) [computation failed]");
  // The failure leaks nothing, and earlier values remain usable.
  EXPECT_EQ(square.size(), 210u);
  EXPECT_EQ(ring->terms_alive(), sum.size() + square.size() - 0u);
  EXPECT_EQ((square - sum * sum).size(), 0u);
}

TEST(Polynomial, TimeIsBounded) {
  const auto ring = Ring::make({.products = 1000});
  const Polynomial x =
      Polynomial::symbol(ring, ring->add_symbol({"x", Symbol::Kind::parameter, {}, {}, 0}));
  EXPECT_EQ(pow(Polynomial(1) + x, 10).size(), 11u);
  EXPECT_EQ(limb::testing::message([&] { pow(Polynomial(1) + x, 60); }),
            "symbolic: the closed forms need more than 1000 products of terms, which is the limit "
            "(Ring::Limits::products) [computation failed]");
}

TEST(Polynomial, NumbersAreOrdered) {
  EXPECT_EQ(select(Polynomial(1) < Polynomial(2), Polynomial(5), Polynomial(6)), Polynomial(5));
  EXPECT_EQ(select(Polynomial(2) < Polynomial(2), Polynomial(5), Polynomial(6)), Polynomial(6));
  const auto text = limb::testing::message([] { cos(Polynomial(0.3)); });
  EXPECT_EQ(text,
            "symbolic: the sine or cosine of a number needs a ring, expected a RingScope "
            "around it");
}

}  // namespace
}  // namespace limb::symbolic
