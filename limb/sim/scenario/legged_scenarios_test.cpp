// The scenarios of docs/scenarios with legged robots, on rigid ground: each does what its first
// line says, and its quadratic programs satisfy their constraints at every step.
#include <gtest/gtest.h>

#include <numbers>

#include "limb/base/testing/worst.hpp"
#include "limb/math/quaternion.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/max_abs.hpp"
#include "limb/sim/scenario/scenario_run.hpp"
#include "limb/sim/testing/log_observer.hpp"
#include "limb/sim/world/legged_feet.hpp"

namespace limb {
namespace {

using testing::message;

class LeggedScenarios : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Qp::available()) GTEST_SKIP() << "limb was built without a QP solver";
  }
};

Scenario scenario(const std::string& name) {
  Scenario s = read_scenario("test", std::string(LIMB_SCENARIOS) + "/" + name + ".toml");
  s.log_period = s.simulation.control_period > 0 ? s.simulation.control_period : s.simulation.step;
  return s;
}

/// Maxima of a run over all control periods.
struct RunMaxima {
  RunSummary summary;
  double farthest = 0, largest_tilt = 0;      ///< of the base, m, rad
  double outside_ground_cone = 0, share = 0;  ///< of contact forces, N; largest torque over limit
  double center_error = 0;                    ///< of the centre of mass, m
  Least lowest;                               ///< height of the centre of mass, m
  VectorX<double> q;                          ///< at the end
  long rows = 0;
};

RunMaxima run(const Scenario& s,
              const std::function<void(double, const VectorX<double>&)>& also = {}) {
  RunMaxima maxima;
  testing::LogObserver log(log_topics(s));
  log.on("state", [&](double t, const VectorX<double>& x) {
    ++maxima.rows;
    maxima.farthest = worse(maxima.farthest, (x.head<3>() - s.q.head<3>()).norm());
    const Matrix3<double> R = to_matrix(quat_xyzw(x[3], x[4], x[5], x[6]));
    maxima.largest_tilt = worse(maxima.largest_tilt, std::acos(std::min(R(2, 2), 1.0)));
    if (also) also(t, x);
  });
  log.on("contact", [&](double, const VectorX<double>& x) {
    for (Eigen::Index i = 0; i + 5 < x.size(); i += 6) {
      maxima.outside_ground_cone = worse(maxima.outside_ground_cone, x[i + 4] - x[i + 5]);
    }
  });
  log.on("effort",
         [&](double, const VectorX<double>& x) { maxima.share = worse(maxima.share, max_abs(x)); });
  log.on("mass_center", [&](double, const VectorX<double>& x) {
    const Vector3<double> error(x[1] - x[0], x[3] - x[2], x[5] - x[4]);
    maxima.center_error = worse(maxima.center_error, error.norm());
    maxima.lowest.add(x[5]);
  });
  maxima.summary = run_scenario(s, &log);
  maxima.q = maxima.summary.q;
  return maxima;
}

/// Every program is solved, and forces and torques satisfy their bounds to the tolerance of the
/// solver, which is relative to the weight.
void expect_constraints_satisfied(const Scenario& s, const RunMaxima& maxima) {
  EXPECT_EQ(maxima.summary.failure, "");
  ASSERT_NE(maxima.summary.programs, nullptr);
  const QpStatistics& p = *maxima.summary.programs;
  const double allowed = 2 * QpOptions{}.tolerance * 9.81 * s.model.total_mass();
  EXPECT_EQ(p.steps, maxima.summary.control_periods);
  EXPECT_GE(maxima.rows, p.steps);
  EXPECT_EQ(p.fall_backs, 0);
  EXPECT_EQ(p.unsolved, 0);
  EXPECT_EQ(p.predictions_unsolved, 0);
  EXPECT_LE(p.residuals.stationarity, 1.1 * QpOptions{}.tolerance);
  EXPECT_LE(p.residuals.primal, 1.1 * QpOptions{}.tolerance);
  EXPECT_LE(p.outside_cone, allowed);
  EXPECT_LE(p.over_limit, allowed);
  EXPECT_LE(maxima.share, 1);
  // The exact cone of the simulation, to rounding of forces of some hundred N.
  EXPECT_LE(maxima.outside_ground_cone, 1e-9);
}

TEST_F(LeggedScenarios, QuadrupedWithstandsThirtyNewtonSeconds) {
  const Scenario s = scenario("quadruped_stand_pushes");
  double impulse = 0;
  for (const auto& push : s.pushes) impulse += (push.end - push.begin) * push.F.f.norm();
  EXPECT_NEAR(impulse, 30, 1e-9);
  const RunMaxima maxima = run(s);
  expect_constraints_satisfied(s, maxima);
  std::printf("pushes: base moved by at most %.1f mm, tilted by %.4f rad; at the end %.2f mm\n",
              1e3 * maxima.farthest, maxima.largest_tilt,
              1e3 * (maxima.q.head<3>() - s.q.head<3>()).norm());
  EXPECT_LT(maxima.farthest, 0.03);
  EXPECT_GT(maxima.farthest, 0.005);  // the pushes have an effect
  EXPECT_LT(maxima.largest_tilt, 0.05);
  // On rigid ground it returns.
  EXPECT_LT((maxima.q.head<3>() - s.q.head<3>()).norm(), 2e-3);
  EXPECT_LT(maxima.summary.v.norm(), 1e-3);
}

TEST_F(LeggedScenarios, HumanoidSquatsAndWithstandsPushes) {
  const Scenario s = scenario("humanoid_squat");
  ASSERT_EQ(s.controller.legged.feet.size(), 2u);
  EXPECT_EQ(s.controller.legged.feet[0].points.size(), 4u);
  const RunMaxima maxima = run(s);
  expect_constraints_satisfied(s, maxima);
  const Vector3<double>& end = maxima.summary.programs->mass_center;
  std::printf(
      "squat: error of the centre of mass at most %.1f mm, down by %.1f mm; pelvis tilted by %.3f "
      "rad\n",
      1e3 * maxima.center_error, 1e3 * (end.z() - maxima.lowest.value()), maxima.largest_tilt);
  EXPECT_GT(end.z() - maxima.lowest.value(), 0.095);
  EXPECT_LT(maxima.center_error, 0.02);
  EXPECT_LT(maxima.largest_tilt, 0.25);  // the pelvis yields to the push on the torso
  EXPECT_LT((end - maxima.summary.programs->desired_mass_center).norm(), 2e-3);
  EXPECT_LT(maxima.summary.v.norm(), 5e-3);
}

TEST_F(LeggedScenarios, QuadrupedTrots) {
  const Scenario s = scenario("quadruped_trot");
  Vector3<double> start, end, stop;
  double heading = 0;
  const RunMaxima maxima = run(s, [&](double t, const VectorX<double>& x) {
    if (t < 2) start = x.head<3>();
    if (t < 5) end = x.head<3>();
    if (t < 7.5) stop = x.head<3>();
    heading = 2 * std::atan2(x[5], x[6]);
  });
  expect_constraints_satisfied(s, maxima);
  const Vector3<double> v = (end - start) / 3;
  std::printf("trot: (%.4f, %.4f) m/s, turned by %.3f rad\n", v.x(), v.y(), heading);
  EXPECT_NEAR(v.x(), 0.5, 0.025);  // 5 %
  EXPECT_NEAR(v.y(), 0, 0.025);
  // 0.5 rad/s for 2 s, with ramps of half a second at both ends.
  EXPECT_NEAR(heading, 1, 0.1);
  EXPECT_LT(maxima.largest_tilt, 0.1);
  // It stands at the end.
  EXPECT_LT((maxima.q.head<3>() - stop).norm(), 0.05);
  EXPECT_NEAR(maxima.q[2], s.q[2], 0.01);
}

constexpr const char* kQuadruped = R"(model = "builtin:quadruped"
[initial]
q = [0, 0, 0.3146, 0, 0, 0, 1,  0, 0.8, -1.6,  0, 0.8, -1.6,  0, 0.8, -1.6,  0, 0.8, -1.6]
[ground]
)";

Scenario parse(const std::string& text) {
  return parse_scenario("test", text, "s.toml");
}

// Feet are found before a program is made, so this needs no solver.
TEST(LeggedFeet, AreFoundInTheModel) {
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
    EXPECT_NEAR(p.z(), 0, 1e-4);  // the lowest point of the sphere
  }
  // By name, in the given order, with the same points.
  const Scenario named =
      parse(std::string(kQuadruped) +
            "[controller]\ntype = \"balance\"\nfeet = [\"RR_foot\", \"FL_foot\"]\n");
  ASSERT_EQ(named.controller.legged.feet.size(), 2u);
  EXPECT_EQ(s.model.frame(named.controller.legged.feet[0].frame).name, "RR_foot");
  const Vector3<double> p = frame_pose(s.model, kinematics, named.controller.legged.feet[1].frame) *
                            named.controller.legged.feet[1].points[0];
  EXPECT_LT((p - frame_pose(s.model, kinematics, feet[0].frame) * feet[0].points[0]).norm(), 1e-12);
}

TEST(LeggedFeet, ErrorsAreReported) {
  const std::string head = kQuadruped;
  const auto error_of = [](const std::string& text) { return message([&] { parse(text); }); };
  EXPECT_EQ(error_of(head + "[controller]\ntype = \"balance\"\nfeet = [\"FL_fot\"]\n"),
            "test: s.toml:7: controller: no link or frame is named 'FL_fot' (closest: 'FL_foot')");
  EXPECT_NE(error_of(head + "[controller]\ntype = \"balance\"\nfricton = 1\n")
                .find("(closest: 'friction')"),
            std::string::npos);
  EXPECT_NE(error_of(head + "[controller]\ntype = \"balanc\"\n").find("balance"),
            std::string::npos);
  // Keys of other kinds are errors.
  EXPECT_NE(error_of(head + "[controller]\ntype = \"balance\"\nkp = 3\n").find("kp"),
            std::string::npos);
  EXPECT_NE(error_of(head + "[controller]\ntype = \"pd\"\ngait = \"trot\"\n").find("gait"),
            std::string::npos);
  EXPECT_EQ(error_of("model = \"builtin:quadruped\"\n[controller]\ntype = \"locomotion\"\n"),
            "test: s.toml:3: controller: locomotion needs a [ground] to stand on");
  EXPECT_EQ(error_of("model = \"builtin:arm7\"\n[ground]\n[controller]\ntype = \"balance\"\n"),
            "test: s.toml:4: controller: balance needs a robot on a free base (base = \"free\")");
  EXPECT_NE(error_of(head + "[controller]\ntype = \"locomotion\"\n").find("[[controller.command]]"),
            std::string::npos);
  const std::string walk = head + "[controller]\ntype = \"locomotion\"\n[[controller.command]]\n";
  EXPECT_NE(error_of(walk + "foward = 1\n").find("(closest: 'forward')"), std::string::npos);
  EXPECT_NE(error_of(walk + "gait = \"trott\"\n").find("trot, walk, stand"), std::string::npos);
  EXPECT_EQ(
      error_of(walk + "begin = 2\n[[controller.command]]\nbegin = 1\n"),
      "test: s.toml:9: [[controller.command]]: begin is 1, expected 2 or later: commands must "
      "be in order of time");
  EXPECT_EQ(error_of(head + "[controller]\ntype = \"balance\"\n[[controller.move]]\nbegin = 2\n"
                            "end = 1\n"),
            "test: s.toml:7: [[controller.move]]: end is 1, expected > 2, its 'begin'");
}

TEST(LeggedWithoutSolver, IsAnError) {
  if (Qp::available()) GTEST_SKIP() << "limb was built with a QP solver";
  EXPECT_NE(message([&] {
              run_scenario(scenario("quadruped_trot"), nullptr);
            }).find("without a solver of quadratic programs"),
            std::string::npos);
}

}  // namespace
}  // namespace limb
