#include "limb/symbolic/typeset/textbook_form.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "limb/symbolic/algebra/calculus.hpp"
#include "limb/symbolic/typeset/display_term.hpp"
#include "limb/symbolic/typeset/formula_latex.hpp"

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
  const std::vector<Polynomial> leaves{m1, m2, l1, l2, I1,      cos(q1), sin(q2), cos(q1 + q2),
                                       v1, v2, a1, q3, cos(q3), sin(q3), two};
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

}  // namespace
}  // namespace limb::symbolic
