#include "limb/legged/legged_controller.hpp"

#include <gtest/gtest.h>

#include "limb/math/testing/compare.hpp"

namespace limb {
namespace {

using testing::message;

// Thresholds of contact are shares of the weight; the initial height is that of the posture.
TEST(LeggedController, OptionsScaleWithTheRobot) {
  const LeggedRobot robot = load_quadruped("builtin:quadruped");
  const double weight = 9.81 * robot.model.total_mass();
  const LeggedControllerOptions options = make_controller_options(robot);
  EXPECT_DOUBLE_EQ(options.estimator.contact.make_force, 0.1 * weight);
  EXPECT_DOUBLE_EQ(options.estimator.contact.break_force, 0.05 * weight);
  EXPECT_DOUBLE_EQ(options.touch_force, 0.03 * weight);
  EXPECT_EQ(options.estimator.initial.p_WB, Vector3<double>(0, 0, robot.height()));
}

/// At rest in the posture, upright.
ImuSample resting() {
  ImuSample imu;
  imu.gyro.setZero();
  imu.accel = {0, 0, 9.81};
  return imu;
}
LegReadings standing(const LeggedRobot& robot) {
  LegReadings readings;
  readings.joint_q = robot.q.tail(robot.q.size() - 7);
  readings.joint_v = VectorX<double>::Zero(robot.model.nv() - 6);
  readings.foot_force.assign(robot.feet.size(), 9.81 * robot.model.total_mass() / 4);
  return readings;
}

// The joints are held where they are at the first step until the estimator is initialized, then
// the robot walks on the estimate.
TEST(LeggedController, HoldsTheFirstPostureUntilTheEstimatorIsReady) {
  const LeggedRobot robot = load_quadruped("builtin:quadruped");
  LeggedControllerOptions options = make_controller_options(robot);
  options.estimator.initial.rest = 0.2;
  LeggedController controller(robot, options);
  StandingHold hold(robot, options.hold);
  LegReadings readings = standing(robot);
  readings.joint_q[1] += 0.05;
  hold.set_target(readings.joint_q);
  bool walked = false;
  for (int i = 0; i < 400; ++i) {
    const double t = 1e-3 * i;
    controller.imu(t, resting());
    if (i % 2 == 1) continue;
    const LegReadings now = i == 0 ? readings : standing(robot);
    const VectorX<double> tau = controller.step(t, now, {});
    if (controller.mode() == LeggedController::Mode::hold) {
      EXPECT_EQ(tau, hold.step(now.joint_q, now.joint_v)) << t;
      EXPECT_FALSE(walked);
      EXPECT_LT(t, 0.25);
    } else {
      walked = true;
      EXPECT_GE(t, 0.19);
    }
    EXPECT_GE(controller.times().total, controller.times().estimator);
  }
  EXPECT_EQ(walked, Qp::available());
}

// A swing foot has touched down above the touch force, not below it.
TEST(LeggedController, TouchForceEndsTheSwing) {
  if (!Qp::available()) GTEST_SKIP() << "limb was built without a solver of quadratic programs";
  const LeggedRobot robot = load_quadruped("builtin:quadruped");
  LeggedControllerOptions options = make_controller_options(robot);
  options.estimator.initial.rest = 0.1;
  options.touch_force = 5;
  LeggedController controller(robot, options);
  controller.set_gait(Gait::trot());
  double walks_since = -1;
  for (int i = 0; i < 500; ++i) {
    const double t = 1e-3 * i;
    controller.imu(t, resting());
    if (i % 2 == 1) continue;
    LegReadings readings = standing(robot);
    if (walks_since >= 0) {
      readings.foot_force[1] = t - walks_since > 0.18 ? 5.1 : 1;
      readings.foot_force[2] = t - walks_since > 0.18 ? 4.9 : 1;
    }
    controller.step(t, readings, {});
    if (controller.mode() == LeggedController::Mode::hold) continue;
    if (walks_since < 0) walks_since = t;
    const double since = t - walks_since;
    const Locomotion& walk = *controller.locomotion();
    if (since > 0.03 && since < 0.179) {
      EXPECT_FALSE(walk.stands(1) || walk.stands(2)) << since;
    } else if (since > 0.183 && since < 0.24) {
      EXPECT_TRUE(walk.stands(1)) << since;
      EXPECT_FALSE(walk.stands(2)) << since;
    }
  }
  EXPECT_GT(walks_since, 0);
}

TEST(LeggedController, RejectsWrongSizes) {
  const LeggedRobot robot = load_quadruped("builtin:quadruped");
  LeggedController controller(robot, make_controller_options(robot));
  LegReadings readings = standing(robot);
  readings.joint_q = VectorX<double>::Zero(3);
  EXPECT_EQ(message([&] { controller.step(0, readings, {}); }),
            "LeggedController::step: joint_q has 3 entries, expected 12 (without the base)");
  readings = standing(robot);
  readings.joint_v = VectorX<double>::Zero(3);
  EXPECT_EQ(message([&] { controller.step(0, readings, {}); }),
            "LeggedController::step: joint_v has 3 entries, expected 12 (without the base)");
  EXPECT_NE(message([&] { controller.set_gait(Gait::stand(3)); }), "no error");
}

}  // namespace
}  // namespace limb
