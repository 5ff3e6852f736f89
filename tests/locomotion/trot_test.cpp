// Quadrupeds that walk and trot, with the constraints checked at every step. Long runs over many
// seeds are in bench/control_bench.cpp.
#include <gtest/gtest.h>

#include "limb/model/testing/shared.hpp"
#include "tests/locomotion/expect_within_tolerance.hpp"
#include "tests/locomotion/simulated_walk.hpp"

namespace limb {
namespace {

class Trot : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Qp::available()) GTEST_SKIP() << "limb was built without a solver of quadratic programs";
  }
};

void expect_walked(const testing::WalkResult& result, const testing::WalkSetup& setup) {
  EXPECT_FALSE(result.fell) << "at " << result.t << " s";
  EXPECT_GT(result.t, setup.until - 0.1);
  testing::expect_within_tolerance(result.worst, result.weight);
  EXPECT_EQ(result.mpc_unsolved, 0);
  EXPECT_LE(result.mpc.stationarity, 1.1 * setup.options.mpc.qp.tolerance);
  EXPECT_LE(result.mpc.primal, 1.1 * setup.options.mpc.qp.tolerance);
  EXPECT_GT(result.lowest.value(), 0.9);
  EXPECT_LT(result.largest_tilt, 0.1);
}

TEST_F(Trot, QuadrupedAtHalfAMetrePerSecond) {
  const testing::LeggedRobot robot = testing::quadruped();
  for (const int seed : {1, 2}) {
    testing::WalkSetup setup;
    setup.command.forward = 0.5;
    setup.seed = seed;
    const testing::WalkResult result = testing::walk(robot, setup);
    expect_walked(result, setup);
    EXPECT_NEAR(result.mean_velocity.x(), 0.5, 0.075);  // 15 %
    EXPECT_NEAR(result.mean_velocity.y(), 0, 0.05);
  }
}

TEST_F(Trot, QuadrupedInACurve) {
  testing::WalkSetup setup;
  setup.command = {0.3, 0, 0.5};
  const testing::WalkResult result = testing::walk(testing::quadruped(), setup);
  expect_walked(result, setup);
  EXPECT_NEAR(result.mean_velocity.x(), 0.3, 0.045);
  EXPECT_NEAR(result.yaw_change / result.time, 0.5, 0.05);
}

TEST_F(Trot, QuadrupedWalksFootByFoot) {
  testing::WalkSetup setup;
  setup.gait = Gait::walk();
  setup.command.forward = 0.2;
  const testing::WalkResult result = testing::walk(testing::quadruped(), setup);
  expect_walked(result, setup);
  EXPECT_NEAR(result.mean_velocity.x(), 0.2, 0.03);
}

// A push of 4 N s to the side, a quarter of a metre per second, in the middle of a trot.
TEST_F(Trot, QuadrupedIsPushed) {
  const testing::LeggedRobot robot = testing::quadruped();
  testing::WalkSetup setup;
  setup.command.forward = 0.3;
  setup.pushes = {testing::push(robot.model.find_frame("trunk"), 2, {0, 4, 0})};
  const testing::WalkResult result = testing::walk(robot, setup);
  EXPECT_FALSE(result.fell);
  EXPECT_EQ(result.worst.fall_backs, 0);
  EXPECT_NEAR(result.mean_velocity.x(), 0.3, 0.06);
}

// Blocks of 0.25 m by 0.25 m, each up to 2 cm higher or lower.
TEST_F(Trot, QuadrupedOverBlocks) {
  testing::WalkSetup setup;
  setup.command.forward = 0.3;
  setup.ground.height = testing::blocks(0.25, 0.02, 3);
  setup.until = 6;
  const testing::WalkResult result = testing::walk(testing::quadruped(), setup);
  EXPECT_FALSE(result.fell) << "at " << result.t << " s";
  EXPECT_EQ(result.worst.fall_backs, 0);
  EXPECT_NEAR(result.mean_velocity.x(), 0.3, 0.06);
}

// The same options for real robots of 15, 30 and 85 kg, without tuning for any of them.
TEST_F(Trot, RealQuadrupeds) {
  const auto shared = testing::shared_folder();
  if (shared.empty()) GTEST_SKIP() << testing::why_no_shared();
  const std::string folder = (shared / "robots").string();
  for (const auto& robot :
       {testing::go2(folder), testing::anymal_b(folder), testing::hyq(folder)}) {
    SCOPED_TRACE(robot.model.name());
    testing::WalkSetup setup;
    setup.command.forward = 0.4;
    // Stiffness of the ground proportional to the mass of the robot.
    setup.ground.stiffness *= robot.model.total_mass() / 15;
    setup.ground.damping *= robot.model.total_mass() / 15;
    setup.until = 4;
    const testing::WalkResult result = testing::walk(robot, setup);
    EXPECT_FALSE(result.fell) << "at " << result.t << " s";
    EXPECT_EQ(result.worst.fall_backs, 0);
    EXPECT_NEAR(result.mean_velocity.x(), 0.4, 0.06);
    EXPECT_NEAR(result.mean_velocity.y(), 0, 0.06);
  }
}

}  // namespace
}  // namespace limb
