// The whole-body program: identities of its solution over random states, active limits, and the
// fall-back for infeasible programs.
#include "limb/control/whole_body/whole_body.hpp"

#include <gtest/gtest.h>

#include <numbers>
#include <random>

#include "limb/base/testing/worst.hpp"
#include "limb/control/testing/legged_robots.hpp"
#include "limb/control/whole_body/contact_axes.hpp"
#include "limb/dynamics/constraints/actuation.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
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

/// Sum of the forces and their moment about the mass centre.
std::pair<Vector3<double>, Vector3<double>> wrench_of(const LeggedRobot& robot,
                                                      const WholeBody& body) {
  Vector3<double> force = Vector3<double>::Zero(), moment = force;
  int point = 0;
  for (const Foot& foot : robot.feet) {
    const Pose<double> X_WF = frame_pose(robot.model, body.kinematics(), foot.frame);
    for (const auto& p_FQ : foot.points) {
      const Vector3<double> f = body.forces().col(point++);
      force += f;
      moment += (X_WF * p_FQ - body.mass_center()).cross(f);
    }
  }
  return {force, moment};
}

WholeBodyTargets not_finite(const WholeBody& body) {
  WholeBodyTargets targets = body.targets();
  targets.mass_center.x() = std::nan("");
  return targets;
}

// Forces of the fall-back on level ground: they are in their cones for any friction. With friction
// enough they support the weight without a moment; without, each is on the surface of its cone.
TEST_F(WholeBodyTest, FallBackForcesStayInTheirCones) {
  std::mt19937_64 engine(17);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (const LeggedRobot& robot : {testing::quadruped(), testing::humanoid()}) {
    const double weight = weight_of(robot);
    int inside = 0, cut = 0;
    for (const double friction : {0.05, 0.6}) {
      WholeBodyOptions options;
      options.friction = friction;
      WholeBody body(robot.model, robot.feet, options);
      for (int trial = 0; trial < 20; ++trial) {
        VectorX<double> q = robot.q, dq = VectorX<double>::Zero(robot.model.nv()), v = dq;
        for (double& x : dq) x = trial == 0 ? 0 : 0.15 * unit(engine);
        integrate(robot.model, robot.q, dq, q);
        body.update(q, v);
        body.solve(not_finite(body));
        ASSERT_TRUE(body.report().fell_back);
        bool all_inside = true;
        for (int k = 0; k < body.forces().cols(); ++k) {
          const Vector3<double> f = body.forces().col(k);
          const double bound = friction * f.z(), tangential = f.head<2>().norm();
          EXPECT_GE(f.z(), 0);
          EXPECT_LE(tangential, bound * (1 + 1e-14));
          if (tangential > bound * (1 - 1e-12) || f.z() == 0) all_inside = false;
        }
        (all_inside ? inside : cut) += 1;
        const auto [force, moment] = wrench_of(robot, body);
        if (!all_inside) continue;
        // Regularization of 1e-6 kg m^2 against the smallest eigenvalue of G G^T, about 1e-2.
        EXPECT_LT((force - Vector3<double>(0, 0, weight)).norm(), 1e-4 * weight);
        EXPECT_LT(moment.norm(), 1e-4 * weight);
      }
    }
    EXPECT_GT(inside, 5) << robot.model.name();
    EXPECT_GT(cut, 5) << robot.model.name();
  }
}

// Feet on slopes steeper than their friction: the tangential force is cut to friction times normal
// force, downhill as before, and the normal force is that of the uncut solution.
TEST_F(WholeBodyTest, FallBackForcesOnASlope) {
  const LeggedRobot robot = testing::quadruped();
  const VectorX<double> v = VectorX<double>::Zero(robot.model.nv());
  const double slope = 0.3;
  const Vector3<double> normal(std::sin(slope), 0, std::cos(slope));
  for (const double friction : {0.05, 0.2, 10.0}) {
    WholeBodyOptions options;
    options.friction = friction;
    WholeBody body(robot.model, robot.feet, options);
    body.update(robot.q, v);
    WholeBodyTargets targets = not_finite(body);
    body.solve(targets);
    const Matrix3X<double> level = body.forces();
    for (auto& foot : targets.feet) foot.normal = normal;
    body.solve(targets);
    for (int k = 0; k < 4; ++k) {
      const Vector3<double> f = body.forces().col(k), whole = level.col(k);
      const double along = whole.dot(normal);
      const Vector3<double> tangential = whole - along * normal;
      const double share = std::min(friction * along / tangential.norm(), 1.0);
      EXPECT_EQ(share < 1, friction < std::tan(slope));
      EXPECT_LT((f - along * normal - share * tangential).norm(), 1e-13 * whole.norm()) << k;
    }
  }
  // A bound on the normal force, and feet in swing.
  WholeBodyOptions options;
  options.max_normal_force = 0.2 * weight_of(robot);
  WholeBody body(robot.model, robot.feet, options);
  body.update(robot.q, v);
  WholeBodyTargets targets = not_finite(body);
  targets.feet[1].stands = false;
  body.solve(targets);
  EXPECT_EQ(body.foot_force(1).norm(), 0);
  Worst most;
  for (const int k : {0, 2, 3}) most.add(body.foot_force(k).z());
  EXPECT_EQ(most.value(), options.max_normal_force);
}

// tau = g - J^T f + effort (0.3 (q_hold - q) - 0.02 v), clamped; q_hold is the configuration at the
// first step of the fall-back.
TEST_F(WholeBodyTest, FallBackTorquesAreTheirFormula) {
  const LeggedRobot robot = testing::quadruped();
  const Model<double>& model = robot.model;
  const int n = model.nv();
  std::mt19937_64 engine(19);
  std::uniform_real_distribution<double> unit(-1, 1);
  WholeBody body(model, robot.feet);
  Workspace<double> work(model);
  VectorX<double> g(n), v = VectorX<double>::Zero(n), dq(n), q = robot.q, hold = q;
  Matrix6X<double> J(6, n);
  int saturated = 0;
  for (int trial = 0; trial < 30; ++trial) {
    // Ten steps each: a new fall-back holds the joints where they are.
    if (trial % 10 == 0) {
      body.update(robot.q, VectorX<double>::Zero(n));
      body.solve(body.targets());
      ASSERT_FALSE(body.report().fell_back);
    }
    for (double& x : dq) x = 0.3 * unit(engine);
    dq.head<6>() *= 0.1;
    for (double& x : v) x = (trial > 20 ? 60 : 3) * unit(engine);
    integrate(model, robot.q, dq, q);
    if (trial % 10 == 0) hold = q;
    body.update(q, v);
    const VectorX<double> tau = body.solve(not_finite(body));
    ASSERT_TRUE(body.report().fell_back);
    gravity(model, work, q, g);
    for (int k = 0; k < 4; ++k) {
      frame_jacobian(model, body.kinematics(), robot.feet[static_cast<std::size_t>(k)].frame,
                     FrameAxes::local_world_aligned, J);
      g -= J.topRows<3>().transpose() * body.forces().col(k);
    }
    EXPECT_EQ(tau.head<6>().norm(), 0);
    EXPECT_EQ(body.acceleration().norm(), 0);
    for (int i = 6; i < n; ++i) {
      const double effort = *model.body(BodyId(i - 4)).limits[0].effort;
      const double wanted = g[i] + effort * (0.3 * (hold[i + 1] - q[i + 1]) - 0.02 * v[i]);
      saturated += std::abs(wanted) > effort;
      EXPECT_NEAR(tau[i], std::clamp(wanted, -effort, effort), 1e-13 * weight_of(robot)) << trial;
    }
  }
  EXPECT_GT(saturated, 20);
}

// Standing with motors too weak for the weight: the torques stay at their limits, the report says
// so by effort shares of one, and the mass centre sinks.
TEST_F(WholeBodyTest, WeakMotorsStandAtTheirLimits) {
  const LeggedRobot robot = testing::quadruped();
  const int n = robot.model.nv();
  const VectorX<double> v = VectorX<double>::Zero(n);
  WholeBody strong(robot.model, robot.feet);
  strong.update(robot.q, v);
  const VectorX<double> needed = strong.solve(strong.targets());
  VectorX<double> shares(n);
  strong.effort_shares(shares);
  for (int i = 6; i < n; ++i) {
    EXPECT_DOUBLE_EQ(shares[i], needed[i] / *robot.model.body(BodyId(i - 4)).limits[0].effort);
  }
  EXPECT_EQ(shares.head<6>().norm(), 0);
  EXPECT_LT(max_abs(shares), 1);
  EXPECT_EQ(strong.report().over_limit, 0);

  WholeBodyOptions options;
  options.effort = 0.8 * max_abs(needed) * VectorX<double>::Ones(n);
  WholeBody weak(robot.model, robot.feet, options);
  weak.update(robot.q, v);
  const VectorX<double> tau = weak.solve(weak.targets());
  ASSERT_EQ(weak.report().status, Status::ok);
  EXPECT_FALSE(weak.report().fell_back);
  weak.effort_shares(shares);
  EXPECT_NEAR(max_abs(shares), 1, 1e-5);
  EXPECT_LE(max_abs(shares), 1);
  EXPECT_LE(max_abs(tau), options.effort[6]);
  EXPECT_LE(weak.report().over_limit, 2 * kTolerance * weight_of(robot));
  Matrix3X<double> J(3, n);
  SubtreeScratch<double> scratch(robot.model);
  center_of_mass_jacobian(robot.model, weak.kinematics(), scratch, J);
  EXPECT_LT((J * weak.acceleration()).z(), -0.1);
}

// The equation of motion about the mass centre: forces are m (a - g), the whole-body motion is
// consistent with the forces also with priorities and slopes.
TEST_F(WholeBodyTest, ForcesAccelerateTheMassCentre) {
  const LeggedRobot robot = testing::humanoid();
  WholeBodyOptions options;
  options.mass_center_weight = 1e4;
  WholeBody body(robot.model, robot.feet, options);
  const int n = robot.model.nv();
  const VectorX<double> v = VectorX<double>::Zero(n);
  body.update(robot.q, v);
  WholeBodyTargets targets = body.targets();
  targets.mass_center = {0.3, -0.2, 0.5};
  body.solve(targets);
  ASSERT_EQ(body.report().status, Status::ok);
  Matrix3X<double> J(3, n);
  SubtreeScratch<double> scratch(robot.model);
  center_of_mass_jacobian(robot.model, body.kinematics(), scratch, J);
  const Vector3<double> a = J * body.acceleration();
  EXPECT_LT(
      (wrench_of(robot, body).first - robot.model.total_mass() * (a + Vector3<double>(0, 0, 9.81)))
          .norm(),
      10 * kTolerance * weight_of(robot));
  EXPECT_LT((a - targets.mass_center).norm(), 1e-3);  // about 1e-4 of the posture weight
}

/// Points of all feet.
int points_of(const LeggedRobot& robot) {
  int count = 0;
  for (const Foot& foot : robot.feet) count += static_cast<int>(foot.points.size());
  return count;
}

// Bounds on joint accelerations: k (speed - v) for speeds; k^2 d - 2 k v at the distance d from a
// limit; beyond a limit at most the deceleration k speed; where they contradict, their mean.
TEST_F(WholeBodyTest, AccelerationBoundsOfJoints) {
  const LeggedRobot robot = testing::quadruped();
  const Model<double>& model = robot.model;
  const int n = model.nv();
  WholeBody body(model, robot.feet);
  std::mt19937_64 engine(29);
  std::uniform_real_distribution<double> unit(-1, 1);
  const int first = points_of(robot) * 5 + 12;
  int outside = 0, contradicting = 0;
  for (int trial = 0; trial < 200; ++trial) {
    VectorX<double> q = robot.q, v = VectorX<double>::Zero(n);
    const double size = trial % 2 == 0 ? 0.3 : 2;
    for (int i = 6; i < n; ++i) {
      const auto& limits = model.body(BodyId(i - 4)).limits[0];
      q[i + 1] = *limits.lower + (0.5 + 0.6 * unit(engine)) * (*limits.upper - *limits.lower);
      v[i] = size * *limits.velocity * unit(engine);
      if (trial % 10 == 0) q[i + 1] = *limits.lower - 1;  // comes back too fast: a contradiction
    }
    body.update(q, v);
    body.solve(body.targets());
    for (int i = 6; i < n; ++i) {
      const auto& limits = model.body(BodyId(i - 4)).limits[0];
      const double k = 50, speed = *limits.velocity, hardest = k * speed;
      const double up = *limits.upper - q[i + 1], down = q[i + 1] - *limits.lower;
      double upper = std::max(k * (speed - v[i]), -hardest);
      double lower = std::min(-k * (speed + v[i]), hardest);
      const double near_upper = std::max(k * k * up - 2 * k * v[i], -hardest);
      const double near_lower = std::min(-k * k * down - 2 * k * v[i], hardest);
      if (!(near_upper >= upper)) upper = near_upper;
      if (!(near_lower <= lower)) lower = near_lower;
      outside += up < 0 || down < 0;
      if (lower > upper) {
        ++contradicting;
        lower = upper = (lower + upper) / 2;
      }
      const double scale = 1e-12 * (hardest + k * k);
      EXPECT_NEAR(body.program().upper()[first + i - 6], upper, scale) << trial;
      EXPECT_NEAR(body.program().lower()[first + i - 6], lower, scale) << trial;
    }
  }
  EXPECT_GT(outside, 50);
  EXPECT_GT(contradicting, 5);
}

// The report: how far the torques of the solution are above their limits, and the forces outside
// of their pyramids, recomputed from the solution.
TEST_F(WholeBodyTest, ReportsTheViolationOfTheSolution) {
  const LeggedRobot robot = testing::quadruped();
  const Model<double>& model = robot.model;
  const int n = model.nv();
  std::mt19937_64 engine(31);
  std::uniform_real_distribution<double> unit(-1, 1);
  WholeBodyOptions options;
  options.effort_share = 0.15;
  options.cone_faces = 6;
  options.qp.tolerance = 1e-3;  // so that violations are not at rounding
  WholeBody body(model, robot.feet, options);
  Workspace<double> work(model);
  Matrix6X<double> J(6, n);
  int over = 0, out = 0, below = 0;
  for (int trial = 0; trial < 60; ++trial) {
    VectorX<double> q = robot.q, v(n), dq(n), tau(n);
    for (double& x : dq) x = 0.1 * unit(engine);
    for (double& x : v) x = 0.3 * unit(engine);
    integrate(model, robot.q, dq, q);
    WholeBodyTargets targets = body.targets();
    for (double& x : targets.mass_center) x = 20 * unit(engine);
    for (double& x : targets.turn) x = 20 * unit(engine);
    body.update(q, v);
    body.solve(targets);
    if (body.report().fell_back) continue;
    rnea(model, work, q, v, body.acceleration(), tau, JointEffects{true, true, false});
    Worst outside, above;
    outside.add(0);
    above.add(0);
    const double slope = 0.6 * std::cos(std::numbers::pi / 6);
    for (int k = 0; k < 4; ++k) {
      const Vector3<double> f = body.forces().col(k);
      frame_jacobian(model, body.kinematics(), robot.feet[static_cast<std::size_t>(k)].frame,
                     FrameAxes::local_world_aligned, J);
      tau -= J.topRows<3>().transpose() * f;
      outside.add(-f.z());
      for (int face = 0; face < 6; ++face) {
        const double angle = std::numbers::pi / 3 * face;
        outside.add(std::cos(angle) * f.x() + std::sin(angle) * f.y() - slope * f.z());
      }
    }
    for (int i = 6; i < n; ++i) {
      const double limit = 0.15 * *model.body(BodyId(i - 4)).limits[0].effort;
      above.add(std::abs(tau[i]) - limit);
      below += tau[i] < -limit;
      EXPECT_NEAR(body.torque()[i], std::clamp(tau[i], -limit, limit), 1e-11);
    }
    over += above.value() > 1e-6;
    out += outside.value() > 1e-6;
    EXPECT_NEAR(body.report().over_limit, above.value(), 1e-11) << trial;
    EXPECT_NEAR(body.report().outside_cone, outside.value(), 1e-11) << trial;
  }
  EXPECT_GT(over, 10);
  EXPECT_GT(out, 10);
  EXPECT_GT(below, 5);
}

// Four times the weight at each point, by default.
TEST_F(WholeBodyTest, NormalForcesAreBounded) {
  const LeggedRobot robot = testing::quadruped();
  const int n = robot.model.nv();
  WholeBodyOptions options;
  options.effort = VectorX<double>::Constant(n, 1e5);
  for (const double bound : {0.0, 100.0}) {
    options.max_normal_force = bound;
    WholeBody body(robot.model, robot.feet, options);
    body.update(robot.q, VectorX<double>::Zero(n));
    WholeBodyTargets targets = body.targets();
    targets.mass_center.z() = 1000;
    body.solve(targets);
    const double expected = bound > 0 ? bound : 4 * weight_of(robot);
    Worst most;
    for (int k = 0; k < 4; ++k) most.add(body.foot_force(k).z());
    EXPECT_NEAR(most.value(), expected, 1e-3 * expected);
  }
}

// The wanted force of a sole is shared by its points: -weight_of_task F / (points weight) in g.
TEST_F(WholeBodyTest, WantedForcesAreSharedByThePoints) {
  for (const LeggedRobot& robot : {testing::quadruped(), testing::humanoid()}) {
    const int n = robot.model.nv();
    WholeBody body(robot.model, robot.feet);
    body.update(robot.q, VectorX<double>::Zero(n));
    WholeBodyTargets targets = body.targets();
    for (auto& foot : targets.feet) foot.force = {3, -4, 50};
    body.solve(targets);
    const auto count = static_cast<double>(robot.feet[0].points.size());
    for (int k = 0; k < points_of(robot); ++k) {
      const Vector3<double> g = body.program().g().segment<3>(n + 3 * k);
      const Vector3<double> expected =
          -1e-3 / (count * weight_of(robot)) * Vector3<double>(3, -4, 50);
      EXPECT_LT((g - expected).norm(), 1e-15 * 1e-3);
    }
  }
}

// A sole in stance brakes its rotation; a sole in swing follows its angular target.
TEST_F(WholeBodyTest, SolesFollowTheirAngularTargets) {
  const LeggedRobot robot = testing::humanoid();
  const Model<double>& model = robot.model;
  const int n = model.nv();
  WholeBody body(model, robot.feet);
  std::mt19937_64 engine(37);
  std::uniform_real_distribution<double> unit(-1, 1);
  constexpr auto kAxes = FrameAxes::local_world_aligned;
  const auto acceleration = [&](int foot, const VectorX<double>& q, const VectorX<double>& v) {
    Kinematics<double> kinematics(model);
    forward_kinematics(model, q, v, body.acceleration(), kinematics);
    return std::pair{
        frame_acceleration(model, kinematics, robot.feet[static_cast<std::size_t>(foot)].frame,
                           kAxes, AccelerationKind::classical),
        frame_velocity(model, kinematics, robot.feet[static_cast<std::size_t>(foot)].frame, kAxes)};
  };
  for (int trial = 0; trial < 10; ++trial) {
    VectorX<double> v(n);
    for (double& x : v) x = 0.1 * unit(engine);
    body.update(robot.q, v);
    body.solve(body.targets());
    ASSERT_EQ(body.report().status, Status::ok);
    for (const int foot : {0, 1}) {
      const auto [a, V] = acceleration(foot, robot.q, v);
      const double rate = std::min(20 / V.w.norm(), 50.0);
      EXPECT_LT((a.w + rate * V.w).norm(), 100 * kTolerance) << trial;
    }
  }
  const VectorX<double> v = VectorX<double>::Zero(n);
  body.update(robot.q, v);
  WholeBodyTargets targets = body.targets();
  targets.feet[1].stands = false;
  Vector3<double> found[2] = {Vector3<double>::Zero(), Vector3<double>::Zero()};
  for (const int side : {0, 1}) {
    targets.feet[1].acceleration.w = (side == 0 ? 1 : -1) * Vector3<double>(1, -2, 0.5);
    body.solve(targets);
    ASSERT_EQ(body.report().status, Status::ok);
    found[side] = acceleration(1, robot.q, v).first.w;
  }
  EXPECT_LT(((found[0] - found[1]) / 2 - Vector3<double>(1, -2, 0.5)).norm(), 0.1);
}

// Right-handed and orthonormal with the normal as z, also where the normal is the y or x axis.
TEST(ContactAxes, AreARotationForEveryNormal) {
  std::mt19937_64 engine(41);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 100; ++trial) {
    Vector3<double> n(normal(engine), normal(engine), normal(engine));
    if (trial < 6) n = (trial < 3 ? 1 : -1) * Vector3<double>::Unit(trial % 3);
    n.normalize();
    const Matrix3<double> R = contact_axes(n);
    EXPECT_EQ(R.col(2), n);
    EXPECT_LT((R.transpose() * R - Matrix3<double>::Identity()).norm(), 1e-14) << trial;
    EXPECT_NEAR(R.determinant(), 1, 1e-14);
    if (std::abs(n.y()) < 0.9) {
      EXPECT_EQ(R(1, 0), 0);  // x in the xz-plane of the world
    }
  }
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
