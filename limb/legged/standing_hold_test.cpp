#include "limb/legged/standing_hold.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "limb/base/error.hpp"
#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/kinematics/center_of_mass.hpp"
#include "limb/dynamics/kinematics/forward_kinematics.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/legged/legged_run.hpp"
#include "limb/legged/testing/table_robot.hpp"
#include "limb/math/testing/random.hpp"

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

// A stretched arm of five parallel joints: seen from the shoulder it is hundreds of times as inert
// as a link whose neighbours yield.
TEST(StandingHold, HoldsAStretchedArm) {
  testing::TableRobot table;
  table.arm = true;
  Description<double> description = table.description();
  std::string last = "forearm";
  for (int i = 4; i <= 6; ++i) {
    LinkDescription<double> link;
    link.name = "segment_" + std::to_string(i);
    InertialDescription<double> inertial;
    inertial.mass = 0.15;
    inertial.X_LI.p = {0.1, 0, 0};
    inertial.tensor = 1e-4 * Matrix3<double>::Identity();
    link.inertial = inertial;
    JointDescription<double> joint = description.joints.back();  // arm_3
    joint.name = "arm_" + std::to_string(i);
    joint.parent = last;
    joint.child = last = link.name;
    joint.X_PJ = {};
    joint.X_PJ.p = {0.2, 0, 0};
    description.links.push_back(std::move(link));
    description.joints.push_back(std::move(joint));
  }
  const LeggedRobot robot = make_quadruped(description);
  ASSERT_EQ(robot.held_velocities().size(), 6u);
  LeggedRunOptions options;
  options.controller = make_controller_options(robot);
  options.controller->estimator.initial.rest = 1e3;
  LeggedRun run(robot, options);
  run.run_until(1);
  EXPECT_FALSE(run.fell());
  const LeggedStep& end = run.steps().back();
  for (const int i : robot.held_velocities()) {
    EXPECT_NEAR(end.q[i + 1], robot.q[i + 1], 0.05) << i;
    EXPECT_LT(std::abs(end.v[i]), 1) << i;
  }
}

/// Forces at the feet for which these torques hold the robot at rest, from the three joints of each
/// leg: tau = g - J^T f.
std::vector<Vector3<double>> forces_of(const LeggedRobot& robot, const VectorX<double>& q,
                                       const VectorX<double>& tau) {
  const Model<double>& model = robot.model;
  Kinematics<double> kinematics(model);
  forward_kinematics(model, q, kinematics);
  Workspace<double> work(model);
  VectorX<double> g(model.nv());
  gravity(model, work, q, g);
  std::vector<Vector3<double>> forces;
  for (const Foot& foot : robot.points()) {
    Matrix6X<double> J(6, model.nv());
    frame_jacobian(model, kinematics, foot.frame, FrameAxes::local_world_aligned, J);
    std::vector<int> leg;
    for (int i = 6; i < model.nv(); ++i) {
      if (J.col(i).norm() > 0) leg.push_back(i);
    }
    EXPECT_EQ(leg.size(), 3u);
    const Matrix3<double> J_leg = J(std::array{0, 1, 2}, leg);
    forces.push_back(J_leg.transpose().inverse() * (g - tau)(leg));
  }
  return forces;
}

// The feed-forward torques: vertical forces at the feet that support the weight without a moment
// about the mass centre; of all these the smallest, which depend linearly on the place of the foot.
TEST(StandingHold, FeedForwardSupportsTheWeightWithTheSmallestForces) {
  const LeggedRobot robot = load_quadruped("builtin:quadruped");
  const Model<double>& model = robot.model;
  const double weight = model.total_mass() * 9.81;
  StandingHold hold(robot);
  const VectorX<double> rest = VectorX<double>::Zero(12);
  testing::Random random(3);
  for (int trial = 0; trial < 10; ++trial) {
    VectorX<double> q = robot.q;
    for (double& x : q.tail(12)) x += trial == 0 ? 0 : random.uniform(-0.1, 0.1);
    hold.set_target(q.tail(12));
    const VectorX<double> tau = hold.step(q.tail(12), rest);
    EXPECT_EQ(tau.head<6>().norm(), 0);
    Kinematics<double> kinematics(model);
    forward_kinematics(model, q, kinematics);
    const Vector3<double> center = center_of_mass(model, kinematics);
    const std::vector<Vector3<double>> f = forces_of(robot, q, tau);
    Vector3<double> sum = Vector3<double>::Zero(), moment = sum;
    Eigen::Matrix<double, 4, 3> places;
    Eigen::Vector4d vertical;
    for (int i = 0; i < 4; ++i) {
      const auto foot = static_cast<std::size_t>(i);
      const Vector3<double> r =
          frame_pose(model, kinematics, robot.points()[foot].frame).p - center;
      EXPECT_LT(f[foot].head<2>().norm(), 1e-12 * weight);
      sum += f[foot];
      moment += r.cross(f[foot]);
      places.row(i) << 1, r.x(), r.y();
      vertical[i] = f[foot].z();
    }
    // Regularization of 1e-9 against 4 feet at 0.2 m: 1e-8.
    EXPECT_NEAR(sum.z(), weight, 1e-7 * weight);
    EXPECT_LT(moment.norm(), 1e-7 * weight);
    const Eigen::Vector3d linear = places.colPivHouseholderQr().solve(vertical);
    EXPECT_LT((places * linear - vertical).norm(), 1e-12 * weight);
  }
}

// Around the target: springs of 2.5 weight height / rad and dampers of 0.025 s, up to the effort
// limit of each joint.
TEST(StandingHold, TorquesStayWithinTheEffortLimits) {
  LeggedRobot robot = load_quadruped("builtin:quadruped");
  const Model<double>& model = robot.model;
  const double stiffness = 2.5 * 9.81 * model.total_mass() * robot.height();
  StandingHold hold(robot);
  const VectorX<double> target = robot.q.tail(12), rest = VectorX<double>::Zero(12);
  const VectorX<double> support = hold.step(target, rest);
  testing::Random random(4);
  int limited = 0, free = 0;
  for (int trial = 0; trial < 50; ++trial) {
    const double size = trial % 2 == 0 ? 0.05 : 3;
    VectorX<double> q = target, v = rest;
    for (double& x : q) x += random.uniform(-size, size);
    for (double& x : v) x = random.uniform(-10 * size, 10 * size);
    const VectorX<double> tau = hold.step(q, v);
    EXPECT_EQ(tau.head<6>().norm(), 0);
    for (int i = 0; i < 12; ++i) {
      const double effort = *model.body(BodyId(i + 2)).limits[0].effort;
      const double wanted =
          support[i + 6] + stiffness * (target[i] - q[i]) - 0.025 * stiffness * v[i];
      if (std::abs(wanted) > effort) {
        EXPECT_EQ(tau[i + 6], std::copysign(effort, wanted));
        ++limited;
      } else {
        EXPECT_NEAR(tau[i + 6], wanted, 1e-13 * effort);
        ++free;
      }
    }
  }
  EXPECT_GT(limited, 100);
  EXPECT_GT(free, 100);
  EXPECT_THROW(hold.set_target(target.head(3)), Error);
  EXPECT_THROW(hold.step(target.head(3), rest), Error);
  EXPECT_THROW(hold.step(target, rest.head(3)), Error);
}

// Recorded torques of a robot that stands, is pushed hard, and falls: never above the limits.
TEST(StandingHold, AppliedTorquesStayWithinTheEffortLimits) {
  LeggedRunOptions options = hold_options();
  options.pushes = {{0.3, {8, 15, 0}}};
  LeggedRun run(load_quadruped("builtin:quadruped"), options);
  run.run_until(1);
  Worst share;
  for (const LeggedStep& step : run.steps()) {
    for (int i = 6; i < step.tau.size(); ++i) {
      share.add(std::abs(step.tau[i]) / *run.robot().model.body(BodyId(i - 4)).limits[0].effort);
    }
  }
  EXPECT_LE(share.value(), 1);
  EXPECT_GT(share.value(), 0.5);
}

}  // namespace
}  // namespace limb
