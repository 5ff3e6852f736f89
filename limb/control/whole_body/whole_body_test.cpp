// The whole-body program: identities of its solution over random states, active limits, and the
// fall-back for infeasible programs.
#include "limb/control/whole_body/whole_body.hpp"

#include <gtest/gtest.h>

#include <random>

#include "limb/base/testing/worst.hpp"
#include "limb/control/testing/legged_robots.hpp"
#include "limb/dynamics/constraints/actuation.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/math/testing/max_abs.hpp"

namespace limb {
namespace {

using testing::LeggedRobot;
constexpr double kTolerance = QpOptions{}.tolerance;

class WholeBodyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Qp::available()) GTEST_SKIP() << "limb was built without a solver of quadratic programs";
  }
};

double weight_of(const LeggedRobot& robot) {
  return 9.81 * robot.model.total_mass();
}

/// M a + h - S^T tau - J^T f of the last solve, largest entry.
double motion_residual(const LeggedRobot& robot, const WholeBody& body, const VectorX<double>& q,
                       const VectorX<double>& v) {
  Kinematics<double> kinematics(robot.model);
  forward_kinematics(robot.model, q, kinematics);
  std::vector<FrameWrench<double>> wrenches;
  int point = 0;
  for (const Foot& foot : robot.feet) {
    const Matrix3<double> R_WF = frame_pose(robot.model, kinematics, foot.frame).R;
    for (const auto& p_FQ : foot.points) {
      const Vector3<double> f_F = R_WF.transpose() * body.forces().col(point++);
      wrenches.push_back({foot.frame, Force<double>{f_F, p_FQ.cross(f_F)}});
    }
  }
  Workspace<double> work(robot.model);
  VectorX<double> residual(v.size());
  equation_of_motion_residual(robot.model, work, q, v, body.acceleration(),
                              body.torque().tail(v.size() - 6), wrenches, residual,
                              JointEffects{true, true, false});
  return max_abs(residual);
}

// At rest with zero targets: the feet support the weight, equally for a symmetric robot.
TEST_F(WholeBodyTest, StanceFeetSupportTheWeight) {
  for (const LeggedRobot& robot : {testing::quadruped(), testing::humanoid()}) {
    WholeBody body(robot.model, robot.feet);
    const VectorX<double> v = VectorX<double>::Zero(robot.model.nv());
    body.update(robot.q, v);
    body.solve(body.targets());
    ASSERT_EQ(body.report().status, Status::ok);
    const Vector3<double> sum = body.forces().rowwise().sum();
    const double allowed = 10 * kTolerance * weight_of(robot);
    EXPECT_NEAR(sum.z(), weight_of(robot), allowed);
    EXPECT_LT(sum.head<2>().norm(), allowed);
    EXPECT_LT(motion_residual(robot, body, robot.q, v), allowed);
    EXPECT_LT(max_abs(body.acceleration()), 1e-3);
    EXPECT_NEAR(body.foot_force(0).z(), body.foot_force(1).z(), 1e-3 * weight_of(robot));
  }
}

// Random states near the stance, random targets, one swing foot or none: the equations of motion
// hold, stance feet do not accelerate, forces are in the friction cone, torques within limits.
TEST_F(WholeBodyTest, SolutionsSatisfyAllConstraints) {
  std::mt19937_64 engine(11);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (const LeggedRobot& robot : {testing::quadruped(), testing::humanoid()}) {
    const Model<double>& model = robot.model;
    const int n = model.nv();
    WholeBody body(model, robot.feet);
    const double allowed = 10 * kTolerance * weight_of(robot);
    for (int trial = 0; trial < 30; ++trial) {
      VectorX<double> q = robot.q, v(n), dq(n);
      for (double& x : dq) x = 0.1 * unit(engine);
      for (double& x : v) x = 0.2 * unit(engine);
      integrate(model, robot.q, dq, q);
      WholeBodyTargets targets = body.targets();
      for (double& x : targets.mass_center) x = unit(engine);
      for (double& x : targets.turn) x = unit(engine);
      for (double& x : targets.posture) x = 5 * unit(engine);
      const bool lifts = trial % 2 == 0 && robot.feet.size() > 2;
      if (lifts) {
        targets.feet[1].stands = false;
        targets.feet[1].acceleration.v = {unit(engine), unit(engine), unit(engine)};
      }
      body.update(q, v);
      const VectorX<double> tau = body.solve(targets);
      ASSERT_EQ(body.report().status, Status::ok) << trial;
      EXPECT_LE(body.report().residuals.stationarity, 1.1 * kTolerance);
      EXPECT_LE(body.report().residuals.primal, 1.1 * kTolerance);
      EXPECT_LT(motion_residual(robot, body, q, v), allowed);
      EXPECT_EQ(tau.head<6>().norm(), 0);
      for (int i = 6; i < n; ++i) {
        const auto& limits =
            model.body(BodyId(i - 4)).limits;  // joints of one degree of freedom, base first
        EXPECT_LE(std::abs(tau[i]), limits[0].effort.value() * (1 + 1e-12));
      }

      Kinematics<double> kinematics(model);
      forward_kinematics(model, q, v, body.acceleration(), kinematics);
      int point = 0;
      for (std::size_t i = 0; i < robot.feet.size(); ++i) {
        const FrameId frame = robot.feet[i].frame;
        const auto axes = FrameAxes::local_world_aligned;
        const Motion<double> a =
            frame_acceleration(model, kinematics, frame, axes, AccelerationKind::classical);
        const Motion<double> V = frame_velocity(model, kinematics, frame, axes);
        for (std::size_t k = 0; k < robot.feet[i].points.size(); ++k) {
          const Vector3<double> f = body.forces().col(point++);
          if (!targets.feet[i].stands) {
            EXPECT_LT(f.norm(), allowed);
            continue;
          }
          EXPECT_GE(f.z(), -allowed);
          EXPECT_LE(f.head<2>().norm(), 0.6 * f.z() + allowed);
        }
        if (!targets.feet[i].stands) continue;
        // dv/dt = -50 v, or 20 m/s^2 against it.
        const double rate = std::min(20 / V.v.norm(), 50.0);
        EXPECT_LT((a.v + rate * V.v).norm(), 100 * kTolerance);
      }
    }
  }
}

TEST_F(WholeBodyTest, SwingFootFollowsItsTarget) {
  const LeggedRobot robot = testing::quadruped();
  WholeBody body(robot.model, robot.feet);
  const VectorX<double> v = VectorX<double>::Zero(robot.model.nv());
  WholeBodyTargets targets = body.targets();
  targets.feet[0].stands = false;
  targets.feet[0].acceleration.v = {1, 0.5, 2};
  // The mass centre is behind the middle of the feet, so above the other three.
  VectorX<double> q = robot.q;
  body.update(q, v);
  body.solve(targets);
  ASSERT_EQ(body.report().status, Status::ok);
  EXPECT_LT(body.foot_force(0).norm(), 10 * kTolerance * weight_of(robot));
  Matrix6X<double> J(6, v.size());
  frame_jacobian(robot.model, body.kinematics(), robot.feet[0].frame,
                 FrameAxes::local_world_aligned, J);
  const Vector3<double> a = J.topRows<3>() * body.acceleration();
  EXPECT_LT((a - targets.feet[0].acceleration.v).norm(), 0.1);
}

TEST_F(WholeBodyTest, TorqueLimitsBind) {
  const LeggedRobot robot = testing::quadruped();
  WholeBodyOptions options;
  options.effort_share = 0.5;
  WholeBody body(robot.model, robot.feet, options);
  const VectorX<double> v = VectorX<double>::Zero(robot.model.nv());
  body.update(robot.q, v);
  WholeBodyTargets targets = body.targets();
  targets.mass_center.z() = 40;  // beyond what half of the torques can produce
  const VectorX<double> tau = body.solve(targets);
  ASSERT_EQ(body.report().status, Status::ok);
  Worst share;
  for (int i = 6; i < tau.size(); ++i) {
    share.add(std::abs(tau[i]) / *robot.model.body(BodyId(i - 4)).limits[0].effort);
  }
  EXPECT_NEAR(share.value(), 0.5, 1e-6);
  EXPECT_LE(body.report().over_limit, 2 * kTolerance * weight_of(robot));
}

// The acceleration of a joint towards its limit is at most k^2 d - 2 k v.
TEST_F(WholeBodyTest, JointsSlowDownBeforeTheirLimits) {
  const LeggedRobot robot = testing::quadruped();
  const auto& body_of_joint = robot.model.body(robot.model.find_body("FL_abduction"));
  WholeBody body(robot.model, robot.feet);
  VectorX<double> q = robot.q, v = VectorX<double>::Zero(robot.model.nv());
  const int i = body_of_joint.v_start;
  q[body_of_joint.q_start] = *body_of_joint.limits[0].upper - 0.02;
  v[i] = 1;
  body.update(q, v);
  WholeBodyTargets targets = body.targets();
  targets.feet[0].stands = false;
  targets.feet[0].acceleration.v.y() = 20;  // outwards
  body.solve(targets);
  ASSERT_EQ(body.report().status, Status::ok);
  EXPECT_NEAR(body.acceleration()[i], 50 * 50 * 0.02 - 2 * 50 * 1.0, 1e-3);
}

// Sliding feet should stop at once, with a hundredth of the effort limits: infeasible.
TEST_F(WholeBodyTest, InfeasibleProgramsFallBack) {
  const LeggedRobot robot = testing::quadruped();
  WholeBodyOptions options;
  options.effort_share = 0.01;
  options.contact_damping = 1e3;
  options.contact_brake = 1e6;
  WholeBody weak(robot.model, robot.feet, options);
  VectorX<double> v = VectorX<double>::Zero(robot.model.nv());
  v[8] = 5;  // a knee: its foot moves by 1 m/s
  weak.update(robot.q, v);
  const VectorX<double> tau = weak.solve(weak.targets());
  EXPECT_NE(weak.report().status, Status::ok);
  EXPECT_TRUE(weak.report().fell_back);
  for (int i = 6; i < tau.size(); ++i) {
    EXPECT_LE(std::abs(tau[i]), 0.01 * *robot.model.body(BodyId(i - 4)).limits[0].effort);
  }
  v.setZero();

  // A target that is not finite falls back, too: the feet support the weight, and joints stay at
  // rest.
  WholeBody body(robot.model, robot.feet);
  body.update(robot.q, v);
  WholeBodyTargets targets = body.targets();
  targets.mass_center.x() = std::nan("");
  body.solve(targets);
  EXPECT_EQ(body.report().status, Status::not_finite);
  EXPECT_TRUE(body.report().fell_back);
  // The regularization of the fall-back leaves 1e-6 of the weight.
  EXPECT_LT(motion_residual(robot, body, robot.q, v), 1e-4 * weight_of(robot));
  // Damping, and the spring towards the start of the fall-back.
  v[8] = 1;
  VectorX<double> q = robot.q;
  q[9] += 0.1;
  const VectorX<double> before = body.torque();
  body.update(q, v);
  const VectorX<double> held = body.solve(targets);
  EXPECT_LT(held[8], before[8] - 0.5);
  // The next valid target is solved again.
  v.setZero();
  body.update(robot.q, v);
  body.solve(body.targets());
  EXPECT_FALSE(body.report().fell_back);
}

TEST_F(WholeBodyTest, RejectsInvalidArguments) {
  const LeggedRobot robot = testing::quadruped();
  EXPECT_THROW(WholeBody(robot.model, {}), Error);
  EXPECT_THROW(WholeBody(robot.model, {{FrameId(1000)}}), Error);
  EXPECT_THROW(WholeBody(robot.model, {{FrameId(1), {{0, 0, 0}, {1, 0, 0}}}}), Error);
  WholeBodyOptions odd;
  odd.cone_faces = 5;
  EXPECT_THROW(WholeBody(robot.model, robot.feet, odd), Error);
  WholeBody body(robot.model, robot.feet);
  EXPECT_THROW(body.update(robot.q.head(3), robot.q), Error);
}

}  // namespace
}  // namespace limb
