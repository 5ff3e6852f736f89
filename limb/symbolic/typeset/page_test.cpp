#include <gtest/gtest.h>

#include "limb/base/error.hpp"
#include "limb/symbolic/derive/newton_euler_steps.hpp"
#include "limb/symbolic/typeset/derivation_page.hpp"
#include "limb/symbolic/typeset/line_breaks.hpp"
#include "limb/symbolic/typeset/textbook_form.hpp"

namespace limb::symbolic {
namespace {

const std::vector<std::string> kSmall = {"2r", "rp",       "craig-rp", "pr",      "pp",
                                         "rr", "belt-leg", "cartpole", "pendulum"};

std::string text(const std::string& latex) {
  const TextBox box = to_text_box(parse_math(latex));
  std::string result;
  for (const std::string& l : box.lines) result += (result.empty() ? "" : "\n") + l;
  return result;
}

TEST(MathLayout, TextOfFormulas) {
  EXPECT_EQ(text("m_2 (l_1^2 + 2 l_1 l_{c2} c_{12}) - \\tfrac{1}{2} \\dot{q}_1^2"),
            "m2 (l1^2 + 2 l1 lc2 c12) - 1/2 qd1^2");
  EXPECT_EQ(text("-m_1 \\cos(q_2 - q_1)"), "-m1 cos(q2 - q1)");
  EXPECT_EQ(text("M = \\begin{bmatrix} a & b + c \\\\ 10 & 0 \\end{bmatrix}"),
            "M = [ a   b + c ]\n    [ 10  0     ]");
  EXPECT_EQ(text("\\frac{\\partial P}{\\partial q_1}"), "dP/dq1");
}

TEST(MathLayout, MathmlOfFormulas) {
  EXPECT_EQ(to_mathml(parse_math("-a + b_1^2"), false),
            "<math><mrow><mo form=\"prefix\">−</mo><mi>a</mi><mo form=\"infix\">+</mo>"
            "<msubsup><mi>b</mi><mn>1</mn><mn>2</mn></msubsup></mrow></math>");
  EXPECT_EQ(to_mathml(parse_math("\\tfrac{1}{2}"), true),
            "<math display=\"block\"><mfrac><mn>1</mn><mn>2</mn></mfrac></math>");
}

TEST(MathLayout, ReportsErrors) {
  const auto message = [](const std::string& latex) -> std::string {
    try {
      parse_math(latex);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message("a + \\mystery"),
            "parse_math: unknown command '\\mystery' at column 13 of "
            "'a + \\mystery'");
  EXPECT_EQ(message("{a"), "parse_math: no closing brace at column 3 of '{a'");
  EXPECT_EQ(message("a}"),
            "parse_math: unmatched closing brace or end of cell at column 2 of 'a}'");
  EXPECT_EQ(message("a_1_2"), "parse_math: a second index or exponent at column 4 of 'a_1_2'");
  EXPECT_EQ(message("a # b"), "parse_math: unexpected '#' at column 3 of 'a # b'");
  EXPECT_EQ(message("\\begin{bmatrix} a"),
            "parse_math: unterminated matrix at column 18 of '\\begin{bmatrix} a'");
}

TEST(Document, LongLinesAreBrokenAtSums) {
  const Equation equation{"y", {"aaaa \x01+ bbbb \x01+ (cccc \x02+ dddd)"}};
  EXPECT_EQ(to_latex(equation, 100), "y = aaaa + bbbb + (cccc + dddd)");
  EXPECT_EQ(to_latex(equation, 24),
            "\\begin{aligned} y &= aaaa + bbbb \\\\ &\\quad + (cccc + dddd) \\end{aligned}");
  // Inside parentheses only if nothing else helps; the width is at least 20 letters.
  const Equation tight{"y", {"(aaaaaaaaaaaaaaa \x02+ bbbbbbbbbbbbbbb)"}};
  EXPECT_EQ(aligned_lines(tight, 10),
            (std::vector<std::string>{"y &= (aaaaaaaaaaaaaaa", "&\\quad + bbbbbbbbbbbbbbb)"}));
}

TEST(Document, FormatsEscapeTheirSpecialCharacters) {
  Document document;
  document.title = "a_b & <c>";
  document.paragraph("50% of $x_1$");
  EXPECT_NE(to_latex(document).find("\\title{a\\_b \\& <c>}"), std::string::npos);
  EXPECT_NE(to_latex(document).find("50\\% of $x_1$"), std::string::npos);
  EXPECT_NE(to_html(document).find("<h1>a_b &amp; &lt;c&gt;</h1>"), std::string::npos);
  EXPECT_NE(to_text(document).find("50% of x1"), std::string::npos);
}

/// Examples of all kinds of values on the page of a robot.
std::vector<Polynomial> values(const Derivation& d, const NewtonEulerSteps& steps) {
  std::vector<Polynomial> all{d.form.K, d.form.P};
  const auto add = [&](const auto& m) {
    for (Eigen::Index i = 0; i < m.size(); ++i)
      all.push_back(Polynomial(m(i % m.rows(), i / m.rows())));
  };
  for (const LinkForm& link : d.form.links) {
    add(link.X_WB.R);
    add(link.p);
    add(link.M);
    add(jacobian(d.robot, link.p));
  }
  add(d.form.M);
  add(d.form.centrifugal);
  add(d.form.coriolis);
  add(d.form.V);
  add(d.form.G);
  add(d.form.tau);
  for (const NewtonEulerLink& link : steps.links) {
    for (const auto* v : {&link.w, &link.wd, &link.vd, &link.F, &link.N, &link.f, &link.n}) add(*v);
  }
  return all;
}

TEST(Page, PrintedFormsExpandToTheValues) {
  for (const std::string& name : kSmall) {
    const Derivation d = derive(load_robot("builtin:" + name));
    const NewtonEulerSteps steps = newton_euler_steps(d.robot, d.form.links);
    for (const Polynomial& x : values(d, steps)) {
      ASSERT_EQ(expand(d.robot.ring, textbook_form(x)), x) << name << ": " << x;
    }
  }
}

TEST(Page, NewtonEulerStepsGiveTheSameForces) {
  for (const std::string& name : kSmall) {
    const Derivation d = derive(load_robot("builtin:" + name));
    EXPECT_EQ(newton_euler_steps(d.robot, d.form.links).tau, d.form.tau) << name;
  }
  // Numbers in place of symbols, six joints in space.
  const Derivation arm = derive(load_robot("builtin:arm6"));
  EXPECT_EQ(newton_euler_steps(arm.robot, arm.form.links).tau, arm.form.tau);
}

TEST(Page, IsReproducible) {
  for (const bool steps : {false, true}) {
    const auto page = [&] {
      return to_html(write_page(derive(load_robot("builtin:rr")), {.steps = steps}));
    };
    EXPECT_EQ(page(), page());
  }
}

TEST(Page, NumbersHaveFewDigits) {
  RobotOptions numbers;
  numbers.parameters = Parameters::numbers;
  const Derivation d = derive(load_robot("builtin:2r", numbers));
  const std::string page = to_text(write_page(d, {.plain_names = true}));
  EXPECT_NE(page.find("[ 4.46 + 2.4 c2  0.96 + 1.2 c2 ]"), std::string::npos) << page;
  EXPECT_NE(page.find("34.335 c1 + 11.772 c12"), std::string::npos) << page;
}

// From ten coordinates on, c12 would be cos q12 or cos(q1 + q2), and B110 entry (1, 10) or (11, 0).
TEST(Page, IndicesCannotBeMisread) {
  RobotOptions fixed;
  fixed.base = Base::fixed;
  DeriveOptions quantities;
  quantities.quantities = {Quantity::M, Quantity::B, Quantity::christoffel, Quantity::tau};
  quantities.complete = true;
  const Derivation d = derive(load_robot("builtin:quadruped", fixed), quantities);
  const Document document = write_page(d, {.plain_names = true});
  const std::string page = to_text(document), latex = to_latex(document);
  for (const char* expected : {"c2,3", "c11,12", "m1,2 = m2,1", "B10,66", "m11,11,12", "tau12 ="}) {
    EXPECT_NE(page.find(expected), std::string::npos) << expected;
  }
  for (const char* wrong : {"c23", "m12 =", "m1112", "B1066"}) {
    EXPECT_EQ(page.find(wrong), std::string::npos) << wrong;
  }
  EXPECT_NE(latex.find("c_{11,12}"), std::string::npos);
  EXPECT_NE(latex.find("\\tau_{12} &="), std::string::npos);
  EXPECT_EQ(latex.find("\\tau_12"), std::string::npos);
  const std::string steps = to_latex(write_page(d, {.steps = true}));
  EXPECT_NE(steps.find("p_{C_{12}}"), std::string::npos);
  EXPECT_EQ(steps.find("_12"), std::string::npos) << "an index of two digits without braces";
  EXPECT_NE(to_html(document).find("<mn>11</mn><mo>,</mo><mn>12</mn>"), std::string::npos);
  // Below ten coordinates nothing can be misread.
  const std::string small = to_text(write_page(derive(load_robot("builtin:rr"))));
  EXPECT_NE(small.find("c12"), std::string::npos);
}

TEST(Page, RowsWithoutAMotorAreZero) {
  const Derivation d = derive(load_robot("builtin:cartpole"));
  const std::string page = to_text(write_page(d, {.plain_names = true}));
  EXPECT_NE(page.find("    tau1 = (m1 + m2) qdd1"), std::string::npos) << page;
  EXPECT_NE(page.find("    0 = m2 l c2 qdd1"), std::string::npos) << page;
  EXPECT_EQ(page.find("tau2"), std::string::npos);
  EXPECT_NE(page.find("No motor acts on q2"), std::string::npos);
  const std::string steps = to_text(write_page(d, {.steps = true, .plain_names = true}));
  EXPECT_EQ(steps.find("tau2 ="), std::string::npos) << steps;
}

// Symbols for the numbers of a file must not be the letters of cosines and sines.
TEST(Page, MassCentresHaveTheirOwnLetters) {
  RobotOptions symbols;
  symbols.parameters = Parameters::symbols;
  DeriveOptions gravity;
  gravity.quantities = {Quantity::G};
  const Derivation d = derive(load_robot("builtin:arm6", symbols), gravity);
  for (const Symbol& s : d.robot.ring->symbols()) {
    const bool cosine = s.name.size() > 1 && (s.name[0] == 'c' || s.name[0] == 's') &&
                        s.name[1] >= '0' && s.name[1] <= '9';
    EXPECT_FALSE(cosine) << s.name;
  }
  // With such letters, sines and cosines would be spelled out.
  EXPECT_EQ(to_text(write_page(d, {.plain_names = true})).find("cos(q"), std::string::npos);
}

TEST(Page, HasTheRequestedMethod) {
  DeriveOptions options;
  options.method = DerivationMethod::lagrange;
  std::string page =
      to_text(write_page(derive(load_robot("builtin:rr"), options), {.steps = true}));
  EXPECT_NE(page.find("Jacobians"), std::string::npos);
  EXPECT_EQ(page.find("Newton"), std::string::npos);
  options.method = DerivationMethod::newton_euler;
  page = to_text(write_page(derive(load_robot("builtin:rr"), options), {.steps = true}));
  EXPECT_EQ(page.find("Jacobians"), std::string::npos);
  EXPECT_NE(page.find("Newton-Euler: backward pass"), std::string::npos);
}

}  // namespace
}  // namespace limb::symbolic
