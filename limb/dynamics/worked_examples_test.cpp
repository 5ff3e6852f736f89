// The worked examples of the lectures, corrected, on the robots that come with limb.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/lagrange/torque_budget.hpp"
#include "limb/dynamics/textbook/craig.hpp"
#include "limb/dynamics/textbook/featherstone.hpp"
#include "limb/dynamics/textbook/lagrange.hpp"
#include "limb/dynamics/textbook/modern_robotics.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using Json = nlohmann::json;
using Vector = VectorX<double>;
using Matrix = MatrixX<double>;
constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr double kPi = std::numbers::pi;

Vector vector(const Json& j) {
  const auto numbers = j.get<std::vector<double>>();
  return Eigen::Map<const Vector>(numbers.data(), static_cast<Eigen::Index>(numbers.size()));
}

struct Split {
  Matrix squares, products;
};

Split split_of(const Model<double>& model, const Vector& q) {
  const int n = model.nv();
  Kinematics<double> kinematics(model);
  forward_kinematics(model, q, kinematics);
  LagrangeScratch<double> scratch(model);
  Split split{Matrix(n, n), Matrix(n, n * (n - 1) / 2)};
  centrifugal_coriolis_split(model, kinematics, scratch, split.squares, split.products);
  return split;
}

struct Case {
  const char* robot;
  const char* example;
};

class WorkedExample : public ::testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(
    Lectures, WorkedExample,
    ::testing::Values(Case{"2r", "2R_point_masses (000,001,002 ex5.2)"},
                      Case{"rp", "RP (002 Craig 6.5 with I2=Iyy2; 003 RP with I2=Izz2)"},
                      Case{"craig-rp", "RP (002 Craig 6.5 with I2=Iyy2; 003 RP with I2=Izz2)"},
                      Case{"pr", "PR (003)"}, Case{"pp", "PP (003)"},
                      Case{"rr", "RR (003, corrected: Izz2 in M11)"},
                      Case{"belt-leg", "belt_leg (002, corrected, hanging, absolute angles)"}),
    [](const auto& test) {
      std::string name = test.param.robot;
      std::replace(name.begin(), name.end(), '-', '_');
      return "Robot_" + name;
    });

TEST_P(WorkedExample, ByEveryFormulation) {
  std::ifstream in(LIMB_LECTURES "/worked_examples.json");
  ASSERT_TRUE(in.good());
  const Json all = Json::parse(in);
  const Json& p = all["parameters"];
  const Json& expected = all[GetParam().example];
  const Model<double> model = load_model(std::string("builtin:") + GetParam().robot);
  const Eigen::Vector2d q(p["q1"].get<double>(), p["q2"].get<double>());
  const Eigen::Vector2d v(p["a1"].get<double>(), p["a2"].get<double>());
  const Eigen::Vector2d a(p["b1"].get<double>(), p["b2"].get<double>());
  const Vector rest = Vector::Zero(2);

  // The tolerance of the lectures' checklist; the achieved error is recorded.
  Worst worst;
  const auto near = [&](const Matrix& found, const Matrix& target, const char* what) {
    const double error = (found - target).norm() / std::max(1.0, target.norm());
    EXPECT_LT(error, 1e-13) << what << "\n" << found << "\nexpected\n" << target;
    worst.add(error);
  };
  Matrix M(2, 2);
  for (int i = 0; i < 2; ++i) M.row(i) = vector(expected["M"][static_cast<std::size_t>(i)]);
  near(textbook::featherstone::crba(model, q), M, "M of composite bodies");
  near(textbook::lagrange::mass_matrix(model, q), M, "M of Jacobians");

  const Vector V = vector(expected["V"]), G = vector(expected["G"]), tau = vector(expected["tau"]);
  const Split split = split_of(model, q);
  near(split.squares * v.cwiseAbs2() + split.products * (v[0] * v[1]), V, "V by the split");
  Kinematics<double> kinematics(model);
  forward_kinematics(model, q, v, a, kinematics);
  LagrangeScratch<double> scratch(model);
  Matrix C(2, 2);
  coriolis_matrix(model, kinematics, scratch, C);
  near(C * v, V, "V by the Coriolis matrix");
  near(textbook::lagrange::gravity(model, q), G, "G of Jacobians");

  near(textbook::featherstone::rnea(model, q, v, a), tau, "Featherstone");
  near(textbook::modern_robotics::inverse_dynamics(model, q, v, a), tau, "Modern Robotics");
  near(textbook::craig::inverse_dynamics(model, q, v, a), tau, "Craig");
  TorqueBudgetScratch<double> budget_scratch(model);
  TorqueBudget<double> budget(model);
  torque_budget(model, kinematics, budget_scratch, budget);
  near(budget.tau, tau, "budget");
  near(budget.gravity, G, "gravity of the budget");
  near(budget.centrifugal + budget.coriolis, V, "velocities of the budget");

  near(textbook::featherstone::aba(model, q, v, rest), vector(expected["qdd_at_tau0"]),
       "accelerations without torque");
  const auto number = [](double x) { return Matrix::Constant(1, 1, x); };
  near(number(textbook::lagrange::kinetic_energy(model, q, v)), number(expected["K"].get<double>()),
       "K");
  near(number(textbook::lagrange::potential_energy(model, q)), number(expected["P"].get<double>()),
       "P");
  RecordProperty("worst_in_eps", std::to_string(worst.value() / kEps));
}

// RR with its parameters from the recipe, B and C as corrected: factor 2 in B, signs of C.
TEST(WorkedExamples, SplitOfRR) {
  const Model<double> model = load_model("builtin:rr");
  const double l1 = 1.0, lc2 = 0.4, m2 = 1.5;
  for (const double q2 : {-2.5, -0.4, 0.7, 1.9}) {
    const Split split = split_of(model, Eigen::Vector2d(0.3, q2));
    const double k = l1 * lc2 * m2 * std::sin(q2);
    Matrix C(2, 2), B(2, 1);
    C << 0, -k, k, 0;
    B << -2 * k, 0;
    // A dozen products of numbers of order 1.
    EXPECT_LT((split.squares - C).norm(), 16 * kEps);
    EXPECT_LT((split.products - B).norm(), 16 * kEps);
  }
}

// RP: centrifugal force m2 d w^2 on the slider, Coriolis coefficient 2 m2 d at the motor.
TEST(WorkedExamples, SplitOfRP) {
  const double m2 = 1.5, d = 0.7;
  for (const char* robot : {"builtin:rp", "builtin:craig-rp"}) {
    const Split split = split_of(load_model(robot), Eigen::Vector2d(0.3, d));
    Matrix C(2, 2), B(2, 1);
    C << 0, 0, -m2 * d, 0;
    B << 2 * m2 * d, 0;
    EXPECT_LT((split.squares - C).norm(), 16 * kEps);
    EXPECT_LT((split.products - B).norm(), 16 * kEps);
  }
}

// "Centrifugal terms are proportional to the square of the other joint's velocity; they and the
// Coriolis term are largest when the links are perpendicular" - and vanish when they are in line.
TEST(WorkedExamples, VelocityTermsAreLargestWhenTheLinksArePerpendicular) {
  for (const char* robot : {"builtin:rr", "builtin:2r"}) {
    const Model<double> model = load_model(robot);
    const auto sizes = [&](double q2) {
      const Split split = split_of(model, Eigen::Vector2d(-0.8, q2));
      EXPECT_LT(std::abs(split.squares(0, 0)) + std::abs(split.squares(1, 1)), 16 * kEps);
      EXPECT_LT(std::abs(split.products(1, 0)), 16 * kEps);
      return Eigen::Vector3d(split.squares(0, 1), split.squares(1, 0), split.products(0, 0))
          .cwiseAbs()
          .eval();
    };
    const Eigen::Vector3d largest = sizes(kPi / 2);
    for (int degrees = -180; degrees <= 180; degrees += 5) {
      const Eigen::Vector3d here = sizes(degrees * kPi / 180);
      if (std::abs(degrees) == 90) {
        EXPECT_LT((here - largest).norm(), 16 * kEps);
      } else {
        EXPECT_TRUE((here.array() < largest.array()).all()) << degrees;
      }
    }
    EXPECT_LT(sizes(0).norm() + sizes(kPi).norm(), 16 * kEps);
  }
}

// PP: no velocity terms at all, since M is constant.
TEST(WorkedExamples, ConstantMassMatrixHasNoVelocityTerms) {
  const Split split = split_of(load_model("builtin:pp"), Eigen::Vector2d(0.3, 0.7));
  EXPECT_EQ(split.squares, Matrix::Zero(2, 2));
  EXPECT_EQ(split.products, Matrix::Zero(2, 1));
}

// 2R at (0, 90 deg) without acceleration: tip = centripetal (-l1 w1^2, -l2 (w1^2 + w2^2)) +
// Coriolis (0, -2 l2 w1 w2).
TEST(WorkedExamples, TipAccelerationSplit) {
  const Model<double> model = load_model("builtin:2r");
  const double l1 = 1.0, l2 = 0.8, w1 = 0.5, w2 = -0.4;
  const Frame<double>& tool = model.frame(model.find_frame("tool"));
  const auto tip = [&](double v1, double v2) {
    Kinematics<double> k(model);
    forward_kinematics(model, Eigen::Vector2d(0, kPi / 2), Eigen::Vector2d(v1, v2),
                       Eigen::Vector2d(0, 0), k);
    const auto i = static_cast<std::size_t>(tool.body.value());
    const Motion<double> V = tool.X_BF.inv_act(k.V_WB_B[i]), A = tool.X_BF.inv_act(k.A_WB_B[i]);
    const Vector3<double> a = k.X_WB[i].R * tool.X_BF.R * (A.v + V.w.cross(V.v));
    return a;
  };
  const Vector3<double> centripetal = tip(w1, 0) + tip(0, w2);
  const Vector3<double> coriolis = tip(w1, w2) - centripetal;
  const Vector3<double> expected_centripetal(-l1 * w1 * w1, -l2 * (w1 * w1 + w2 * w2), 0);
  const Vector3<double> expected_coriolis(0, -2 * l2 * w1 * w2, 0);
  EXPECT_LT((centripetal - expected_centripetal).norm(), 16 * kEps);
  EXPECT_LT((coriolis - expected_coriolis).norm(), 16 * kEps);
}

// The belt's motors act on absolute angles: tau_abs = G^T tau_rel.
TEST(WorkedExamples, BeltMapsTorquesByItsTranspose) {
  const Model<double> leg = load_model("builtin:belt-leg");
  const Eigen::Vector2d q(0.3, 0.7), v(0.5, -0.4), a(0.9, -1.1);
  const Coupling<double>& G = leg.coupling();
  const Vector relative = textbook::craig::inverse_dynamics(
      leg.without_couplings(), G.expand_position(q), G.expand_velocity(v), G.expand_velocity(a));
  const Vector absolute = textbook::craig::inverse_dynamics(leg, q, v, a);
  // The hip motor supplies hip - knee, the other one the knee; the pulley has no mass.
  const double hip = relative[leg.body(leg.find_body("hip")).v_start];
  const double knee = relative[leg.body(leg.find_body("knee")).v_start];
  EXPECT_LT(std::abs(absolute[0] - (hip - knee)), 16 * kEps);
  EXPECT_LT(std::abs(absolute[1] - knee), 16 * kEps);
}

}  // namespace
}  // namespace limb
