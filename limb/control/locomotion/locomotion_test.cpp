#include "limb/control/locomotion/locomotion.hpp"

#include <gtest/gtest.h>

#include "limb/base/error.hpp"
#include "limb/control/testing/legged_robots.hpp"
#include "limb/dynamics/testing/allocations.hpp"

namespace limb {
namespace {

class LocomotionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Qp::available()) GTEST_SKIP() << "limb was built without a solver of quadratic programs";
  }
};

TEST_F(LocomotionTest, RejectsInvalidArguments) {
  const testing::LeggedRobot robot = testing::quadruped();
  Locomotion walk(robot.model, robot.feet, robot.q);
  EXPECT_THROW(walk.set_gait(Gait::stand(2)), Error);
  const bool contact[4] = {true, true, true, true};
  const VectorX<double> q = robot.q.tail(12), v = VectorX<double>::Zero(12);
  EXPECT_THROW(walk.step({}, q.head(3), v, contact, {}), Error);
  EXPECT_THROW(walk.step({}, q, v, std::span(contact, 3), {}), Error);
  LocomotionOptions options;
  options.mpc_period = 0.003;  // not a multiple of 0.002
  EXPECT_THROW(Locomotion(robot.model, robot.feet, robot.q, options), Error);
  EXPECT_THROW(Locomotion(load_model("builtin:arm6"), robot.feet, robot.q), Error);
}

TEST_F(LocomotionTest, StepsAllocateOnlyInTheSolver) {
  if (!testing::kCountsAllocations) GTEST_SKIP() << "sanitizers replace the allocator";
  const testing::LeggedRobot robot = testing::quadruped();
  Locomotion walk(robot.model, robot.feet, robot.q);
  walk.set_gait(Gait::trot());
  const bool contact[4] = {true, true, true, true};
  const VectorX<double> q = robot.q.tail(12), v = VectorX<double>::Zero(12);
  BaseState base;
  base.X_WB.p = robot.q.head<3>();
  for (int k = 0; k < 200; ++k) {
    const long taken = testing::allocations([&] { walk.step(base, q, v, contact, {0.2, 0, 0}); });
    EXPECT_LE(taken, walk.report().whole_body.iterations + walk.report().mpc_iterations) << k;
  }
}

// Two feet search for missing ground: the others stay in stance, although the gait would lift them
// after 0.275 s, until the search is given up.
TEST_F(LocomotionTest, NoFootLiftsOffWhileAnotherIsLate) {
  const testing::LeggedRobot robot = testing::quadruped();
  LocomotionOptions options;
  Locomotion walk(robot.model, robot.feet, robot.q, options);
  const Gait gait = Gait::trot();
  walk.set_gait(gait);
  BaseState base;
  base.X_WB.p = robot.q.head<3>();
  const VectorX<double> rest = VectorX<double>::Zero(12);
  const double given_up = 0.25 + options.search_share * gait.swing_time();
  bool lifted = false;
  for (int step = 0; step < 200; ++step) {
    const double t = step * options.control_period;
    const bool contact[4] = {true, false, false, true};
    walk.step(base, robot.q.tail(12), rest, contact, {});
    const bool swings = t > 0.03 && t<0.25, waits = t> 0.252 && t < given_up;
    EXPECT_FALSE(swings && (walk.stands(1) || walk.stands(2))) << t;
    EXPECT_FALSE(waits && !(walk.stands(0) && walk.stands(3))) << t;
    lifted = lifted || !walk.stands(0);
  }
  EXPECT_TRUE(lifted);
}

}  // namespace
}  // namespace limb
