#include "limb/symbolic/typeset/textbook_form.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "limb/symbolic/algebra/calculus.hpp"
#include "limb/symbolic/typeset/display_term.hpp"
#include "limb/symbolic/typeset/formula_latex.hpp"
#include "limb/symbolic/typeset/symbol_names.hpp"

namespace limb::symbolic {
namespace {

struct TextbookFormTest : ::testing::Test {
  std::shared_ptr<Ring> ring = Ring::make();
  RingScope scope{ring};
  Polynomial add(const char* name) {
    return Polynomial::symbol(ring, ring->add_symbol({name, Symbol::Kind::parameter, {}, {}, 0}));
  }
  Polynomial m1 = add("m1"), m2 = add("m2"), l1 = add("l1"), l2 = add("l2"), I1 = add("I1"),
             Ixx2 = add("Ixx2"), Iyy2 = add("Iyy2"), g = add("g");
  SymbolId q1_id = ring->add_coordinate("q1", "qd1", "qdd1");
  SymbolId q2_id = ring->add_coordinate("q2", "qd2", "qdd2");
  SymbolId q3_id = ring->add_coordinate("q3", "qd3", "qdd3");
  Polynomial named(const char* name) { return Polynomial::symbol(ring, *ring->find_symbol(name)); }
  Polynomial q1 = named("q1"), q2 = named("q2"), q3 = named("q3"), v1 = named("qd1"),
             v2 = named("qd2"), a1 = named("qdd1"), a2 = named("qdd2");
  Polynomial two{2}, half{Rational(1, 2)};

  /// The printed form; also checks that it expands to the value.
  std::string latex(const Polynomial& x, NumberStyle numbers = NumberStyle::ratios) {
    const Formula f = textbook_form(x);
    EXPECT_EQ(expand(ring, f), x);
    std::string text = to_latex(f, SymbolNames(*ring), numbers);
    std::erase_if(text, is_break);
    return text;
  }
};

TEST_F(TextbookFormTest, NumbersAndSingleTerms) {
  EXPECT_EQ(latex(0), "0");
  EXPECT_EQ(latex(Rational(-3, 2)), "-\\tfrac{3}{2}");
  EXPECT_EQ(latex(0.35), "0.35");
  EXPECT_EQ(latex(Rational(1, 3) * m1), "\\tfrac{1}{3} m_1");
  EXPECT_EQ(latex(1.25e-7), "1.25 \\cdot 10^{-7}");
  EXPECT_EQ(latex(Polynomial(0.5) * l1, NumberStyle::decimals), "0.5 l_1");
  EXPECT_EQ(latex(-l1 * sin(q1)), "-l_1 s_1");
  EXPECT_EQ(latex(sqrt(Polynomial(3)) * l1), "\\sqrt{3} l_1");
}

TEST_F(TextbookFormTest, NumbersAreRatiosOrDecimals) {
  EXPECT_EQ(latex(999999), "999999");
  EXPECT_EQ(latex(1000000), "1 \\cdot 10^{6}");
  EXPECT_EQ(latex(Rational(1, 8)), "\\tfrac{1}{8}");
  EXPECT_EQ(latex(Rational(1, 16)), "0.0625");
  EXPECT_EQ(latex(Rational(1, 12)), "\\tfrac{1}{12}");
  EXPECT_EQ(latex(Rational(99, 49)), "\\tfrac{99}{49}");
  EXPECT_EQ(latex(Rational(-100, 49)), "-2.04082");
  EXPECT_EQ(latex(Rational(1, 51)), "0.0196078");
  EXPECT_EQ(latex(Rational(1, 8), NumberStyle::decimals), "0.125");
  EXPECT_EQ(latex(Rational(1, 3), NumberStyle::decimals), "\\tfrac{1}{3}");
}

TEST_F(TextbookFormTest, NegativeAndLargePowers) {
  EXPECT_EQ(latex(m1 / l1), "m_1 l_1^{-1}");
  EXPECT_EQ(latex(pow(l1, -2)), "l_1^{-2}");
  EXPECT_EQ(latex(-m1 * pow(l1, -3) * cos(q1)), "-m_1 l_1^{-3} c_1");
  EXPECT_EQ(latex(m1 / l1 + m2 / l1), "(m_1 + m_2) l_1^{-1}");
  EXPECT_EQ(latex(pow(m1, 9)), "m_1^9");
  EXPECT_EQ(latex(pow(m1, 10)), "m_1^{10}");
  // In LaTeX an exponent of two digits needs braces.
  Formula cosine;
  cosine.kind = Formula::Kind::cosine;
  cosine.angle = {{q1_id, 1}};
  const SymbolNames names(*ring);
  const auto text = [&](const Formula& f) { return to_latex(f, names, NumberStyle::ratios); };
  EXPECT_EQ(text(Formula::power_of(cosine, 2)), "c_1^2");
  EXPECT_EQ(text(Formula::power_of(cosine, 12)), "c_1^{12}");
  EXPECT_EQ(text(Formula::power_of(cosine, -1)), "c_1^{-1}");
  cosine.angle = {{q1_id, 2}};
  EXPECT_EQ(text(Formula::power_of(cosine, 12)), "\\cos^{12} 2 q_1");
}

// 4 per letter, sign and exponent; 3 for parentheses, so that m (a + b) is shorter than m a + m b.
TEST_F(TextbookFormTest, CostOfPrint) {
  const auto symbol = [](SymbolId id) { return Formula::of_symbol(id); };
  const Formula a = symbol(0), b = symbol(1), m = symbol(2), sum = Formula::sum_of({a, b});
  EXPECT_EQ(print_cost(Formula::of_number(7)), 4);
  EXPECT_EQ(print_cost(Formula::of_number(-7)), 8);
  EXPECT_EQ(print_cost(Formula::of_number(Rational(1, 2))), 12);
  EXPECT_EQ(print_cost(a), 4);
  EXPECT_EQ(print_cost(Formula::power_of(a, 2)), 8);
  EXPECT_EQ(print_cost(sum), 12);
  EXPECT_EQ(print_cost(Formula::power_of(sum, 2)), 12 + 4 + 3);
  EXPECT_EQ(print_cost(Formula::product_of({m, sum})), 4 + 12 + 3);
  EXPECT_EQ(print_cost(Formula::sum_of({Formula::product_of({m, a}), Formula::product_of({m, b})})),
            20);
  const Formula minus_a = Formula::product_of({Formula::of_number(-1), a});
  EXPECT_EQ(print_cost(minus_a), 8);
  EXPECT_EQ(print_cost(Formula::sum_of({minus_a, b})), 8 + 8);
  // Nested parentheses: m (a + m (a + b))
  const Formula inner = Formula::sum_of({a, Formula::product_of({m, sum})});
  EXPECT_EQ(print_cost(Formula::product_of({m, inner})), 4 + (4 + 4 + 19) + 13);
}

TEST_F(TextbookFormTest, SumsAndProductsAreFlat) {
  const Formula a = Formula::of_symbol(0), b = Formula::of_symbol(1), two_ = Formula::of_number(2);
  const Formula zero = Formula::of_number(0);
  EXPECT_EQ(Formula::sum_of({zero, a}), a);
  EXPECT_EQ(Formula::sum_of({zero, zero}), zero);
  EXPECT_EQ(Formula::sum_of({Formula::sum_of({a, b}), a}).parts.size(), 3u);
  EXPECT_EQ(Formula::product_of({a, zero}), zero);
  EXPECT_EQ(Formula::product_of({a, two_, Formula::product_of({two_, b})}),
            Formula::product_of({Formula::of_number(4), a, b}));
  EXPECT_EQ(Formula::product_of({two_, Formula::of_number(Rational(1, 2)), b}), b);
  EXPECT_EQ(Formula::power_of(a, 1), a);
  EXPECT_TRUE(Formula::of_number(-1).is_negative());
  EXPECT_TRUE(Formula::product_of({Formula::of_number(-1), a}).is_negative());
  EXPECT_FALSE(Formula::sum_of({a, Formula::of_number(-1)}).is_negative());
  EXPECT_FALSE(a == b);
  EXPECT_FALSE(Formula::power_of(a, 2) == Formula::power_of(a, 3));
}

TEST_F(TextbookFormTest, MassMatrixOfThePlanarArm) {
  const Polynomial c2 = cos(q2);
  EXPECT_EQ(latex(m1 * l1 * l1 + m2 * (l1 * l1 + two * l1 * l2 * c2 + l2 * l2)),
            "(m_1 + m_2) l_1^2 + m_2 (2 l_1 l_2 c_2 + l_2^2)");
  EXPECT_EQ(latex(m2 * (l1 * l2 * c2 + l2 * l2)), "m_2 (l_1 l_2 c_2 + l_2^2)");
}

TEST_F(TextbookFormTest, GravityCollectsMasses) {
  EXPECT_EQ(latex((m1 + m2) * g * l1 * cos(q1) + m2 * g * l2 * cos(q1 + q2)),
            "(m_1 + m_2) l_1 g c_1 + m_2 l_2 g c_{12}");
}

TEST_F(TextbookFormTest, VelocitiesAreCollected) {
  const Polynomial h = m2 * l1 * l2 * sin(q2);
  EXPECT_EQ(latex(-h * (two * v1 * v2 + v2 * v2)),
            "-m_2 l_1 l_2 s_2 (2 \\dot{q}_1 \\dot{q}_2 + \\dot{q}_2^2)");
  EXPECT_EQ(
      latex(half * (m1 * l1 * l1 + I1 + m2 * q2 * q2) * v1 * v1 + half * m2 * v2 * v2),
      "\\tfrac{1}{2} (m_1 l_1^2 + m_2 q_2^2 + I_1) \\dot{q}_1^2 + \\tfrac{1}{2} m_2 \\dot{q}_2^2");
  EXPECT_EQ(latex((m1 + m2) * a1 - m2 * l1 * sin(q2) * a2 - m2 * l1 * cos(q2) * v2 * v2),
            "(m_1 + m_2) \\ddot{q}_1 - m_2 l_1 s_2 \\ddot{q}_2 - m_2 l_1 c_2 \\dot{q}_2^2");
}

TEST_F(TextbookFormTest, ProductsAndSquaresOfFunctions) {
  const Polynomial c2 = cos(q2), s2 = sin(q2), c23 = cos(q2 + q3);
  EXPECT_EQ(latex(Ixx2 * s2 * s2 + Iyy2 * c2 * c2), "I_{xx2} s_2^2 + I_{yy2} c_2^2");
  EXPECT_EQ(latex(m2 * l1 * l2 * c2 * c23), "m_2 l_1 l_2 c_2 c_{23}");
  EXPECT_EQ(latex(m1 * c2 * c2 + m2 * pow(l1 * c2 + l2 * c23, 2)),
            "m_1 c_2^2 + m_2 (l_1 c_2 + l_2 c_{23})^2");
  EXPECT_EQ(latex(m1 * s2 * c2), "m_1 c_2 s_2");
  EXPECT_EQ(latex(m1 * (Polynomial(1) + c2 * c2)), "m_1 + m_1 c_2^2");
  EXPECT_EQ(latex(cos(q1) * cos(q2) * cos(q3)), "c_1 c_2 c_3");
  EXPECT_EQ(latex(cos(q1) * cos(q2) * cos(q3) - sin(q1) * sin(q3)), "c_1 c_2 c_3 - s_1 s_3");
}

TEST_F(TextbookFormTest, DifferencesOfAnglesAreSpelledOut) {
  EXPECT_EQ(latex(m1 * cos(q1 - q2)), "m_1 \\cos(q_2 - q_1)");
  EXPECT_EQ(latex(m1 * sin(q1 - q2)), "-m_1 \\sin(q_2 - q_1)");
}

TEST_F(TextbookFormTest, SquaresAreCompleted) {
  EXPECT_EQ(latex(m2 * pow(l1 + q2, 2)), "m_2 (l_1 + q_2)^2");
  EXPECT_EQ(latex(m2 * pow(q2 - l1, 2) + I1), "m_2 (l_1 - q_2)^2 + I_1");
  EXPECT_EQ(latex(q1 - l1), "q_1 - l_1");
}

TEST_F(TextbookFormTest, NamesThatLookLikeFunctionsSpellThemOut) {
  add("c1");
  EXPECT_EQ(latex(m1 * cos(q1)), "m_1 \\cos q_1");
}

TEST_F(TextbookFormTest, RandomValuesAreRecovered) {
  const unsigned seed = 20;
  std::mt19937_64 engine(seed);
  const std::vector<Polynomial> leaves{m1,      m2,           l1,  l2,          I1,         cos(q1),
                                       sin(q2), cos(q1 + q2), v1,  v2,          a1,         q3,
                                       cos(q3), sin(q3),      two, pow(l1, -1), pow(l2, -2)};
  const auto pick = [&] { return leaves[engine() % leaves.size()]; };
  for (int k = 0; k < 60; ++k) {
    Polynomial sum;
    for (int i = 0; i < 4; ++i) sum += pick() * (pick() + pick()) * (pick() - half * pick());
    const Formula f = textbook_form(sum);
    ASSERT_EQ(expand(ring, f), sum) << "seed " << seed << ", case " << k;
    // Never longer than the plain sum of its terms, and reproducible.
    std::vector<Formula> flat;
    AtomTable table(*ring);
    const DisplaySum plain = display_sums(sum, table).back();
    for (const DisplayTerm& term : plain) {
      flat.push_back(term.formula());
    }
    ASSERT_LE(print_cost(f), print_cost(Formula::sum_of(std::move(flat))));
    ASSERT_EQ(textbook_form(sum), f);
  }
}

// Every letter is one: a number after it is its index, three letters together are a word.
TEST(SymbolNames, LatexOfEveryLetter) {
  for (char c = 'A'; c <= 'z'; ++c) {
    if (c > 'Z' && c < 'a') continue;
    const std::string letter(1, c);
    EXPECT_EQ(latex_name("I" + letter + "1"), "I_{" + letter + "1}");
    EXPECT_EQ(latex_name("I" + letter + letter + letter),
              "I_{\\mathrm{" + letter + letter + letter + "}}");
  }
  EXPECT_EQ(latex_name("pi"), "\\pi");
  EXPECT_EQ(latex_name("theta2"), "\\theta_2");
  EXPECT_EQ(latex_name("I1_zz"), "I_{1,zz}");
}

}  // namespace
}  // namespace limb::symbolic
