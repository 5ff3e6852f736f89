// The scenarios of docs/scenarios on feet, on rigid ground: each does what its first line says, and
// what its quadratic programs promise holds at every step.
#include <gtest/gtest.h>

#include <numbers>

#include "limb/math/quaternion.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/sim/legged_feet.hpp"
#include "limb/sim/scenario_run.hpp"
#include "limb/sim/testing/log_keeper.hpp"

namespace limb {
namespace {

using testing::message;

class LeggedScenarios : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Qp::available()) GTEST_SKIP() << "limb was built without a solver of quadratic programs";
  }
};

Scenario scenario(const std::string& name) {
  Scenario s = read_scenario("test", std::string(LIMB_SCENARIOS) + "/" + name + ".toml");
  s.log_period = s.simulation.control_period > 0 ? s.simulation.control_period : s.simulation.step;
  return s;
}

/// The worst of a run, over every control period.
struct Seen {
  RunSummary summary;
  double farthest = 0, largest_tilt = 0;      ///< of the base, m, rad
  double outside_ground_cone = 0, share = 0;  ///< of real forces, N; largest share of a torque
  double center_error = 0, lowest = 1e9, rise = 0;  ///< of the mass centre, m
  VectorX<double> q;                                ///< at the end
  long rows = 0;
};

Seen run(const Scenario& s, const std::function<void(double, const VectorX<double>&)>& also = {}) {
  Seen seen;
  testing::LogKeeper log(log_topics(s));
  log.on("state", [&](double t, const VectorX<double>& x) {
    ++seen.rows;
    seen.farthest = std::max(seen.farthest, (x.head<3>() - s.q.head<3>()).norm());
    const Matrix3<double> R = to_matrix(quat_xyzw(x[3], x[4], x[5], x[6]));
    seen.largest_tilt = std::max(seen.largest_tilt, std::acos(std::min(1.0, R(2, 2))));
    if (also) also(t, x);
  });
  log.on("contact", [&](double, const VectorX<double>& x) {
    for (Eigen::Index i = 0; i + 5 < x.size(); i += 6) {
      seen.outside_ground_cone = std::max(seen.outside_ground_cone, x[i + 4] - x[i + 5]);
    }
  });
  log.on("effort", [&](double, const VectorX<double>& x) {
    seen.share = std::max(seen.share, x.lpNorm<Eigen::Infinity>());
  });
  log.on("mass_center", [&](double, const VectorX<double>& x) {
    const Vector3<double> error(x[1] - x[0], x[3] - x[2], x[5] - x[4]);
    seen.center_error = std::max(seen.center_error, error.norm());
    seen.lowest = std::min(seen.lowest, x[5]);
  });
  seen.summary = run_scenario(s, &log);
  seen.q = seen.summary.q;
  return seen;
}

/// Every program solved, forces and torques where they must be, but for the solver's tolerance,
/// which counts in weights.
void expect_kept(const Scenario& s, const Seen& seen) {
  EXPECT_EQ(seen.summary.failure, "");
  ASSERT_NE(seen.summary.programs, nullptr);
  const ProgramWatch& p = *seen.summary.programs;
  const double allowed = 2 * QpOptions{}.tolerance * 9.81 * s.model.total_mass();
  EXPECT_EQ(p.steps, seen.summary.control_periods);
  EXPECT_GE(seen.rows, p.steps);
  EXPECT_EQ(p.fall_backs, 0);
  EXPECT_EQ(p.unsolved, 0);
  EXPECT_EQ(p.predictions_unsolved, 0);
  EXPECT_LE(p.residuals.stationarity, 1.1 * QpOptions{}.tolerance);
  EXPECT_LE(p.residuals.primal, 1.1 * QpOptions{}.tolerance);
  EXPECT_LE(p.outside_cone, allowed);
  EXPECT_LE(p.over_limit, allowed);
  EXPECT_LE(seen.share, 1);
  // The exact cone of the simulation, to rounding of forces of some hundred N.
  EXPECT_LE(seen.outside_ground_cone, 1e-9);
}

TEST_F(LeggedScenarios, QuadrupedHoldsThirtyNewtonSeconds) {
  const Scenario s = scenario("quadruped_stand_pushes");
  double impulse = 0;
  for (const auto& push : s.pushes) impulse += (push.end - push.begin) * push.F.f.norm();
  EXPECT_NEAR(impulse, 30, 1e-9);
  const Seen seen = run(s);
  expect_kept(s, seen);
  std::printf("pushes: base at most %.1f mm off, tilted by %.4f rad; at the end %.2f mm\n",
              1e3 * seen.farthest, seen.largest_tilt,
              1e3 * (seen.q.head<3>() - s.q.head<3>()).norm());
  EXPECT_LT(seen.farthest, 0.03);
  EXPECT_GT(seen.farthest, 0.005);  // the pushes are felt
  EXPECT_LT(seen.largest_tilt, 0.05);
  // Rigid ground: it comes back.
  EXPECT_LT((seen.q.head<3>() - s.q.head<3>()).norm(), 2e-3);
  EXPECT_LT(seen.summary.v.norm(), 1e-3);
}

TEST_F(LeggedScenarios, HumanoidSquatsAndTakesPushes) {
  const Scenario s = scenario("humanoid_squat");
  ASSERT_EQ(s.controller.legged.feet.size(), 2u);
  EXPECT_EQ(s.controller.legged.feet[0].points.size(), 4u);
  const Seen seen = run(s);
  expect_kept(s, seen);
  const Vector3<double>& end = seen.summary.programs->mass_center;
  std::printf(
      "squat: mass centre at most %.1f mm off its way, down by %.1f mm; pelvis tilted by %.3f "
      "rad\n",
      1e3 * seen.center_error, 1e3 * (end.z() - seen.lowest), seen.largest_tilt);
  EXPECT_GT(end.z() - seen.lowest, 0.095);
  EXPECT_LT(seen.center_error, 0.02);
  EXPECT_LT(seen.largest_tilt, 0.25);  // the pelvis gives way to the push at the torso
  EXPECT_LT((end - seen.summary.programs->wanted).norm(), 2e-3);
  EXPECT_LT(seen.summary.v.norm(), 5e-3);
}

TEST_F(LeggedScenarios, QuadrupedTrots) {
  const Scenario s = scenario("quadruped_trot");
  Vector3<double> begin, end, stop;
  double heading = 0;
  const Seen seen = run(s, [&](double t, const VectorX<double>& x) {
    if (t < 2) begin = x.head<3>();
    if (t < 5) end = x.head<3>();
    if (t < 7.5) stop = x.head<3>();
    heading = 2 * std::atan2(x[5], x[6]);
  });
  expect_kept(s, seen);
  const Vector3<double> v = (end - begin) / 3;
  std::printf("trot: (%.4f, %.4f) m/s, turned by %.3f rad\n", v.x(), v.y(), heading);
  EXPECT_NEAR(v.x(), 0.5, 0.025);  // 5 %
  EXPECT_NEAR(v.y(), 0, 0.025);
  // 0.5 rad/s for 2 s, with ramps of half a second at both ends.
  EXPECT_NEAR(heading, 1, 0.1);
  EXPECT_LT(seen.largest_tilt, 0.1);
  // It stands in the end.
  EXPECT_LT((seen.q.head<3>() - stop).norm(), 0.05);
  EXPECT_NEAR(seen.q[2], s.q[2], 0.01);
}

constexpr const char* kQuadruped = R"(model = "builtin:quadruped"
[initial]
q = [0, 0, 0.3146, 0, 0, 0, 1,  0, 0.8, -1.6,  0, 0.8, -1.6,  0, 0.8, -1.6,  0, 0.8, -1.6]
[ground]
)";

Scenario parse(const std::string& text) {
  return parse_scenario("test", text, "s.toml");
}

// Feet are read before a program is made, so this needs no solver.
TEST(LeggedFeet, AreTakenFromTheModel) {
  const Scenario s = parse(std::string(kQuadruped) + "[controller]\ntype = \"balance\"\n");
  const std::vector<Foot>& feet = s.controller.legged.feet;
  ASSERT_EQ(feet.size(), 4u);
  const char* names[] = {"FL_calf", "FR_calf", "RL_calf", "RR_calf"};
  Kinematics<double> kinematics(s.model);
  forward_kinematics(s.model, s.q, kinematics);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(s.model.frame(feet[i].frame).name, names[i]);
    ASSERT_EQ(feet[i].points.size(), 1u);
    const Vector3<double> p = frame_pose(s.model, kinematics, feet[i].frame) * feet[i].points[0];
    EXPECT_NEAR(p.z(), 0, 1e-4);  // the lowest point of the ball
  }
  // By name, in the order that is asked for, the point the same.
  const Scenario named =
      parse(std::string(kQuadruped) +
            "[controller]\ntype = \"balance\"\nfeet = [\"RR_foot\", \"FL_foot\"]\n");
  ASSERT_EQ(named.controller.legged.feet.size(), 2u);
  EXPECT_EQ(s.model.frame(named.controller.legged.feet[0].frame).name, "RR_foot");
  const Vector3<double> p = frame_pose(s.model, kinematics, named.controller.legged.feet[1].frame) *
                            named.controller.legged.feet[1].points[0];
  EXPECT_LT((p - frame_pose(s.model, kinematics, feet[0].frame) * feet[0].points[0]).norm(), 1e-12);
}

TEST(LeggedFeet, MistakesAreNamed) {
  const std::string head = kQuadruped;
  const auto mistake = [](const std::string& text) { return message([&] { parse(text); }); };
  EXPECT_EQ(mistake(head + "[controller]\ntype = \"balance\"\nfeet = [\"FL_fot\"]\n"),
            "test: s.toml:7: controller: no link or frame is named 'FL_fot' (closest: 'FL_foot')");
  EXPECT_NE(mistake(head + "[controller]\ntype = \"balance\"\nfricton = 1\n")
                .find("(closest: 'friction')"),
            std::string::npos);
  EXPECT_NE(mistake(head + "[controller]\ntype = \"balanc\"\n").find("balance"), std::string::npos);
  // Keys of other kinds are not read, and that is said.
  EXPECT_NE(mistake(head + "[controller]\ntype = \"balance\"\nkp = 3\n").find("kp"),
            std::string::npos);
  EXPECT_NE(mistake(head + "[controller]\ntype = \"pd\"\ngait = \"trot\"\n").find("gait"),
            std::string::npos);
  EXPECT_EQ(mistake("model = \"builtin:quadruped\"\n[controller]\ntype = \"locomotion\"\n"),
            "test: s.toml:3: controller: locomotion needs a [ground] to stand on");
  EXPECT_EQ(mistake("model = \"builtin:arm7\"\n[ground]\n[controller]\ntype = \"balance\"\n"),
            "test: s.toml:4: controller: balance needs a robot on a free base (base = \"free\")");
  EXPECT_NE(mistake(head + "[controller]\ntype = \"locomotion\"\n").find("[[controller.command]]"),
            std::string::npos);
  const std::string walk = head + "[controller]\ntype = \"locomotion\"\n[[controller.command]]\n";
  EXPECT_NE(mistake(walk + "foward = 1\n").find("(closest: 'forward')"), std::string::npos);
  EXPECT_NE(mistake(walk + "gait = \"trott\"\n").find("trot, walk, stand"), std::string::npos);
  EXPECT_EQ(
      mistake(walk + "begin = 2\n[[controller.command]]\nbegin = 1\n"),
      "test: s.toml:9: [[controller.command]]: begin is 1, expected 2 or later: commands stand "
      "in the order of time");
  EXPECT_EQ(mistake(head + "[controller]\ntype = \"balance\"\n[[controller.move]]\nbegin = 2\n"
                           "end = 1\n"),
            "test: s.toml:7: [[controller.move]]: end is 1, expected > 2, its begin");
}

TEST(LeggedWithoutSolver, SaysSo) {
  if (Qp::available()) GTEST_SKIP() << "limb was built with a solver of quadratic programs";
  EXPECT_NE(message([&] {
              run_scenario(scenario("quadruped_trot"), nullptr);
            }).find("without a solver of quadratic programs"),
            std::string::npos);
}

}  // namespace
}  // namespace limb
