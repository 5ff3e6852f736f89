// The scenarios of docs/scenarios with controllers: each does what its first line says.
#include <gtest/gtest.h>

#include <numbers>

#include "limb/base/testing/worst.hpp"
#include "limb/control/joint/reference_path.hpp"
#include "limb/dynamics/kinematics/frames.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/max_abs.hpp"
#include "limb/sim/scenario/scenario_run.hpp"
#include "limb/sim/testing/log_observer.hpp"

namespace limb {
namespace {

using testing::message;

Scenario scenario(const std::string& name) {
  return read_scenario("test", std::string(LIMB_SCENARIOS) + "/" + name + ".toml");
}

Vector3<double> tool_at(const Scenario& s, const VectorX<double>& q) {
  Kinematics<double> k(s.model);
  forward_kinematics(s.model, q, k);
  return frame_pose(s.model, k, s.model.find_frame("tool")).p;
}

// Static equilibrium: kp (target - q) = g(q).
TEST(ControlScenarios, PdHasASteadyStateError) {
  const Scenario s = scenario("pd");
  const RunSummary r = run_scenario(s, nullptr);
  EXPECT_EQ(r.failure, "");
  Workspace<double> work(s.model);
  VectorX<double> g(7);
  gravity(s.model, work, r.q, g);
  const VectorX<double> springs = s.controller.kp.cwiseProduct(s.controller.target - r.q);
  EXPECT_LT((springs - g).norm(), 1e-6 * g.norm());  // residual motion after 3 s
  EXPECT_GT(r.target_error, 0.05);
}

TEST(ControlScenarios, GravityCompensationReachesItsTarget) {
  const RunSummary r = run_scenario(scenario("gravity"), nullptr);
  EXPECT_EQ(r.failure, "");
  EXPECT_LT(r.target_error, 1e-5);
  EXPECT_EQ(r.saturated_periods, 0);
}

// Torques are held for 0.5 ms: the error is of the order of that times the change of acceleration.
TEST(ControlScenarios, ComputedTorqueTracks) {
  Scenario s = scenario("computed_torque");
  s.log_period = s.simulation.step;
  const JointPath path(s.model, {s.q, s.controller.target}, {s.controller.move_time});
  JointReference reference(s.model, s.q);
  testing::LogObserver log(log_topics(s));
  Worst error;
  log.on("state", [&](double t, const VectorX<double>& x) {
    path.sample(t, reference);
    error.add(max_abs(x.head<7>() - reference.q));
  });
  const RunSummary r = run_scenario(s, &log);
  EXPECT_EQ(r.failure, "");
  EXPECT_LT(error.value(), 5e-4);
  EXPECT_LT(r.target_error, 1e-6);
  // Half of the step, about half of the error.
  const double coarse = error.value();
  error = {};
  s.simulation.step /= 2;
  s.log_period = s.simulation.step;
  run_scenario(s, &log);
  EXPECT_LT(error.value(), 0.6 * coarse);
  std::printf("computed torque: error at most %.1e rad, %.1e with half the step\n", coarse,
              error.value());
}

// m x'' = F sin(w t) from rest: x = F / (m w) (t - sin(w t) / w).
TEST(ControlScenarios, OpenLoopDrivesASlider) {
  const Scenario s = scenario("open_loop");
  const RunSummary r = run_scenario(s, nullptr);
  const double w = 2 * std::numbers::pi;
  EXPECT_NEAR(r.q[0], 0, 1e-9);
  EXPECT_NEAR(r.q[1], 4 / (1.5 * w) * 2, 2e-3);  // torques are held for 1 ms
  EXPECT_NEAR(r.v[1], 0, 1e-3);
}

TEST(ControlScenarios, PidRemovesTheSteadyStateError) {
  const RunSummary r = run_scenario(scenario("pid"), nullptr);
  EXPECT_EQ(r.failure, "");
  EXPECT_LT(r.target_error, 1e-3);
  EXPECT_GT(r.saturated_periods, 10);  // at the start
  EXPECT_LT(r.saturated_periods, r.control_periods / 2);
  EXPECT_LE(r.peak_torque[0], 70);
}

TEST(ControlScenarios, JointImpedanceReturns) {
  const RunSummary r = run_scenario(scenario("joint_impedance"), nullptr);
  EXPECT_EQ(r.failure, "");
  EXPECT_LT(r.target_error, 0.05);
  EXPECT_EQ(r.saturated_periods, 0);
}

TEST(ControlScenarios, CartesianImpedancePressesAgainstTheWall) {
  const Scenario s = scenario("cartesian_impedance");
  const RunSummary r = run_scenario(s, nullptr);
  EXPECT_EQ(r.failure, "");
  // Spring against spring: 400 (goal - y) = 20000 (y - wall).
  const double goal = tool_at(s, s.q).y() + 0.1, wall = s.walls[0].point.y();
  EXPECT_NEAR(tool_at(s, r.q).y(), (400 * goal + 20000 * wall) / 20400, 1e-4);
  EXPECT_NEAR(tool_at(s, r.q).x(), tool_at(s, s.q).x(), 1e-4);
}

TEST(ControlScenarios, OperationalSpaceReachesItsTarget) {
  const Scenario s = scenario("operational_space");
  const RunSummary r = run_scenario(s, nullptr);
  EXPECT_EQ(r.failure, "");
  EXPECT_LT((tool_at(s, r.q) - tool_at(s, s.controller.target)).norm(), 1e-3);
}

TEST(ControlScenarios, HybridForcePresses) {
  const Scenario s = scenario("hybrid_force");
  const RunSummary r = run_scenario(s, nullptr);
  EXPECT_EQ(r.failure, "");
  EXPECT_NEAR((s.walls[0].point - tool_at(s, r.q)).z() * s.walls[0].stiffness, 20, 0.2);
  const Vector3<double> goal = tool_at(s, s.q) + Vector3<double>(0.05, 0.08, 0);
  // With a friction of 0.4 N.
  EXPECT_LT((tool_at(s, r.q) - goal).head<2>().norm(), 5e-3);
}

TEST(ControlScenarios, LqrBalancesThePole) {
  const RunSummary r = run_scenario(scenario("lqr"), nullptr);
  EXPECT_EQ(r.failure, "");
  EXPECT_LT(r.target_error, 2e-3);
}

TEST(ControlScenarios, ErrorsAreReported) {
  const auto error_of = [](const std::string& text) {
    return message([&] { parse_scenario("simulate", text, "s.toml"); });
  };
  const std::string head = "model = \"builtin:arm7\"\n[controller]\ntype = \"hybrid-force\"\n";
  EXPECT_EQ(error_of(head + "frame = \"tol\"\nforce = [0, 0, 1]\n"),
            "simulate: s.toml:4: controller: no link or frame is named 'tol' (closest: 'tool')");
  EXPECT_NE(error_of(head + "frame = \"tool\"\n").find("controller"), std::string::npos);
  EXPECT_EQ(error_of(head + "frame = \"tool\"\nforce = [0, 0, 1]\nrows = [\"q\"]\n"),
            "simulate: s.toml:6: controller: rows has 'q', expected some of x, y, z, rx, ry, rz");
  EXPECT_NE(error_of("model = \"builtin:arm7\"\n[[wall]]\nframe = \"tool\"\n").find("normal"),
            std::string::npos);
}

}  // namespace
}  // namespace limb
