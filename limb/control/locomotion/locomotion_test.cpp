#include "limb/control/locomotion/locomotion.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "limb/base/error.hpp"
#include "limb/base/testing/worst.hpp"
#include "limb/control/locomotion/foothold.hpp"
#include "limb/control/locomotion/swing.hpp"
#include "limb/control/testing/legged_robots.hpp"
#include "limb/dynamics/kinematics/centroidal_momentum.hpp"
#include "limb/dynamics/testing/allocations.hpp"
#include "limb/math/so3.hpp"
#include "limb/math/testing/random.hpp"

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

/// The posture with its base at this yaw.
BaseState at_yaw(const testing::LeggedRobot& robot, double yaw,
                 const Vector3<double>& p = Vector3<double>::Zero()) {
  BaseState base;
  base.X_WB.R = so3::exp<double>(yaw * Vector3<double>::UnitZ());
  base.X_WB.p = p + Vector3<double>(0, 0, robot.q[2]);
  return base;
}

// Swing feet while turning on the spot: the nominal stance, centred below the mass centre, turned
// by the yaw at the middle of the next stance.
TEST_F(LocomotionTest, FootholdsTurnWithTheYawRate) {
  const testing::LeggedRobot robot = testing::quadruped();
  const VectorX<double> rest = VectorX<double>::Zero(12);
  const Gait gait = Gait::trot();
  for (const double yaw_rate : {-0.8, 0.0, 0.8}) {
    for (const double yaw : {0.0, 2.5}) {
      Locomotion walk(robot.model, robot.feet, robot.q);
      walk.set_gait(gait);
      const BaseState base = at_yaw(robot, yaw, {3, -2, 0});
      int seen = 0;
      for (int step = 0; step < 100; ++step) {
        const double t = step * walk.options().control_period;
        const bool contact[4] = {true, false, false, true};
        walk.step(base, robot.q.tail(12), rest, contact, {0, 0, yaw_rate});
        const WholeBody& body = walk.whole_body();
        Vector3<double> middle = Vector3<double>::Zero();
        for (int i = 0; i < 4; ++i) middle += body.foot_position(i) / 4;
        for (const int foot : {1, 2}) {
          // Fixed in the last fifth of the swing, from 0.025 s to 0.25 s.
          if (walk.stands(foot) || t > 0.2) continue;
          const double ahead = 0.25 - t + gait.stance_time() / 2;
          const Matrix3<double> R = so3::exp<double>(yaw_rate * ahead * Vector3<double>::UnitZ());
          const Vector3<double> hip = R * (body.foot_position(foot) - middle);
          Vector3<double> expected = body.mass_center() + hip;
          expected.z() = body.foot_position(0).z();
          EXPECT_LT((walk.foothold_of(foot) - expected).norm(), 1e-13) << t;
          ++seen;
        }
      }
      EXPECT_GT(seen, 100);
    }
  }
}

// Forward and to the left are those of the heading; the desired mass centre moves with the command,
// up to its lead over the actual one.
TEST_F(LocomotionTest, CommandsAreInTheHeadingFrame) {
  const testing::LeggedRobot robot = testing::quadruped();
  const VectorX<double> rest = VectorX<double>::Zero(12);
  const bool contact[4] = {true, true, true, true};
  for (const double yaw : {0.0, 1.0, -2.8}) {
    Locomotion walk(robot.model, robot.feet, robot.q);
    const BaseState base = at_yaw(robot, yaw);
    const double h = walk.options().control_period;
    const Vector3<double> v(0.3 * std::cos(yaw) - 0.1 * std::sin(yaw),
                            0.3 * std::sin(yaw) + 0.1 * std::cos(yaw), 0);
    for (int step = 1; step <= 200; ++step) {
      walk.step(base, robot.q.tail(12), rest, contact, {0.3, 0.1, 0});
      const Vector3<double> lead = walk.desired_mass_center() - walk.whole_body().mass_center();
      const double share = std::min(0.1 / (step * h * v.norm()), 1.0);
      EXPECT_LT((lead - share * step * h * v).norm(), 1e-14) << step;
    }
  }
}

// A foot that touches down late in its swing stands; one that touches early does not.
TEST_F(LocomotionTest, TouchDownEndsTheSecondHalfOfASwing) {
  const testing::LeggedRobot robot = testing::quadruped();
  const VectorX<double> rest = VectorX<double>::Zero(12);
  Locomotion walk(robot.model, robot.feet, robot.q);
  const Gait gait = Gait::trot();  // feet 1 and 2 swing from 0.025 s to 0.25 s
  walk.set_gait(gait);
  const BaseState base = at_yaw(robot, 0);
  for (int step = 0; step < 120; ++step) {
    const double t = step * walk.options().control_period;
    const bool touches = t > 0.18;  // 69 % of the swing
    const bool contact[4] = {true, touches, t < 0.06, true};
    walk.step(base, robot.q.tail(12), rest, contact, {});
    EXPECT_EQ(walk.stands(0) && walk.stands(3), true) << t;
    if (t < 0.024) {
      EXPECT_TRUE(walk.stands(1) && walk.stands(2)) << t;
    } else if (t > 0.026 && t < 0.179) {
      EXPECT_FALSE(walk.stands(1) || walk.stands(2)) << t;
    } else if (t > 0.181) {
      EXPECT_TRUE(walk.stands(1)) << t;
      EXPECT_FALSE(walk.stands(2)) << t;
    }
  }
}

// The MPC runs every ten steps, and when a foot lifts off or touches down.
TEST_F(LocomotionTest, PredictsPeriodicallyAndAtContactChanges) {
  const testing::LeggedRobot robot = testing::quadruped();
  const VectorX<double> rest = VectorX<double>::Zero(12);
  Locomotion walk(robot.model, robot.feet, robot.q);
  walk.set_gait(Gait::trot());
  const BaseState base = at_yaw(robot, 0);
  bool stood[4] = {true, true, true, true};
  int changes = 0;
  for (int step = 0; step < 150; ++step) {
    const bool swings = step > 20 && step < 100;
    const bool contact[4] = {true, !swings, !swings, true};
    walk.step(base, robot.q.tail(12), rest, contact, {});
    bool changed = false;
    for (int i = 0; i < 4; ++i) {
      changed = changed || walk.stands(i) != stood[i];
      stood[i] = walk.stands(i);
    }
    changes += changed;
    EXPECT_EQ(walk.report().mpc_ran, step % 10 == 0 || changed) << step;
  }
  EXPECT_GE(changes, 2);
}

/// A robot near its posture that moves.
struct Moving {
  BaseState base;
  VectorX<double> q, v;
};

Moving moving(const testing::LeggedRobot& robot, testing::Random& random, double yaw) {
  Moving m{at_yaw(robot, yaw, {0.3, -0.2, 0}), robot.q.tail(12), VectorX<double>(12)};
  m.base.X_WB.R = m.base.X_WB.R * so3::exp<double>(random.vector<double>(0.05));
  m.base.X_WB.p += random.vector<double>(0.01);
  m.base.V_WB_B = random.motion<double>(0.2);
  for (double& x : m.q) x += random.uniform(-0.05, 0.05);
  for (double& x : m.v) x = random.uniform(-0.3, 0.3);
  return m;
}

// One run of the MPC and one whole-body program per step, both written again here from the command,
// the gait and the state: forces and torques are the same.
TEST_F(LocomotionTest, ForcesAndTorquesFollowFromCommandGaitAndState) {
  const testing::LeggedRobot robot = testing::quadruped();
  const Model<double>& model = robot.model;
  const int n = model.nv();
  const Gait gait = Gait::trot();
  const VelocityCommand command{0.3, -0.15, 0.6};
  LocomotionOptions options;
  options.mpc.qp.tolerance = 1e-8;
  options.whole_body.qp.tolerance = 1e-8;
  const double h = options.control_period, H = options.mpc.step;
  const double weight = 9.81 * model.total_mass();
  const Vector3<double> up = Vector3<double>::UnitZ();
  const auto turn_about_z = [&](double angle) { return so3::exp<double>(angle * up); };

  // The nominal stance, centred below the mass centre.
  WholeBody body(model, robot.feet, options.whole_body);
  VectorX<double> q = robot.q, v = VectorX<double>::Zero(n);
  body.update(q, v);
  std::vector<Vector3<double>> nominal;
  Vector3<double> middle = Vector3<double>::Zero();
  for (int i = 0; i < 4; ++i) {
    nominal.push_back(body.foot_position(i));
    middle += body.foot_position(i) / 4;
  }
  const double height = body.mass_center().z() - middle.z();
  for (auto& p : nominal) p -= middle;

  Locomotion walk(model, robot.feet, robot.q, options);
  walk.set_gait(gait);
  SingleBodyMpc mpc(4, model.total_mass(), model.gravity(), options.mpc);
  MpcProblem problem(4, options.mpc.steps);
  WholeBodyTargets targets = body.targets();
  testing::Random random(14);
  // Feet 1 and 2 swing from 0.026 s, their first step after 0.025 s, to 0.25 s.
  const double lifted = 0.026, down = 0.25;
  const Vector3<double> zero = Vector3<double>::Zero();
  Vector3<double> from[4] = {zero, zero, zero, zero}, p_desired = zero, p_start = zero,
                  v_start = zero;
  double yaw_desired = 0, started = 0;
  Worst force_error, torque_error;
  for (int step = 0; step < 100; ++step) {
    SCOPED_TRACE(step);
    const double t = step * h;
    const Moving m = moving(robot, random, 2.9 + 0.6 * t);
    const bool swings = t > 0.025;
    const bool contact[4] = {true, !swings, !swings, true};
    const VectorX<double> tau = walk.step(m.base, m.q, m.v, contact, command);
    EXPECT_EQ(walk.stands(1), !swings);

    q << m.base.X_WB.p, quaternion_from_matrix(m.base.X_WB.R).xyzw(), m.q;
    v << m.base.V_WB_B.vector(), m.v;
    body.update(q, v);
    const Matrix3<double>& R = m.base.X_WB.R;
    const double yaw = std::atan2(R(1, 0), R(0, 0));
    // Height of the ground: the mean of the feet that stood before this step.
    double ground = 0;
    const bool swung = t - h > 0.025;
    for (int i = 0; i < 4; ++i) {
      if (!swung || i == 0 || i == 3) ground += body.foot_position(i).z() / (swung ? 2 : 4);
    }
    if (step == 0) p_desired = body.mass_center();
    if (step == 0) yaw_desired = yaw;
    yaw_desired += h * 0.6;
    const double ahead = std::remainder(yaw_desired - yaw, 2 * std::numbers::pi);
    yaw_desired = yaw + std::clamp(ahead, -0.3, 0.3);
    const Vector3<double> v_command = turn_about_z(yaw_desired) * Vector3<double>(0.3, -0.15, 0);
    p_desired += h * v_command;
    Vector3<double> lead = p_desired - body.mass_center();
    lead.z() = 0;
    p_desired = body.mass_center() + lead * std::min(0.1 / lead.norm(), 1.0);
    p_desired.z() = ground + height;
    EXPECT_LT((walk.desired_mass_center() - p_desired).norm(), 1e-12);

    const auto foothold_after = [&](int i, double left) {
      FootholdInput in;
      in.p_WC = body.mass_center();
      in.v_WC = body.mass_center_velocity();
      in.yaw = yaw;
      in.v_desired = v_command;
      in.yaw_rate = 0.6;
      in.p_CF = nominal[static_cast<std::size_t>(i)];
      in.left = left;
      in.stance_time = 0.55 * 0.5;
      in.height = height;
      in.ground = ground;
      in.gain = 0.3;
      in.farthest = 0.25;
      return foothold(in);
    };
    Vector3<double> to[4] = {zero, zero, zero, zero};
    for (const int i : {1, 2}) {
      auto& foot = targets.feet[static_cast<std::size_t>(i)];
      foot.stands = !swings;
      if (!swings) from[i] = body.foot_position(i);
      if (!swings) continue;
      if (t < lifted + h / 2) from[i] = body.foot_position(i);
      const double s = (t - lifted) / (down - lifted);
      to[i] = s < 0.8 ? foothold_after(i, down - t) : walk.foothold_of(i);
      EXPECT_LT((walk.foothold_of(i) - to[i]).norm(), 1e-12);
      const SwingPoint swing = swing_point(from[i], to[i], 0.08, down - lifted, s, 0.8);
      foot.acceleration.v = swing.a + 600 * (swing.p - body.foot_position(i)) +
                            45 * (swing.v - body.foot_velocity(i));
    }

    const Vector3<double> w_W = R * m.base.V_WB_B.w;
    const bool runs = step % 10 == 0 || (swings && !swung);
    EXPECT_EQ(walk.report().mpc_ran, runs);
    if (runs) {
      problem.turn = so3::log<double>(R * turn_about_z(-yaw_desired));
      problem.p = body.mass_center();
      problem.v = body.mass_center_velocity();
      problem.w = w_W;
      problem.w_desired = 0.6 * up;
      // Angular momentum about the mass centre per angular velocity of the base, in world axes.
      Kinematics<double> still(model);
      for (int axis = 0; axis < 3; ++axis) {
        VectorX<double> rate = VectorX<double>::Zero(n);
        rate.segment<3>(3) = R.transpose() * Vector3<double>::Unit(axis);
        forward_kinematics(model, q, rate, still);
        problem.inertia.col(axis) = centroidal_momentum(model, still).n;
      }
      for (int k = 0; k < options.mpc.steps; ++k) {
        const auto at = static_cast<std::size_t>(k);
        const double mid = (k + 0.5) * H;  // after now
        problem.v_desired[at] = turn_about_z(0.6 * H * (k + 1)) * v_command;
        problem.p_desired[at] = p_desired;
        for (int j = 0; j <= k; ++j) {
          problem.p_desired[at] += H * (turn_about_z(0.6 * H * j) * v_command);
        }
        for (int i = 0; i < 4; ++i) {
          const Gait::Phase then = gait.phase(i, t + mid), now = gait.phase(i, t);
          const bool in_swing = swings && (i == 1 || i == 2);
          const bool stands = k == 0 ? !in_swing : then.stands && (!in_swing || t + mid >= down);
          problem.stands[4 * at + static_cast<std::size_t>(i)] = stands ? 1 : 0;
          auto& p = problem.feet[4 * at + static_cast<std::size_t>(i)];
          if (in_swing) {
            p = to[i];
          } else if (now.left > mid) {
            p = body.foot_position(i);
          } else {
            p = foothold_after(i, now.left + gait.swing_time());
          }
        }
      }
      ASSERT_EQ(mpc.solve(problem), Status::ok);
      p_start = problem.p;
      v_start = problem.v;
      started = t;
      for (std::size_t i = 0; i < 4; ++i) {
        targets.feet[i].force = mpc.forces()[i];
        force_error.add((mpc.forces()[i] - walk.mpc().forces()[i]).norm() / weight);
      }
    }
    const double since = t - started;
    const Vector3<double> a = mpc.acceleration();
    targets.mass_center =
        a + 40 * (p_start + since * v_start + since * since / 2 * a - body.mass_center()) +
        10 * (v_start + since * a - body.mass_center_velocity());
    targets.turn = mpc.angular_acceleration() +
                   100 * so3::log<double>(turn_about_z(yaw_desired) * R.transpose()) +
                   15 * (0.6 * up - w_W);
    targets.posture.setZero();
    targets.posture.tail(12) = 50 * (robot.q.tail(12) - m.q) - 10 * m.v;
    body.solve(targets);
    ASSERT_EQ(body.report().status, Status::ok);
    torque_error.add((body.torque() - tau).norm() / weight);
  }
  std::printf("forces differ by %.1e, torques by %.1e of the weight\n", force_error.value(),
              torque_error.value());
  EXPECT_LT(force_error.value(), 1e-5);
  EXPECT_LT(torque_error.value(), 1e-5);
}

}  // namespace
}  // namespace limb
