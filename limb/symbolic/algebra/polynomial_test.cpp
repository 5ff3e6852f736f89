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
    // Rounding of a few hundred terms: worst seen 6 eps of the scale for products, 0.4 for sums.
    const double eps = std::numeric_limits<double>::epsilon();
    const double scale =
        1 + std::abs(va) + std::abs(vb) + std::abs(va * vb) + static_cast<double>((a * b).size());
    ASSERT_NEAR(evaluate(a * b, x), va * vb, 64 * eps * scale) << "seed 2, case " << i;
    ASSERT_NEAR(evaluate(a + b, x), va + vb, 4 * eps * scale);
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
      // Central differences: h^2 times the third derivative, and eps / h; worst seen 2.2e-10.
      const double scale = 1 + std::abs(up) + static_cast<double>(a.size());
      ASSERT_NEAR(exact, (up - down) / (2 * h), 2e-9 * scale) << "seed 3, case " << i;
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

// d/dx x^-n = -n x^-(n+1), and the rate of a product with a negative power.
TEST_F(PolynomialTest, DerivativesOfNegativePowers) {
  const Polynomial qd1 = named("qd1");
  for (int n = 1; n <= 5; ++n) {
    EXPECT_EQ(differentiate(pow(l, -n), l_id), Polynomial(-n) * pow(l, -n - 1)) << n;
    EXPECT_EQ(differentiate(m * m * pow(l, -n) * cos(q1), l_id),
              Polynomial(-n) * m * m * pow(l, -n - 1) * cos(q1))
        << n;
    EXPECT_EQ(rate(m * pow(q1, -n)), Polynomial(-n) * m * pow(q1, -n - 1) * qd1) << n;
    // Power and angle of the same symbol: the product rule.
    EXPECT_EQ(differentiate(pow(q1, -n) * sin(q1), q1_id),
              Polynomial(-n) * pow(q1, -n - 1) * sin(q1) + pow(q1, -n) * cos(q1))
        << n;
  }
  EXPECT_EQ(differentiate(Polynomial(1) / l, m_id), Polynomial(0));
  EXPECT_TRUE(rate(m / l).is_zero());
}

TEST_F(PolynomialTest, NegativePowersAreInverses) {
  for (int n = 0; n <= 9; ++n) {
    Polynomial product(1);
    for (int k = 0; k < n; ++k) product *= l;
    EXPECT_EQ(pow(l, n), product) << n;
    EXPECT_EQ(Polynomial(1) / product, pow(l, -n)) << n;
    EXPECT_TRUE((pow(m / l, -n) * pow(m / l, n)).is_one()) << n;
  }
  // 1 / (2 sqrt(3) m^2 / l) = sqrt(3) l / (6 m^2)
  const Polynomial root = sqrt(Polynomial(3));
  EXPECT_EQ(Polynomial(1) / (Polynomial(2) * root * m * m / l), root * l / (Polynomial(6) * m * m));
  EXPECT_EQ(to_text(m * m * pow(l, -2)), "m^2*l^-2");
  EXPECT_EQ(*try_divide(m * l + m, m), l + Polynomial(1));
  EXPECT_FALSE(try_divide(m, Polynomial(0)).has_value());
  EXPECT_FALSE(try_divide(m, m + l).has_value());
  EXPECT_FALSE(try_divide(m, cos(q1)).has_value());
}

TEST_F(PolynomialTest, SubstitutionReplacesNegativePowers) {
  const Polynomial x = m * pow(l, -3) + pow(l, -1) + l * l + m;
  EXPECT_EQ(substitute(x, l_id, Polynomial(2) * m),
            pow(m, -2) / Polynomial(8) + pow(m, -1) / Polynomial(2) + Polynomial(4) * m * m + m);
  EXPECT_EQ(substitute(x, l_id, Polynomial(Rational(1, 2))),
            Polynomial(9) * m + Polynomial(Rational(9, 4)));
  EXPECT_EQ(substitute(x, l_id, Polynomial(1) / l), m * pow(l, 3) + l + pow(l, -2) + m);
  EXPECT_EQ(substitute(pow(l, -3), l_id, sqrt(Polynomial(2))), sqrt(Polynomial(2)) / Polynomial(4));
  EXPECT_EQ(substitute(pow(q1, -2) * cos(q1 + q2), q1_id, Polynomial(3) * q2),
            pow(q2, -2) / Polynomial(9) * cos(Polynomial(4) * q2));
  EXPECT_EQ(substitute(sin(q2) / l, l_id, m), sin(q2) / m);
  EXPECT_EQ(substitute(m / l, q1_id, pi), m / l);
  // A sum, a cosine and zero have no inverse in the ring; positive powers take all of them.
  using limb::testing::message;
  EXPECT_EQ(message([&] { substitute(m / l, l_id, m + l); }),
            "symbolic: division by 'm + l', expected a number or a single product of symbols "
            "[computation failed]");
  EXPECT_EQ(message([&] { substitute(m / l, l_id, cos(q1)); }),
            "symbolic: division by 'cos(q1)', expected a number or a single product of symbols "
            "[computation failed]");
  EXPECT_EQ(message([&] { substitute(m / l, l_id, Polynomial(0)); }),
            "symbolic: division by 0 [computation failed]");
  EXPECT_EQ(substitute(m * l * l + m, l_id, Polynomial(0)), m);
  EXPECT_EQ(message([&] { substitute(cos(q1), q1_id, m * l); }),
            "cos: 'm*l' is not an angle, expected a linear combination of symbols, pi and numbers "
            "[computation failed]");
}

TEST_F(PolynomialTest, CoefficientsOfNegativePowers) {
  const Polynomial x = m * pow(l, -2) + cos(q1) * pow(l, -2) - q1 / l + Polynomial(7);
  EXPECT_EQ(coefficient(x, l_id, -2), m + cos(q1));
  EXPECT_EQ(coefficient(x, l_id, -1), -q1);
  EXPECT_EQ(coefficient(x, l_id, 0), Polynomial(7));
  EXPECT_EQ(coefficient(x, l_id, 2), Polynomial(0));
  EXPECT_EQ(coefficient(Polynomial(7), l_id, 0), Polynomial(7));
  EXPECT_EQ(coefficient(Polynomial(7), l_id, -1), Polynomial(0));
  EXPECT_TRUE(depends_on(m / l, l_id));
  EXPECT_TRUE(depends_on(m * cos(q1 - q2), q2_id));
  EXPECT_FALSE(depends_on(m * cos(q1) / l, q2_id));
  EXPECT_FALSE(depends_on(Polynomial(2), l_id));
}

TEST_F(PolynomialTest, EvaluationOfEveryKindOfFactor) {
  std::vector<double> x = known_values(*ring);
  EXPECT_EQ(x[m_id], 1.5);
  EXPECT_TRUE(std::isnan(x[q1_id]));
  x[q1_id] = 0.7;
  x[q2_id] = -0.3;
  const double eps = std::numeric_limits<double>::epsilon();
  EXPECT_EQ(evaluate(Polynomial(Rational(3, 8)), x), 0.375);
  EXPECT_EQ(evaluate(m * pow(l, -2), x), 1.5 * 16);
  EXPECT_EQ(evaluate(m * m - l, x), 2.0);
  // Exact seen; the sum of the angle may round in another order.
  EXPECT_NEAR(evaluate(sin(Polynomial(2) * q1 - q2 + pi / 9 + Polynomial(0.25)), x),
              std::sin(1.4 + 0.3 + std::numbers::pi / 9 + 0.25), 2 * eps);
  EXPECT_NEAR(evaluate(cos(q1) * l, x), 0.25 * std::cos(0.7), eps);
}

// Terms in order of their symbols, higher powers first; cosines before sines, angles by their
// factors, fewer parts first.
TEST_F(PolynomialTest, TextHasAFixedOrder) {
  EXPECT_EQ(to_text(Polynomial(1) + m + l + m * m + m * l + l / m),
            "m^2 + m*l + m + m^-1*l + l + 1");
  EXPECT_EQ(to_text(sin(q1) + cos(q2) + cos(q1) + sin(q1 + q2) + cos(Polynomial(2) * q1) + m),
            "m + cos(q1) + sin(q1) + sin(q1 + q2) + cos(2*q1) + cos(q2)");
  EXPECT_EQ(to_text(cos(q1 - q2 + Polynomial(0.5))), "cos(q1 - q2 + 1/2)");
  EXPECT_EQ(to_text(-m - cos(Polynomial(0.5))), "-m - cos(1/2)");
}

TEST_F(PolynomialTest, SquareRootsOfLargeNumbers) {
  const double prime = 2097143;  // the largest prime below 2^21
  EXPECT_EQ(sqrt(Polynomial(prime * prime)), Polynomial(prime));
  EXPECT_EQ(sqrt(Polynomial(0)), Polynomial(0));
  EXPECT_EQ(sqrt(Polynomial(Rational(9, 16))), Polynomial(Rational(3, 4)));
  EXPECT_EQ(sqrt(Polynomial(72)), Polynomial(6) * sqrt(Polynomial(2)));
  const Polynomial root = sqrt(Polynomial(prime * 3));
  EXPECT_EQ(root * root, Polynomial(prime * 3));
  using limb::testing::message;
  // The square of a prime above 2^21 is found, the product of two different ones is not.
  EXPECT_EQ(sqrt(Polynomial(Rational(std::int64_t{2097169} * 2097169))), Polynomial(2097169));
  EXPECT_EQ(message([] { sqrt(Polynomial(Rational(std::int64_t{2097169} * 2097211))); }),
            "sqrt: 4398205895659 has no small prime factors and cannot be kept exact; write a "
            "decimal [computation failed]");
  EXPECT_EQ(message([] { sqrt(Polynomial(power(Rational(3), 41))); }),
            "sqrt: 36472996377170786403 has too many digits to be kept exact [computation "
            "failed]");
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
  EXPECT_EQ(message([&] { cos(sqrt(Polynomial(2))); }),
            "cos: 'sqrt(2)' is not an angle, expected a linear combination of symbols, pi and "
            "numbers [computation failed]");
  EXPECT_EQ(message([&] { sin(l * l); }),
            "sin: 'l^2' is not an angle, expected a linear combination of symbols, pi and numbers "
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

TEST(Polynomial, LimitsCountLiveTermsProductsAndAngles) {
  using limb::testing::message;
  const auto ring = Ring::make({.total_terms = 5, .monomials = 3});
  const Polynomial x =
      Polynomial::symbol(ring, ring->add_symbol({"x", Symbol::Kind::parameter, {}, {}, 0}));
  {
    const Polynomial a = x + Polynomial(1), b = x + Polynomial(2);
    EXPECT_EQ(ring->terms_alive(), 5u);
    EXPECT_EQ(message([&] { x + Polynomial(3); }),
              "symbolic: the closed forms have more than 5 terms together, which is the limit "
              "(Ring::Limits::total_terms) [computation failed]");
  }
  EXPECT_EQ(ring->terms_alive(), 1u);
  EXPECT_EQ(ring->peak_terms_alive(), 5u);
  EXPECT_EQ((x + Polynomial(4)).size(), 2u);
  EXPECT_EQ(ring->peak_terms_alive(), 5u);  // and not less after smaller values
  EXPECT_GE(ring->peak_bytes(), 5 * sizeof(Term));
  // The products 1, x, x^2; the angles 0, x, 2 x.
  const Polynomial square = x * x;
  EXPECT_EQ(message([&] { square* x; }),
            "symbolic: more than 3 different products of symbols, which is the limit "
            "(Ring::Limits::monomials) [computation failed]");
  cos(x);
  cos(Polynomial(2) * x);
  EXPECT_EQ(message([&] { cos(Polynomial(3) * x); }),
            "symbolic: more than 3 different angles, which is the limit "
            "(Ring::Limits::monomials) [computation failed]");
  EXPECT_EQ(message([&] {
              ring->add_symbol({"", Symbol::Kind::parameter, {}, {}, 0});
            }),
            "Ring::add_symbol: name is empty, expected a name");
}

TEST(Polynomial, PowersAreBounded) {
  const auto ring = Ring::make();
  const Polynomial x =
      Polynomial::symbol(ring, ring->add_symbol({"x", Symbol::Kind::parameter, {}, {}, 0}));
  const Polynomial million = pow(x, 1'000'000);
  EXPECT_EQ(to_text(million), "x^1000000");
  EXPECT_EQ(limb::testing::message([&] { million* x; }),
            "symbolic: a power of 'x' exceeds 1000000, which is the limit [computation failed]");
  EXPECT_EQ(limb::testing::message([&] { Polynomial(1) / million / x; }),
            "symbolic: a power of 'x' exceeds 1000000, which is the limit [computation failed]");
}

TEST(Polynomial, NumbersAreOrdered) {
  EXPECT_EQ(select(Polynomial(1) < Polynomial(2), Polynomial(5), Polynomial(6)), Polynomial(5));
  EXPECT_EQ(select(Polynomial(2) < Polynomial(2), Polynomial(5), Polynomial(6)), Polynomial(6));
  EXPECT_EQ(select(Polynomial(3) < Polynomial(2), Polynomial(5), Polynomial(6)), Polynomial(6));
  const auto text = limb::testing::message([] { cos(Polynomial(0.3)); });
  EXPECT_EQ(text,
            "symbolic: the sine or cosine of a number needs a ring, expected a RingScope "
            "around it");
}

}  // namespace
}  // namespace limb::symbolic
