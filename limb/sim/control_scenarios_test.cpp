// The scenarios of docs/scenarios that show controllers: each does what its first line says.
#include <gtest/gtest.h>

#include "limb/dynamics/frames.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/sim/scenario_run.hpp"

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

TEST(ControlScenarios, PidLearnsTheWeight) {
  const RunSummary r = run_scenario(scenario("pid"), nullptr);
  EXPECT_EQ(r.failure, "");
  EXPECT_LT(r.target_error, 1e-3);
  EXPECT_GT(r.saturated_periods, 10);  // of the begin
  EXPECT_LT(r.saturated_periods, r.control_periods / 2);
  EXPECT_LE(r.peak_torque[0], 70);
}

TEST(ControlScenarios, JointImpedanceComesBack) {
  const RunSummary r = run_scenario(scenario("joint_impedance"), nullptr);
  EXPECT_EQ(r.failure, "");
  EXPECT_LT(r.target_error, 0.05);
  EXPECT_EQ(r.saturated_periods, 0);
}

TEST(ControlScenarios, CartesianImpedanceLeansOnTheWall) {
  const Scenario s = scenario("cartesian_impedance");
  const RunSummary r = run_scenario(s, nullptr);
  EXPECT_EQ(r.failure, "");
  // Spring against spring: 400 (goal - y) = 20000 (y - wall).
  const double goal = tool_at(s, s.q).y() + 0.1, wall = s.walls[0].point.y();
  EXPECT_NEAR(tool_at(s, r.q).y(), (400 * goal + 20000 * wall) / 20400, 1e-4);
  EXPECT_NEAR(tool_at(s, r.q).x(), tool_at(s, s.q).x(), 1e-4);
}

TEST(ControlScenarios, OperationalSpaceArrives) {
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
  // Friction of 0.4 N pulls at it.
  EXPECT_LT((tool_at(s, r.q) - goal).head<2>().norm(), 5e-3);
}

TEST(ControlScenarios, LqrHoldsThePoleUp) {
  const RunSummary r = run_scenario(scenario("lqr"), nullptr);
  EXPECT_EQ(r.failure, "");
  EXPECT_LT(r.target_error, 2e-3);
}

TEST(ControlScenarios, MistakesAreNamed) {
  const auto mistake = [](const std::string& text) {
    return message([&] { parse_scenario("simulate", text, "s.toml"); });
  };
  const std::string head = "model = \"builtin:arm7\"\n[controller]\ntype = \"hybrid-force\"\n";
  EXPECT_EQ(mistake(head + "frame = \"tol\"\nforce = [0, 0, 1]\n"),
            "simulate: s.toml:4: controller: no link or frame is named 'tol' (closest: 'tool')");
  EXPECT_NE(mistake(head + "frame = \"tool\"\n").find("controller"), std::string::npos);
  EXPECT_EQ(mistake(head + "frame = \"tool\"\nforce = [0, 0, 1]\nrows = [\"q\"]\n"),
            "simulate: s.toml:6: controller: rows has 'q', expected some of x, y, z, rx, ry, rz");
  EXPECT_NE(mistake("model = \"builtin:arm7\"\n[[wall]]\nframe = \"tool\"\n").find("normal"),
            std::string::npos);
}

}  // namespace
}  // namespace limb
