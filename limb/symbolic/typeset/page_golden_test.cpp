#include <gtest/gtest.h>

#include <map>

#include "limb/symbolic/typeset/derivation_page.hpp"
#include "limb/symbolic/typeset/line_breaks.hpp"

/// The closed forms of the lectures on robot dynamics, with their errors corrected, letter by
/// letter in LaTeX. [Craig 2005, Example 6.5] and the examples of models/*.toml.
namespace limb::symbolic {
namespace {

/// All equations of the page by their left-hand sides, in one line each.
std::map<std::string, std::string> equations(const std::string& robot, bool steps = false) {
  DeriveOptions options;
  options.quantities = {Quantity::M, Quantity::B, Quantity::V,  Quantity::G,
                        Quantity::K, Quantity::P, Quantity::tau};
  const Derivation derivation = derive(load_robot("builtin:" + robot), options);
  std::map<std::string, std::string> result;
  for (const Block& block : write_page(derivation, {.steps = steps}).blocks) {
    for (const Equation& e : block.equations) result[e.left] = without_breaks(e.right.back());
  }
  return result;
}

std::string column(const std::string& a, const std::string& b) {
  return "\\begin{bmatrix} " + a + " \\\\ " + b + " \\end{bmatrix}";
}
std::string square(const std::string& a, const std::string& b, const std::string& c,
                   const std::string& d) {
  return column(a + " & " + b, c + " & " + d);
}

TEST(PageGolden, PlanarArmWithPointMasses) {
  auto e = equations("2r");
  const std::string m12 = "m_2 (l_1 l_2 c_2 + l_2^2)", h = "m_2 l_1 l_2 s_2";
  const std::string m11 = "(m_1 + m_2) l_1^2 + m_2 (2 l_1 l_2 c_2 + l_2^2)";
  EXPECT_EQ(e["M"], square(m11, m12, m12, "m_2 l_2^2"));
  EXPECT_EQ(e["C(q)"], square("0", "-" + h, h, "0"));
  EXPECT_EQ(e["B(q)"], column("-2 " + h, "0"));
  EXPECT_EQ(e["V"], column("-" + h + " (2 \\dot{\\theta}_1 \\dot{\\theta}_2 + \\dot{\\theta}_2^2)",
                           h + " \\dot{\\theta}_1^2"));
  EXPECT_EQ(e["G"], column("(m_1 + m_2) l_1 g c_1 + m_2 l_2 g c_{12}", "m_2 l_2 g c_{12}"));
  EXPECT_EQ(e["P"], "(m_1 + m_2) l_1 g s_1 + m_2 l_2 g s_{12}");
  EXPECT_EQ(e["\\tau_2"], m12 + " \\ddot{\\theta}_1 + m_2 l_2^2 \\ddot{\\theta}_2 + " + h +
                              " \\dot{\\theta}_1^2 + m_2 l_2 g c_{12}");
}

/// The same robot in the lecture and in the book, with different names for the moments of inertia
/// about joint 1.
void expect_rp(const std::string& robot, const std::string& inertia) {
  auto e = equations(robot);
  const std::string m11 = "m_1 l_1^2 + m_2 d_2^2 + " + inertia;
  EXPECT_EQ(e["M"], square(m11, "0", "0", "m_2"));
  EXPECT_EQ(e["C(q)"], square("0", "0", "-m_2 d_2", "0"));
  EXPECT_EQ(e["B(q)"], column("2 m_2 d_2", "0"));
  EXPECT_EQ(e["G"], column("(m_1 l_1 + m_2 d_2) g c_1", "m_2 g s_1"));
  EXPECT_EQ(e["K"],
            "\\tfrac{1}{2} (" + m11 + ") \\dot{\\theta}_1^2 + \\tfrac{1}{2} m_2 \\dot{d}_2^2");
  EXPECT_EQ(e["P"], "(m_1 l_1 + m_2 d_2) g s_1");
  EXPECT_EQ(e["\\tau_1"], "(" + m11 +
                              ") \\ddot{\\theta}_1 + 2 m_2 d_2 \\dot{\\theta}_1 \\dot{d}_2 + (m_1 "
                              "l_1 + m_2 d_2) g c_1");
  EXPECT_EQ(e["\\tau_2"], "m_2 \\ddot{d}_2 - m_2 d_2 \\dot{\\theta}_1^2 + m_2 g s_1");
}

TEST(PageGolden, RpOfTheLecture) {
  expect_rp("rp", "I_1 + I_2");
}
TEST(PageGolden, RpOfCraig) {
  expect_rp("craig-rp", "I_{zz1} + I_{yy2}");
}

TEST(PageGolden, Pr) {
  auto e = equations("pr");
  EXPECT_EQ(e["M"], square("m_1 + m_2", "-m_2 d s_2", "-m_2 d s_2", "m_2 d^2 + I_2"));
  EXPECT_EQ(e["C(q)"], square("0", "-m_2 d c_2", "0", "0"));
  EXPECT_EQ(e["B(q)"], column("0", "0"));
  EXPECT_EQ(e["G"], column("0", "m_2 d g c_2"));
  EXPECT_EQ(e["\\tau_1"],
            "(m_1 + m_2) \\ddot{q}_1 - m_2 d s_2 \\ddot{q}_2 - m_2 d c_2 \\dot{q}_2^2");
  EXPECT_EQ(e["\\tau_2"], "-m_2 d s_2 \\ddot{q}_1 + (m_2 d^2 + I_2) \\ddot{q}_2 + m_2 d g c_2");
}

TEST(PageGolden, Pp) {
  auto e = equations("pp");
  EXPECT_EQ(e["M"], square("m_1 + m_2", "0", "0", "m_2"));
  EXPECT_EQ(e["V"], column("0", "0"));
  EXPECT_EQ(e["G"], column("(m_1 + m_2) g", "0"));
  EXPECT_EQ(e["\\tau_1"], "(m_1 + m_2) \\ddot{d}_1 + (m_1 + m_2) g");
  EXPECT_EQ(e["\\tau_2"], "m_2 \\ddot{d}_2");
}

TEST(PageGolden, RrHasBothInertiasInItsFirstEntry) {
  auto e = equations("rr");
  const std::string m12 = "m_2 (l_1 l_{c2} c_2 + l_{c2}^2) + I_2", h = "m_2 l_1 l_{c2} s_2";
  const std::string m11 = "m_1 l_{c1}^2 + m_2 (l_1^2 + 2 l_1 l_{c2} c_2 + l_{c2}^2) + I_1 + I_2";
  EXPECT_EQ(e["M"], square(m11, m12, m12, "m_2 l_{c2}^2 + I_2"));
  EXPECT_EQ(e["C(q)"], square("0", "-" + h, h, "0"));
  EXPECT_EQ(e["B(q)"], column("-2 " + h, "0"));
  EXPECT_EQ(e["G"],
            column("(m_1 l_{c1} + m_2 l_1) g c_1 + m_2 l_{c2} g c_{12}", "m_2 l_{c2} g c_{12}"));
}

TEST(PageGolden, BeltDrivenLegInAbsoluteAngles) {
  auto e = equations("belt-leg");
  const std::string a = "\\tfrac{1}{2} m l^2 \\cos(\\theta_2 - \\theta_1)";
  const std::string b = "\\tfrac{1}{2} m l^2 \\sin(\\theta_2 - \\theta_1)";
  EXPECT_EQ(e["\\phi_{\\text{knee}}"], "\\theta_2 - \\theta_1");
  EXPECT_EQ(e["M"], square("\\tfrac{4}{3} m l^2", a, a, "\\tfrac{1}{3} m l^2"));
  EXPECT_EQ(e["C(q)"], square("0", "-" + b, b, "0"));
  EXPECT_EQ(e["B(q)"], column("0", "0"));
  EXPECT_EQ(e["\\tau_1"], "\\tfrac{4}{3} m l^2 \\ddot{\\theta}_1 + " + a + " \\ddot{\\theta}_2 - " +
                              b + " \\dot{\\theta}_2^2 + \\tfrac{3}{2} m l g s_1");
  EXPECT_EQ(e["\\tau_2"], a + " \\ddot{\\theta}_1 + \\tfrac{1}{3} m l^2 \\ddot{\\theta}_2 + " + b +
                              " \\dot{\\theta}_1^2 + \\tfrac{1}{2} m l g s_2");
}

TEST(PageGolden, StepsOfThePlanarArm) {
  auto e = equations("2r", true);
  EXPECT_EQ(e["p_{C_2}"],
            "\\begin{bmatrix} l_1 c_1 + l_2 c_{12} \\\\ l_1 s_1 + l_2 s_{12} \\\\ 0 "
            "\\end{bmatrix}");
  EXPECT_EQ(e["J_{v_2}"],
            "\\begin{bmatrix} -l_1 s_1 - l_2 s_{12} & -l_2 s_{12} \\\\ l_1 c_1 + l_2 c_{12} & l_2 "
            "c_{12} \\\\ 0 & 0 \\end{bmatrix}");
  EXPECT_EQ(e["K_1"], "\\tfrac{1}{2} m_1 l_1^2 \\dot{\\theta}_1^2");
  EXPECT_EQ(e["P_2"], "m_2 (l_1 s_1 + l_2 s_{12}) g");
  EXPECT_EQ(e["m_{112}"], "-2 m_2 l_1 l_2 s_2");
  EXPECT_EQ(e["m_{122}"], "-m_2 l_1 l_2 s_2");
  EXPECT_EQ(e.count("m_{221}"), 0u);  // zeros are left out
  EXPECT_EQ(e["b_{112} = b_{121}"], "-m_2 l_1 l_2 s_2");
  EXPECT_EQ(e["b_{211}"], "m_2 l_1 l_2 s_2");
  EXPECT_EQ(e["\\omega_2"],
            "\\begin{bmatrix} 0 \\\\ 0 \\\\ \\dot{\\theta}_1 + \\dot{\\theta}_2 \\end{bmatrix}");
  EXPECT_EQ(e["\\tau_1^{\\text{Lagrange}} - \\tau_1^{\\text{Newton-Euler}}"].substr(0, 2), "0 ");
}

}  // namespace
}  // namespace limb::symbolic
