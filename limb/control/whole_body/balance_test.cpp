// Balance is the whole-body program with spring and damper targets, written again here.
#include "limb/control/whole_body/balance.hpp"

#include <gtest/gtest.h>

#include "limb/base/error.hpp"
#include "limb/base/testing/worst.hpp"
#include "limb/control/testing/legged_robots.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/math/so3.hpp"
#include "limb/math/testing/random.hpp"

namespace limb {
namespace {

using testing::LeggedRobot;

class BalanceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Qp::available()) GTEST_SKIP() << "limb was built without a solver of quadratic programs";
  }
};

// a = a_ref + k e + d e' for the mass centre; for the base the rotation vector to the reference,
// also half a turn away; for the posture the difference of configurations.
TEST_F(BalanceTest, TargetsAreSpringsAndDampers) {
  const LeggedRobot robot = testing::quadruped();
  const int n = robot.model.nv();
  BalanceOptions options;
  options.mass_center = {30, 7};
  options.turn = {90, 17};
  options.posture = {40, 9};
  options.whole_body.qp.tolerance = 1e-8;
  Balance balance(robot.model, robot.feet, options);
  WholeBody body(robot.model, robot.feet, options.whole_body);
  Balance::Reference reference = balance.reference_at(robot.q);
  body.update(robot.q, VectorX<double>::Zero(n));
  EXPECT_LT((reference.mass_center - body.mass_center()).norm(), 1e-15);
  EXPECT_EQ(reference.posture, robot.q);
  testing::Random random(23);
  Worst worst;
  for (int trial = 0; trial < 20; ++trial) {
    VectorX<double> q = robot.q, dq(n), v(n);
    for (double& x : dq) x = random.uniform(-0.1, 0.1);
    for (double& x : v) x = random.uniform(-0.3, 0.3);
    integrate(robot.model, robot.q, dq, q);
    reference.mass_center += random.vector<double>(0.01);
    reference.mass_center_velocity = random.vector<double>(0.1);
    reference.mass_center_acceleration = random.vector<double>(0.3);
    body.update(q, v);
    const Matrix3<double> R = body.kinematics().X_WB[1].R;
    const double angle = trial < 10 ? 0.1 : 2.9;
    const Vector3<double> axis = random.direction<double>();
    reference.R_WB = Eigen::AngleAxisd(angle, axis).toRotationMatrix() * R;
    const VectorX<double> tau = balance.step(q, v, reference);
    WholeBodyTargets targets = body.targets();
    targets.mass_center = reference.mass_center_acceleration +
                          30 * (reference.mass_center - body.mass_center()) +
                          7 * (reference.mass_center_velocity - body.mass_center_velocity());
    targets.turn = 90 * angle * axis - 17 * (R * v.segment<3>(3));
    targets.posture.tail(n - 6) = 40 * (robot.q - q).tail(n - 6) - 9 * v.tail(n - 6);
    body.solve(targets);
    worst.add((tau - body.torque()).norm() / (9.81 * robot.model.total_mass()));
  }
  EXPECT_LT(worst.value(), 1e-5);
}

TEST_F(BalanceTest, RejectsInvalidArguments) {
  const LeggedRobot robot = testing::quadruped();
  BalanceOptions options;
  options.turn.damping = -1;
  EXPECT_THROW(Balance(robot.model, robot.feet, options), Error);
  Balance balance(robot.model, robot.feet);
  Balance::Reference reference = balance.reference_at(robot.q);
  reference.posture = VectorX<double>::Zero(3);
  EXPECT_THROW(balance.step(robot.q, VectorX<double>::Zero(robot.model.nv()), reference), Error);
}

}  // namespace
}  // namespace limb
