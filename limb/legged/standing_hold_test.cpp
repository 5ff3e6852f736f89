#include "limb/legged/standing_hold.hpp"

#include <gtest/gtest.h>

#include "limb/legged/legged_run.hpp"

namespace limb {
namespace {

/// The estimator never initializes, so that the joints stay held.
LeggedRunOptions hold_options() {
  LeggedRunOptions options;
  options.controller = make_controller_options(load_quadruped("builtin:quadruped"));
  options.controller->estimator.initial.rest = 1e3;
  return options;
}

TEST(StandingHold, SupportsTheRobotUnderAPush) {
  LeggedRunOptions options = hold_options();
  options.pushes = {{1, {2, 3, 0}}};
  LeggedRun run(load_quadruped("builtin:quadruped"), options);
  run.run_until(3);
  EXPECT_FALSE(run.fell());
  EXPECT_EQ(run.controller().mode(), LeggedController::Mode::hold);
  const LeggedStep& end = run.steps().back();
  // Stiff legs: the base stays in place, except for initial joint offsets and noise.
  EXPECT_LT((end.q.head<3>() - run.robot().q.head<3>()).norm(), 0.02);
  double supported = 0;
  for (const auto& f : end.foot_force) supported += f.z();
  // Encoder noise makes the robot vibrate.
  EXPECT_NEAR(supported, 9.81 * run.robot().model.total_mass(), 0.1 * supported);
}

TEST(StandingHold, IsAnEquilibriumWithoutNoise) {
  LeggedRunOptions options = hold_options();
  options.noise = {{0, 0, 0, 0}, 0, 0, 0, 0, 0};
  options.joint_offset = 0;
  LeggedRun run(load_quadruped("builtin:quadruped"), options);
  run.run_until(1);
  // The feed-forward torques support the robot without deflection of the springs.
  EXPECT_LT((run.steps().back().q - run.steps().front().q).norm(), 1e-4);
}

}  // namespace
}  // namespace limb
