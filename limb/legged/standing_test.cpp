// A robot that is held, with and without a solver of quadratic programs, and what options may not
// be.
#include <gtest/gtest.h>

#include "limb/legged/legged_run.hpp"
#include "limb/math/testing/compare.hpp"

namespace limb {
namespace {

using testing::message;

/// Never at rest: joints are held for good.
LeggedRunOptions held() {
  LeggedRunOptions options;
  options.controller = make_controller_options(load_quadruped("builtin:quadruped"));
  options.controller->estimator.initial.rest = 1e3;
  return options;
}

TEST(StandingHold, CarriesTheRobotAndTakesAPush) {
  LeggedRunOptions options = held();
  options.pushes = {{1, {2, 3, 0}}};
  LeggedRun run(load_quadruped("builtin:quadruped"), options);
  run.run_until(3);
  EXPECT_FALSE(run.fell());
  EXPECT_EQ(run.controller().mode(), LeggedController::Mode::hold);
  const LeggedStep& end = run.steps().back();
  // Stiff legs: the base is where it began, but for joints that began elsewhere and noise.
  EXPECT_LT((end.q.head<3>() - run.robot().q.head<3>()).norm(), 0.02);
  double carried = 0;
  for (const auto& f : end.foot_force) carried += f.z();
  // Noise of encoders makes the robot tremble.
  EXPECT_NEAR(carried, 9.81 * run.robot().model.total_mass(), 0.1 * carried);
}

TEST(StandingHold, IsAnEquilibriumWithoutNoise) {
  LeggedRunOptions options = held();
  options.noise = {{0, 0, 0, 0}, 0, 0, 0, 0, 0};
  options.joint_offset = 0;
  LeggedRun run(load_quadruped("builtin:quadruped"), options);
  run.run_until(1);
  // Springs that rest: what the feed-forward torques carry needs none of them.
  EXPECT_LT((run.steps().back().q - run.steps().front().q).norm(), 1e-4);
}

TEST(LeggedRun, SaysWhatIsWrong) {
  const LeggedRobot robot = load_quadruped("builtin:quadruped");
  const auto text = [&](const auto& change) {
    LeggedRunOptions options;
    change(options);
    return message([&] { LeggedRun(robot, options); });
  };
  EXPECT_EQ(text([](LeggedRunOptions& o) { o.step = 1.5e-3; }),
            "LeggedRun: step is 0.0015, expected a part of the control period, 0.002");
  EXPECT_EQ(text([](LeggedRunOptions& o) { o.acceleration = 0; }),
            "LeggedRun: acceleration is 0, expected > 0 and finite");
  EXPECT_EQ(text([](LeggedRunOptions& o) {
              o.plan = {{2, Gait::trot(), {}}, {1, Gait::stand(4), {}}};
            }),
            "LeggedRun: plan is phases out of order, expected each to begin after the one before");
  EXPECT_NE(text([](LeggedRunOptions& o) {
              o.plan = {{1, Gait::stand(2), {}}};
            }).find("offsets"),
            std::string::npos);
  EXPECT_NE(text([](LeggedRunOptions& o) { o.noise.encoder = -1; }).find("noise is -1"),
            std::string::npos);
}

}  // namespace
}  // namespace limb
