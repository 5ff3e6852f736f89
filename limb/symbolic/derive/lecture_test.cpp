// The closed forms of the lectures, symbol for symbol, with the errors of the lectures corrected:
// E2, E3 (RR: I2 in M11, gravity), E4 (RR: shapes of B and C), E22 (belt-driven leg). The numbers
// of docs/lectures/worked_examples.json are compared.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "limb/symbolic/testing/closed_forms.hpp"

namespace limb::symbolic {
namespace {

using P = Polynomial;
using limb::testing::ClosedForms;

void expect_entries(const Matrix& found, const std::vector<std::vector<P>>& expected) {
  ASSERT_EQ(found.rows(), static_cast<Eigen::Index>(expected.size()));
  for (Eigen::Index i = 0; i < found.rows(); ++i) {
    const auto& row = expected[static_cast<std::size_t>(i)];
    ASSERT_EQ(found.cols(), static_cast<Eigen::Index>(row.size()));
    for (Eigen::Index j = 0; j < found.cols(); ++j) {
      EXPECT_EQ(found(i, j), row[static_cast<std::size_t>(j)]) << "entry " << i << ", " << j;
    }
  }
}

// [lecture 000: planar 2R with point masses]
TEST(Lecture, Planar2R) {
  const ClosedForms f("builtin:2r");
  const P m1 = f["m1"], m2 = f["m2"], l1 = f["l1"], l2 = f["l2"], g = f["g"];
  const P q1 = f["q1"], q2 = f["q2"], v1 = f["qd1"], v2 = f["qd2"];
  const P two(2), c2 = cos(q2), s2 = sin(q2);
  const P m12 = m2 * (l1 * l2 * c2 + l2 * l2);
  expect_entries(f.lagrange.M, {{m1 * l1 * l1 + m2 * (l1 * l1 + two * l1 * l2 * c2 + l2 * l2), m12},
                                {m12, m2 * l2 * l2}});
  expect_entries(f.lagrange.V, {{-(m2 * l1 * l2 * s2 * (two * v1 * v2 + v2 * v2))},
                                {m2 * l1 * l2 * v1 * v1 * s2}});
  expect_entries(f.lagrange.G, {{(m1 + m2) * l1 * g * cos(q1) + m2 * g * l2 * cos(q1 + q2)},
                                {m2 * g * l2 * cos(q1 + q2)}});
  // Energies as the lecture writes them, from the velocities of the two masses.
  const P x = -(l1 * sin(q1)) * v1 - l2 * sin(q1 + q2) * (v1 + v2);
  const P y = l1 * cos(q1) * v1 + l2 * cos(q1 + q2) * (v1 + v2);
  EXPECT_EQ(f.lagrange.K, (m1 * l1 * l1 * v1 * v1 + m2 * (x * x + y * y)) / two);
  EXPECT_EQ(f.lagrange.P, m1 * g * l1 * sin(q1) + m2 * g * (l1 * sin(q1) + l2 * sin(q1 + q2)));
  EXPECT_EQ(f.lagrange.tau, f.newton_euler);
}

// [lecture 003: RP]
TEST(Lecture, RP) {
  const ClosedForms f("builtin:rp");
  const P m1 = f["m1"], m2 = f["m2"], l1 = f["l1"], I1 = f["I1"], I2 = f["I2"], g = f["g"];
  const P q1 = f["q1"], q2 = f["q2"], v1 = f["qd1"], v2 = f["qd2"];
  expect_entries(f.lagrange.M, {{m1 * l1 * l1 + I1 + I2 + m2 * q2 * q2, 0}, {0, m2}});
  expect_entries(f.lagrange.coriolis, {{P(2) * m2 * q2}, {0}});
  expect_entries(f.lagrange.centrifugal, {{0, 0}, {-(m2 * q2), 0}});
  expect_entries(f.lagrange.V, {{P(2) * m2 * q2 * v1 * v2}, {-(m2 * q2 * v1 * v1)}});
  expect_entries(f.lagrange.G, {{(m1 * l1 + m2 * q2) * g * cos(q1)}, {m2 * g * sin(q1)}});
  EXPECT_EQ(f.lagrange.tau, f.newton_euler);
}

// [Craig 2005, Example 6.5] with full tensors: only Izz1 and Iyy2 matter.
TEST(Lecture, CraigRP) {
  const ClosedForms f("builtin:craig-rp");
  const P m1 = f["m1"], m2 = f["m2"], l1 = f["l1"], g = f["g"], q1 = f["q1"], q2 = f["q2"];
  const P v1 = f["qd1"], v2 = f["qd2"];
  expect_entries(f.lagrange.M, {{m1 * l1 * l1 + f["Izz1"] + f["Iyy2"] + m2 * q2 * q2, 0}, {0, m2}});
  expect_entries(f.lagrange.V, {{P(2) * m2 * q2 * v1 * v2}, {-(m2 * q2 * v1 * v1)}});
  expect_entries(f.lagrange.G, {{(m1 * l1 + m2 * q2) * g * cos(q1)}, {m2 * g * sin(q1)}});
  EXPECT_EQ(f.lagrange.tau, f.newton_euler);
}

// [lecture 003: PR, PP]
TEST(Lecture, PRAndPP) {
  const ClosedForms pr("builtin:pr");
  const P m1 = pr["m1"], m2 = pr["m2"], d = pr["d"], q2 = pr["q2"], v2 = pr["qd2"];
  expect_entries(pr.lagrange.M,
                 {{m1 + m2, -(m2 * d * sin(q2))}, {-(m2 * d * sin(q2)), m2 * d * d + pr["I2"]}});
  expect_entries(pr.lagrange.V, {{-(m2 * d * cos(q2) * v2 * v2)}, {0}});
  expect_entries(pr.lagrange.G, {{0}, {m2 * d * pr["g"] * cos(q2)}});
  EXPECT_EQ(pr.lagrange.tau, pr.newton_euler);

  const ClosedForms pp("builtin:pp");
  expect_entries(pp.lagrange.M, {{pp["m1"] + pp["m2"], 0}, {0, pp["m2"]}});
  expect_entries(pp.lagrange.V, {{0}, {0}});
  expect_entries(pp.lagrange.G, {{(pp["m1"] + pp["m2"]) * pp["g"]}, {0}});
  EXPECT_EQ(pp.lagrange.tau, pp.newton_euler);
}

// [lecture 003: RR], corrected: E2, E3, E4.
TEST(Lecture, RR) {
  const ClosedForms f("builtin:rr");
  const P m1 = f["m1"], m2 = f["m2"], l1 = f["l1"], a = f["lc1"], b = f["lc2"];
  const P I1 = f["I1"], I2 = f["I2"], g = f["g"], q1 = f["q1"], q2 = f["q2"];
  const P k = m2 * l1 * b;
  const P m12 = k * cos(q2) + m2 * b * b + I2;
  expect_entries(f.lagrange.M,
                 {{m2 * l1 * l1 + P(2) * k * cos(q2) + m1 * a * a + m2 * b * b + I1 + I2, m12},
                  {m12, m2 * b * b + I2}});
  expect_entries(f.lagrange.coriolis, {{P(-2) * k * sin(q2)}, {0}});
  expect_entries(f.lagrange.centrifugal, {{0, -(k * sin(q2))}, {k * sin(q2), 0}});
  expect_entries(f.lagrange.G, {{g * m2 * (b * cos(q1 + q2) + l1 * cos(q1)) + g * m1 * a * cos(q1)},
                                {g * m2 * b * cos(q1 + q2)}});
  EXPECT_EQ(f.lagrange.tau, f.newton_euler);
}

// [lecture 002: belt-driven leg] in absolute angles, corrected: E22.
TEST(Lecture, BeltLeg) {
  const ClosedForms f("builtin:belt-leg");
  const P m = f["m"], l = f["l"], g = f["g"], q1 = f["q1"], q2 = f["q2"];
  const P w1 = f["qd1"], w2 = f["qd2"], a1 = f["qdd1"], a2 = f["qdd2"];
  const auto part = [](int n, int d) { return P(Rational(n, d)); };
  const P ml2 = m * l * l, c = cos(q2 - q1), s = sin(q2 - q1);
  EXPECT_EQ(f.lagrange.K, part(2, 3) * ml2 * w1 * w1 + part(1, 2) * ml2 * w1 * w2 * c +
                              part(1, 6) * ml2 * w2 * w2);
  EXPECT_EQ(f.lagrange.P, -(m * g * (part(3, 2) * l * cos(q1) + part(1, 2) * l * cos(q2))));
  const P L = f.lagrange.K - f.lagrange.P;
  const auto id = [&](const char* name) { return *f.robot.ring->find_symbol(name); };
  EXPECT_EQ(differentiate(L, id("q1")),
            part(1, 2) * ml2 * w1 * w2 * s - part(3, 2) * m * g * l * sin(q1));
  EXPECT_EQ(rate(differentiate(L, id("qd1"))), part(4, 3) * ml2 * a1 + part(1, 2) * ml2 * a2 * c -
                                                   part(1, 2) * ml2 * w2 * (w2 - w1) * s);
  EXPECT_EQ(f.lagrange.tau[1], part(1, 2) * ml2 * c * a1 + part(1, 3) * ml2 * a2 +
                                   part(1, 2) * ml2 * w1 * w1 * s +
                                   part(1, 2) * m * g * l * sin(q2));
  EXPECT_EQ(f.lagrange.tau[0], part(4, 3) * ml2 * a1 + part(1, 2) * ml2 * c * a2 -
                                   part(1, 2) * ml2 * w2 * w2 * s +
                                   part(3, 2) * m * g * l * sin(q1));
  EXPECT_EQ(f.lagrange.tau, f.newton_euler);
}

// The numbers of the worked examples; their file has 16 digits.
TEST(Lecture, NumbersOfWorkedExamples) {
  const auto json = nlohmann::json::parse(std::ifstream(LIMB_LECTURES "/worked_examples.json"));
  const auto& p = json["parameters"];
  const std::map<std::string, std::string> robots = {
      {"2r", "2R_point_masses (000,001,002 ex5.2)"},
      {"rp", "RP (002 Craig 6.5 with I2=Iyy2; 003 RP with I2=Izz2)"},
      {"pr", "PR (003)"},
      {"pp", "PP (003)"},
      {"rr", "RR (003, corrected: Izz2 in M11)"},
      {"belt-leg", "belt_leg (002, corrected, hanging, absolute angles)"}};
  for (const auto& [robot, key] : robots) {
    const ClosedForms f("builtin:" + robot);
    std::vector<double> x = known_values(*f.robot.ring);
    for (std::size_t i = 0; i < f.robot.coordinates.size(); ++i) {
      const std::string k = std::to_string(i + 1);
      x[f.robot.coordinates[i].q] = p["q" + k];
      x[f.robot.coordinates[i].v] = p["a" + k];
      x[f.robot.coordinates[i].a] = p["b" + k];
    }
    const auto& e = json[key];
    for (Eigen::Index i = 0; i < 2; ++i) {
      const auto r = static_cast<std::size_t>(i);
      // Sums of at most ten terms: a few eps of the largest, 50.
      EXPECT_NEAR(evaluate(f.lagrange.tau[i], x), e["tau"][r].get<double>(), 1e-13 * 50) << robot;
      EXPECT_NEAR(evaluate(f.lagrange.V[i], x), e["V"][r].get<double>(), 1e-13) << robot;
      EXPECT_NEAR(evaluate(f.lagrange.G[i], x), e["G"][r].get<double>(), 1e-13 * 50) << robot;
      for (Eigen::Index j = 0; j < 2; ++j) {
        EXPECT_NEAR(evaluate(f.lagrange.M(i, j), x),
                    e["M"][r][static_cast<std::size_t>(j)].get<double>(), 1e-13 * 10)
            << robot;
      }
    }
    EXPECT_NEAR(evaluate(f.lagrange.K, x), e["K"].get<double>(), 1e-13) << robot;
    EXPECT_NEAR(evaluate(f.lagrange.P, x), e["P"].get<double>(), 1e-13 * 50) << robot;
  }
}

}  // namespace
}  // namespace limb::symbolic
