// Answers are read in plain text and LaTeX, and compared exactly.
#include "limb/symbolic/derive/check_answer.hpp"

#include <gtest/gtest.h>

#include "limb/math/testing/compare.hpp"
#include "limb/symbolic/derive/parse_formula.hpp"
#include "limb/symbolic/testing/closed_forms.hpp"

namespace limb::symbolic {
namespace {

using P = Polynomial;
using limb::testing::ClosedForms;
using limb::testing::message;

TEST(ParseFormula, ReadsTheNotationsOfPeople) {
  const ClosedForms f("builtin:rr");
  const P m1 = f["m1"], lc1 = f["lc1"], l1 = f["l1"], q1 = f["q1"], q2 = f["q2"], v1 = f["qd1"];
  const std::vector<std::pair<std::string, P>> cases = {
      {"m1 lc1^2", m1 * lc1 * lc1},
      {"m_1 l_{c1}^2", m1 * lc1 * lc1},
      {"m1*lc1**2", m1 * lc1 * lc1},
      {"m1lc1^2", m1 * lc1 * lc1},
      {"\\tfrac{1}{2} m_1 \\dot{\\theta}_1^2", m1 * v1 * v1 / P(2)},
      {"\\frac12 m_1 \\dot\\theta_1^{2}", m1 * v1 * v1 / P(2)},
      {"0.5*m1*qd1^2", m1 * v1 * v1 / P(2)},
      {"1/2 m1 dq1 thetad1", m1 * v1 * v1 / P(2)},
      {"l1 c12 - s1", l1 * cos(q1 + q2) - sin(q1)},
      {"l_1 c_{12} - s_1", l1 * cos(q1 + q2) - sin(q1)},
      {"l1 cos(q1 + q2) - sin q1", l1 * cos(q1 + q2) - sin(q1)},
      {"l_1 \\cos(\\theta_1 + \\theta_2) - \\sin \\theta_1", l1 * cos(q1 + q2) - sin(q1)},
      {"\\left(l_1 + l_{c1}\\right)^2 \\cdot 3", (l1 + lc1) * (l1 + lc1) * P(3)},
      {"cos^2 q2 + \\sin^2 \\theta_2", P(1)},
      {"cos 2 q1 - c1^2 + s1^2", P(0)},
      {"-(l1 - 2) / 4", (P(2) - l1) / P(4)},
      {"- -l1", l1},
      {"m1 / (2 l1)", m1 / (P(2) * l1)},
      {"sqrt(2) sqrt(2)", P(2)},
      {"[l1 + 1] {l1}", (l1 + P(1)) * l1}};
  for (const auto& [text, value] : cases)
    EXPECT_EQ(parse_formula(f.robot.ring, f.robot.coordinates, text), value) << text;
}

TEST(ParseFormula, ReportsErrors) {
  const Robot r = load_robot("builtin:rr");
  const auto error = [&](const std::string& text) {
    return message([&] { parse_formula(r.ring, r.coordinates, text); });
  };
  EXPECT_EQ(error("m1 + mm3"),
            "parse_formula: unknown name 'mm3' (closest: 'm1') at column 6 of 'm1 + mm3'");
  EXPECT_EQ(error("m1 +"), "parse_formula: the formula ends too early at column 5 of 'm1 +'");
  EXPECT_EQ(error("(m1"), "parse_formula: expected ')' at column 4 of '(m1'");
  EXPECT_EQ(error("m1)"), "parse_formula: unexpected ')' at column 3 of 'm1)'");
  EXPECT_EQ(error("m1 / (l1 + 1)"),
            "parse_formula: the divisor is not a number or a product of symbols at column 14 of "
            "'m1 / (l1 + 1)'");
  EXPECT_EQ(error("m1^x"),
            "parse_formula: expected an integer exponent below 100 at column 4 of 'm1^x'");
  EXPECT_NE(error(std::string(5000, '(')).find("nested deeper than 100"), std::string::npos);
  EXPECT_NE(error("cos(m1 l1)").find("is not an angle"), std::string::npos);
  // Nothing after a zero byte is dropped silently, and characters are shown whole.
  EXPECT_EQ(error(std::string("m1\0m2", 5)),
            "parse_formula: unexpected '?' at column 3 of 'm1?m2'");
  EXPECT_EQ(error("m1 \u00b7 l1"),
            "parse_formula: unexpected '\u00b7' at column 4 of 'm1 \u00b7 l1'");
  EXPECT_EQ(error(std::string(20'001, '1')),
            "parse_formula: 20001 characters, expected at most 20000");
  // Only the surroundings of an error are shown.
  const std::string far = error(std::string(5000, ' ') + "x" + std::string(5000, ' '));
  EXPECT_NE(far.find("unknown name 'x'"), std::string::npos);
  EXPECT_LT(far.size(), 200u);
}

// d, d1, dd1 and ddd1 are names, so a run of them can be split in many ways.
TEST(ParseFormula, AmbiguousRunsEnd) {
  const Robot r = load_robot("builtin:pr");
  const RingScope scope(r.ring);
  std::string run;
  for (int i = 0; i < 24; ++i) run += "ddd1";
  EXPECT_NE(message([&] { parse_formula(r.ring, r.coordinates, run + "xx"); }).find("unknown name"),
            std::string::npos);
  EXPECT_EQ(parse_formula(r.ring, r.coordinates, "ddd1ddd1"),
            pow(P::symbol(r.ring, r.coordinates[0].a), 2));
}

// Powers of sums and of numbers end at the limits of the ring.
TEST(ParseFormula, LargePowersEnd) {
  RobotOptions options;
  options.limits.terms = 2000;
  options.limits.products = 100'000;
  const Robot r = load_robot("builtin:rr", options);
  for (const char* text :
       {"(m1 + m2 + l1 + lc1 + lc2)^99", "((c1 + c2 + c12 + s1)^99)^99", "((((9^99)^99)^99)^99)^99",
        "((((m1^99)^99)^99)^99)^99", "((((2 m1)^-99)^-99)^-99)^-99", "(1/3)^99^99"}) {
    EXPECT_THROW(parse_formula(r.ring, r.coordinates, text), Error) << text;
  }
}

Derivation rr() {
  DeriveOptions complete;
  complete.complete = true;
  return derive(load_robot("builtin:rr"), complete);
}

TEST(CheckAnswer, RightAnswersAreEqual) {
  const Derivation d = rr();
  for (const char* answer :
       {"M11 = m1 lc1^2 + m2 (l1^2 + 2 l1 lc2 c2 + lc2^2) + I1 + I2",
        "m_{12} = m_2 l_1 l_{c2} \\cos\\theta_2 + m_2 l_{c2}^2 + I_2", "D[2,2] = I2 + m2*lc2^2",
        "V_1 = -m2 l1 lc2 s2 (2 qd1 qd2 + qd2^2)", "c_2(q, qd) = m2 l1 lc2 sin(q2) qd1^2",
        "G_1 = g (m_2 (l_{c2} c_{12} + l_1 c_1) + m_1 l_{c1} c_1)", "b_{112} = -m2 l1 lc2 s2",
        "C12 = -m2 l1 lc2 s2 (qd1 + qd2)", "P = m1 g lc1 s1 + m2 g (l1 s1 + lc2 s12)",
        "\\tau_2 = (m2 (l1 lc2 c2 + lc2^2) + I2) qdd1 + (m2 lc2^2 + I2) \\ddot{q}_2 + "
        "m2 l1 lc2 s2 \\dot\\theta_1^2 + m2 lc2 g c12"}) {
    const AnswerCheck check = check_answer(d, answer);
    EXPECT_TRUE(check.equal()) << answer << ": " << check.difference;
    EXPECT_TRUE(check.hints.empty());
  }
}

// The errors of the printed lecture, found and named: E2 and E3.
TEST(CheckAnswer, ErrorsAreNamed) {
  const Derivation d = rr();
  const auto hints = [&](const std::string& answer) {
    const AnswerCheck check = check_answer(d, answer);
    EXPECT_FALSE(check.equal()) << answer;
    return check.hints;
  };
  using List = std::vector<std::string>;
  EXPECT_EQ(
      hints("M11 = m2 l1^2 + 2 m2 l1 lc2 c2 + m1 lc1^2 + m2 lc2^2 + I1"),
      (List{"missing: the moment of inertia of link 2 (joint 'joint2') about its mass centre, "
            "I2"}));
  EXPECT_EQ(hints("M22 = I2"),
            (List{"missing: the parallel-axis part of link 2 (joint 'joint2'), m Jv^T Jv: its mass "
                  "at its mass centre"}));
  EXPECT_EQ(hints("M22 = m2 lc2^2 + 2 I2"),
            (List{"counted twice: the moment of inertia of link 2 (joint 'joint2') about its mass "
                  "centre, I2"}));
  EXPECT_EQ(hints("V1 = -m2 l1 lc2 s2 qd2^2"), (List{"missing: the Coriolis term of qd1 qd2"}));
  EXPECT_EQ(hints("V1 = -m2 l1 lc2 s2 (qd1 qd2 + qd2^2)"),
            (List{"a factor 2 is missing in the Coriolis term of qd1 qd2"}));
  EXPECT_EQ(hints("V2 = -m2 l1 lc2 s2 qd1^2").front(), "all signs are reversed");
  EXPECT_EQ(hints("G1 = m1 lc1 g c1"),
            (List{"missing: the gravity force of link 2 (joint 'joint2')"}));
  EXPECT_EQ(hints("G2 = m2 lc2 c12").front(), "missing term: m2*lc2*g*cos(q1 + q2)");
  EXPECT_EQ(hints("K = 0").front(), "the answer is zero");
}

TEST(CheckAnswer, ReportsErrors) {
  const Derivation d = rr();
  const auto error = [&](const std::string& answer) {
    return message([&] { check_answer(d, answer); });
  };
  const std::string expected =
      ", expected an entry such as M11, V1, G1, tau1, C12, b112, or K, P, L";
  EXPECT_EQ(error("m1 l1"), "check_answer: 'm1 l1' has no equals sign, expected 'M11 = ...'");
  EXPECT_EQ(error("Q1 = 0"), "check_answer: 'Q1 ' is not a quantity" + expected);
  EXPECT_EQ(error("M" + std::string(100, '_') + "11 = 0"),
            "check_answer: 'M" + std::string(59, '_') + "...' is too long" + expected);
  EXPECT_EQ(error("M1 = 0"), "check_answer: 'M1 ' has 1 indices" + expected);
  EXPECT_EQ(error("M13 = 0"), "check_answer: 'M13 ' has an index beyond 1 to 2" + expected);
  DeriveOptions gravity;
  gravity.quantities = {Quantity::G};
  EXPECT_EQ(message([&] { check_answer(derive(load_robot("builtin:rr"), gravity), "G1 = 0"); }),
            "check_answer: the derivation has only some quantities, expected all of them");
}

}  // namespace
}  // namespace limb::symbolic
