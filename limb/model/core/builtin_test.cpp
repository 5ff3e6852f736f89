#include "limb/model/core/builtin.hpp"

#include <gtest/gtest.h>

#include <set>

#include "limb/base/error.hpp"
#include "limb/math/inertia_consistency.hpp"
#include "limb/math/testing/max_abs.hpp"
#include "limb/model/recipe/read_recipe.hpp"
#include "limb/model/testing/description_dynamics.hpp"

namespace limb {
namespace {

using Eigen::Matrix2d;
using Eigen::Vector2d;

struct Worked {
  const char* robot;
  Matrix2d M;
  Vector2d G;
  double K, P;
};

// Corrected worked examples of the lectures at q = (0.3, 0.7), v = (0.5, -0.4), with the default
// parameters of the recipes; computed with SymPy from the Lagrangian.
std::vector<Worked> worked_examples() {
  const auto M = [](double a, double b, double c) {
    Matrix2d m;
    m << a, b, b, c;
    return m;
  };
  return {
      {"2r",
       M(6.295621249482772, 1.8778106247413862, 0.96),
       {39.16191709880742, 6.36043874467974},
       0.4881905312370693,
       20.052482728875653},
      {"rp", M(3.035, 0, 1.5), {28.584145422882695, 4.348579841021611}, 0.499375, 8.84211234341061},
      {"craig-rp",
       M(3.035, 0, 1.5),
       {28.584145422882695, 4.348579841021611},
       0.499375,
       8.84211234341061},
      {"pr",
       M(3.5, -0.6764285715995756, 0.835),
       {0, 7.878256950123873},
       0.6395857143199151,
       6.6357642873918365},
      {"pp", M(3.5, 0, 1.5), {34.335, 0}, 0.5575, 10.3005},
      {"rr",
       M(3.457810624741386, 0.7989053123706931, 0.34),
       {26.609846768145356, 3.18021937233987},
       0.29964526561853466,
       12.200531284948632},
      {"belt-leg",
       M(0.196, 0.06769798305921206, 0.049),
       {1.826403533229077, 1.3271528574783673},
       0.01488040338815759,
       -7.479917493767758},
  };
}

// The second coordinate of the belt-driven leg is the motor angle: absolute angles, as in the
// lecture.
TEST(Builtin, TextbookRobotsMatchTheWorkedExamples) {
  const Vector2d q(0.3, 0.7), v(0.5, -0.4);
  for (const Worked& example : worked_examples()) {
    SCOPED_TRACE(example.robot);
    const testing::Dynamics d = testing::dynamics(read_builtin(example.robot), q);
    // Sums of a few products of size below 40; measured below 1e-14 relative.
    EXPECT_LT(max_abs(d.M - example.M), 1e-13 * example.M.norm());
    EXPECT_LT((d.gravity_force - example.G).norm(), 1e-13 * example.G.norm());
    EXPECT_NEAR(0.5 * v.dot(d.M * v), example.K, 1e-13);
    EXPECT_NEAR(d.potential, example.P, 1e-12);
  }
}

TEST(Builtin, PendulumAndCartpoleMatchTheirClosedForms) {
  const double m = 1.2, l = 0.35, g = 9.81, angle = 0.7;
  const auto pendulum =
      testing::dynamics(read_builtin("pendulum"), VectorX<double>::Constant(1, angle));
  EXPECT_NEAR(pendulum.M(0, 0), m * l * l, 1e-15);
  EXPECT_NEAR(pendulum.gravity_force[0], m * g * l * std::sin(angle), 1e-14);
  // Hanging pole: M12 = m2 l cos q2, M22 = I2 + m2 l^2, G = (0, m2 g l sin q2).
  const double m1 = 2, m2 = 1.5, I2 = 0.1;
  const auto cart = testing::dynamics(read_builtin("cartpole"), Vector2d(0.3, angle));
  EXPECT_NEAR(cart.M(0, 0), m1 + m2, 1e-15);
  EXPECT_NEAR(cart.M(0, 1), m2 * l * std::cos(angle), 1e-15);
  EXPECT_NEAR(cart.M(1, 1), I2 + m2 * l * l, 1e-15);
  EXPECT_NEAR(cart.gravity_force[0], 0, 1e-15);
  EXPECT_NEAR(cart.gravity_force[1], m2 * g * l * std::sin(angle), 1e-14);
}

TEST(Builtin, NamesAreSortedAndEachReadsWithoutADiagnostic) {
  const std::vector<std::string> names = builtin_names();
  EXPECT_EQ(names,
            (std::vector<std::string>{"2r", "arm6", "arm7", "belt-leg", "cartpole", "craig-rp",
                                      "humanoid", "pendulum", "planar-biped", "planar-monopod",
                                      "planar-quadruped", "pp", "pr", "quadruped", "rp", "rr"}));
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    Diagnostics diagnostics;
    const auto d = parse_recipe<double>(std::string(builtin_text(name)), name, {}, diagnostics);
    for (const auto& diagnostic : diagnostics) ADD_FAILURE() << diagnostic.text();
    EXPECT_EQ(d.name, name);
    EXPECT_EQ(read_builtin("builtin:" + name).file, "builtin:" + name);
    EXPECT_NE(builtin_text(name).find("Licence: Apache-2.0"), std::string_view::npos);
    EXPECT_NE(builtin_text(name).find("Origin: "), std::string_view::npos);
  }
}

// Textbook robots have point masses and rods (limits of physical bodies); the others have volume.
TEST(Builtin, InertiasArePhysicallyConsistent) {
  const std::set<std::string> realistic = {"arm6", "arm7", "quadruped", "humanoid"};
  for (const std::string& name : builtin_names()) {
    for (const auto& link : read_builtin(name).links) {
      SCOPED_TRACE(name + " " + link.name);
      // Links between the coordinates of a planar base have no mass.
      if ((name == "belt-leg" && link.name == "pulley") || link.name.starts_with("base_")) {
        EXPECT_FALSE(link.inertial);
        continue;
      }
      ASSERT_TRUE(link.inertial);
      const auto report = inertia_report(link.inertial->inertia());
      EXPECT_TRUE(realistic.contains(name) ? report.consistent() : report.realizable())
          << report.text();
    }
  }
}

int degrees_of_freedom(const Description<double>& d) {
  int n = 0;
  for (const auto& joint : d.joints) n += joint_nv(joint.type);
  return n;
}
double total_mass(const Description<double>& d) {
  double m = 0;
  for (const auto& link : d.links) m += link.inertial ? link.inertial->mass : 0;
  return m;
}

TEST(Builtin, RealisticRobotsHaveTheirJointsMassAndReach) {
  const auto arm6 = read_builtin("arm6"), arm7 = read_builtin("arm7");
  const auto quadruped = read_builtin("quadruped"), humanoid = read_builtin("humanoid");
  EXPECT_EQ(degrees_of_freedom(arm6), 6);
  EXPECT_EQ(degrees_of_freedom(arm7), 7);
  EXPECT_EQ(degrees_of_freedom(quadruped), 6 + 12);
  EXPECT_EQ(degrees_of_freedom(humanoid), 6 + 31);
  EXPECT_NEAR(total_mass(arm6), 17.0, 1e-12);
  EXPECT_NEAR(total_mass(arm7), 17.5, 1e-12);
  EXPECT_NEAR(total_mass(quadruped), 6.9 + 4 * (0.68 + 1.15 + 0.15 + 0.04), 1e-12);
  EXPECT_NEAR(total_mass(humanoid), 34.6, 1e-12);
  // Straight up: the sum of the lengths. Arm 6 at zero is stretched along -x.
  const auto tip = testing::forward_kinematics(arm7, VectorX<double>::Zero(7)).links.back().X_WL.p;
  EXPECT_LT((tip - Vector3<double>(0, 0, 1.306)).norm(), 1e-15);
  const auto flange =
      testing::forward_kinematics(arm6, VectorX<double>::Zero(6)).links.back().X_WL.p;
  EXPECT_LT((flange - Vector3<double>(-0.817, -0.191, -0.006)).norm(), 1e-15);
  for (const char* leg : {"FL", "FR", "RL", "RR"}) {
    EXPECT_TRUE(std::any_of(quadruped.frames.begin(), quadruped.frames.end(),
                            [&](const auto& f) { return f.name == std::string(leg) + "_foot"; }));
  }
}

// Left and right are mirror images in the plane y = 0: the total first moment has no y.
TEST(Builtin, LeggedRobotsAreSymmetric) {
  for (const char* name : {"quadruped", "humanoid"}) {
    const auto d = read_builtin(name);
    Inertia<double> sum;
    for (const auto& link :
         testing::forward_kinematics(d, VectorX<double>::Zero(testing::moving_joints(d))).links)
      sum = sum + link.I_W;
    EXPECT_NEAR(sum.first_moment().y(), 0, 1e-15) << name;
    EXPECT_NEAR(sum.tensor()(0, 1), 0, 1e-15) << name;
    EXPECT_NEAR(sum.tensor()(1, 2), 0, 1e-15) << name;
  }
}

std::string error_of(std::string_view name) {
  try {
    read_builtin(name);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(Builtin, UnknownNamesGiveTheNearest) {
  EXPECT_EQ(error_of("builtin:arm77"),
            "builtin_text: no robot 'builtin:arm77' (closest: 'builtin:arm7')");
  EXPECT_EQ(error_of("builtin:elephant"),
            "builtin_text: no robot 'builtin:elephant' (there are: 2r, arm6, arm7, belt-leg, "
            "cartpole, craig-rp, humanoid, pendulum, planar-biped, planar-monopod, "
            "planar-quadruped, pp, pr, quadruped, rp, rr)");
  EXPECT_TRUE(is_builtin("builtin:x"));
  EXPECT_FALSE(is_builtin("x/builtin:y"));
}

}  // namespace
}  // namespace limb
