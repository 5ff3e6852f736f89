// The parts of locomotion alone: gaits, ways of feet, footholds, forces over a horizon.
#include <gtest/gtest.h>

#include "limb/base/error.hpp"
#include "limb/control/foothold.hpp"
#include "limb/control/gait.hpp"
#include "limb/control/locomotion.hpp"
#include "limb/control/mpc.hpp"
#include "limb/control/swing.hpp"
#include "limb/control/testing/legged_robots.hpp"
#include "limb/dynamics/testing/allocations.hpp"

namespace limb {
namespace {

TEST(Gait, FeetStandForTheirShareOfThePeriod) {
  for (const Gait& gait : {Gait::trot(), Gait::walk(), Gait::trot(0.4, 0.5)}) {
    gait.check("test", 4);
    for (int foot = 0; foot < 4; ++foot) {
      int standing = 0;
      constexpr int kSamples = 10000;
      for (int k = 0; k < kSamples; ++k) {
        const double t = 3 * gait.period * (k + 0.5) / kSamples;
        const Gait::Phase phase = gait.phase(foot, t);
        standing += phase.stands ? 1 : 0;
        // The other part begins when it is said to.
        EXPECT_NE(gait.phase(foot, t + phase.left + 1e-9).stands, phase.stands);
        EXPECT_EQ(gait.phase(foot, t + 0.999 * phase.left).stands, phase.stands);
      }
      EXPECT_NEAR(standing / double(kSamples), gait.duty, 1e-3);
    }
  }
}

TEST(Gait, TrotMovesDiagonalsAndWalkOneFootAtATime) {
  const Gait trot = Gait::trot(), walk = Gait::walk();
  for (double t = 0.001; t < 2; t += 0.007) {
    EXPECT_EQ(trot.phase(0, t).stands, trot.phase(3, t).stands);
    EXPECT_EQ(trot.phase(1, t).stands, trot.phase(2, t).stands);
    EXPECT_TRUE(trot.phase(0, t).stands || trot.phase(1, t).stands);
    int up = 0;
    for (int i = 0; i < 4; ++i) up += walk.phase(i, t).stands ? 0 : 1;
    EXPECT_LE(up, 1);
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(Gait::stand(2).phase(i, t).stands);
  }
  EXPECT_THROW(Gait::trot().check("test", 2), Error);
  EXPECT_THROW(Gait::trot(0, 0.5).check("test", 4), Error);
  EXPECT_THROW(Gait::trot(1, 0).check("test", 4), Error);
}

TEST(Swing, IsSmoothAndClearsTheGround) {
  const Vector3<double> from(1, 2, 0.1), to(1.3, 1.9, 0.2);
  constexpr double kTime = 0.3, kClearance = 0.08, kStep = 1e-5;
  const auto at = [&](double s) { return swing_point(from, to, kClearance, kTime, s, 0.5); };
  for (const double end : {0.0, 1.0}) {
    EXPECT_LT((at(end).p - (end == 0 ? from : to)).norm(), 1e-15);
    EXPECT_LT(at(end).v.norm(), 1e-15);
    EXPECT_LT(at(end).a.norm(), 1e-12);
  }
  EXPECT_NEAR(at(0.5).p.z(), 0.15 + kClearance, 1e-15);
  for (double s = 0.01; s < 0.995; s += 0.01) {
    // Central differences: error of order kStep^2 times the fifth derivative, and rounding.
    const Vector3<double> v = (at(s + kStep).p - at(s - kStep).p) / (2 * kStep * kTime);
    const Vector3<double> a = (at(s + kStep).v - at(s - kStep).v) / (2 * kStep * kTime);
    EXPECT_LT((v - at(s).v).norm(), 1e-7);
    EXPECT_LT((a - at(s).a).norm(), 1e-5);
    EXPECT_GE(at(s).p.z(), 0.1);
  }
  EXPECT_NEAR(at(1.5).p.z(), to.z() - 0.5 * 0.5 * kTime, 1e-15);  // looks for the ground
}

// Under the hip at rest; at the wanted velocity half of the stance ahead; never too far.
TEST(Foothold, FollowsRaibertsRule) {
  FootholdInput in;
  in.p_WC = {3, 4, 0.3};
  in.v_WC = in.v_wanted = Vector3<double>::Zero();
  in.p_CF = {0.2, 0.1, -0.3};
  in.stance_time = 0.3;
  in.height = 0.3;
  in.ground = 0.05;
  EXPECT_LT((foothold(in) - Vector3<double>(3.2, 4.1, 0.05)).norm(), 1e-15);
  in.yaw = M_PI / 2;
  EXPECT_LT((foothold(in) - Vector3<double>(2.9, 4.2, 0.05)).norm(), 1e-15);
  in.v_WC = in.v_wanted = {0.4, 0, 0};
  in.left = 0.1;
  EXPECT_LT((foothold(in) - Vector3<double>(2.9 + 0.04 + 0.06, 4.2, 0.05)).norm(), 1e-15);
  in.v_wanted.setZero();  // too fast: further ahead
  EXPECT_GT(foothold(in).x(), 3.01);
  in.v_WC = {100, 0, 0};
  in.left = 0;
  EXPECT_NEAR((foothold(in) - Vector3<double>(2.9, 4.2, 0.05)).norm(), in.farthest, 1e-12);
}

class MpcTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Qp::available()) GTEST_SKIP() << "limb was built without a solver of quadratic programs";
  }
  static MpcProblem standing(const MpcOptions& options) {
    MpcProblem problem(4, options.steps);
    problem.inertia = Vector3<double>(0.1, 0.3, 0.3).asDiagonal();
    problem.p = {0, 0, 0.3};
    for (auto& p : problem.p_wanted) p = problem.p;
    for (std::size_t k = 0; k < problem.feet.size(); ++k) {
      problem.feet[k] = {k % 4 < 2 ? 0.2 : -0.2, k % 2 == 0 ? 0.15 : -0.15, 0};
    }
    return problem;
  }
};

TEST_F(MpcTest, RestIsTheEvenShareOfTheWeight) {
  const MpcOptions options;
  SingleBodyMpc mpc(4, 12, {0, 0, -9.81}, options);
  ASSERT_EQ(mpc.solve(standing(options)), QpStatus::solved);
  for (const auto& f : mpc.forces()) {
    EXPECT_LT((f - Vector3<double>(0, 0, 12 * 9.81 / 4)).norm(), 1e-3 * 12 * 9.81);
  }
  EXPECT_LT(mpc.acceleration().norm(), 0.01);
  EXPECT_LT(mpc.angular_acceleration().norm(), 0.1);
}

// An error of each coordinate is answered by an acceleration against it.
TEST_F(MpcTest, ErrorsAreDrivenBack) {
  const MpcOptions options;
  SingleBodyMpc mpc(4, 12, {0, 0, -9.81}, options);
  for (int axis = 0; axis < 3; ++axis) {
    for (const double sign : {-1.0, 1.0}) {
      MpcProblem problem = standing(options);
      problem.p[axis] += 0.02 * sign;
      for (auto& f : problem.feet) f[axis] += axis < 2 ? 0.02 * sign : 0;  // the feet come along
      ASSERT_EQ(mpc.solve(problem), QpStatus::solved);
      EXPECT_LT(sign * mpc.acceleration()[axis], -0.05) << "position " << axis;
      problem = standing(options);
      problem.v[axis] = 0.2 * sign;
      ASSERT_EQ(mpc.solve(problem), QpStatus::solved);
      EXPECT_LT(sign * mpc.acceleration()[axis], -0.05) << "velocity " << axis;
      problem = standing(options);
      problem.turn[axis] = 0.1 * sign;
      ASSERT_EQ(mpc.solve(problem), QpStatus::solved);
      EXPECT_LT(sign * mpc.angular_acceleration()[axis], -0.05) << "turn " << axis;
    }
  }
}

TEST_F(MpcTest, ForcesStayInTheirPyramids) {
  MpcOptions options;
  SingleBodyMpc mpc(4, 12, {0, 0, -9.81}, options);
  MpcProblem problem = standing(options);
  problem.v = {2, 1, 0};  // more than friction can stop at once
  for (int k = 0; k < options.steps; ++k) {
    problem.stands[static_cast<std::size_t>(4 * k + 1)] = 0;
    problem.stands[static_cast<std::size_t>(4 * k + 2)] = 0;
  }
  ASSERT_EQ(mpc.solve(problem), QpStatus::solved);
  EXPECT_EQ(mpc.variables(), 3 * 2 * options.steps);  // the small program
  EXPECT_EQ(mpc.forces()[1].norm(), 0);
  const double allowed = 10 * options.qp.tolerance * 12 * 9.81;
  for (const int foot : {0, 3}) {
    const Vector3<double>& f = mpc.forces()[static_cast<std::size_t>(foot)];
    EXPECT_GE(f.z(), -allowed);
    EXPECT_LE(f.head<2>().norm(), options.friction * f.z() + allowed);
  }
  EXPECT_THROW(SingleBodyMpc(0, 12, {0, 0, -9.81}), Error);
  EXPECT_THROW(SingleBodyMpc(4, 12, {0, 0, 0}), Error);
}

TEST_F(MpcTest, LocomotionNamesWhatIsWrong) {
  const testing::LeggedRobot robot = testing::quadruped();
  Locomotion walk(robot.model, robot.feet, robot.q);
  EXPECT_THROW(walk.set_gait(Gait::stand(2)), Error);
  const bool contact[4] = {true, true, true, true};
  const VectorX<double> q = robot.q.tail(12), v = VectorX<double>::Zero(12);
  EXPECT_THROW(walk.step({}, q.head(3), v, contact, {}), Error);
  EXPECT_THROW(walk.step({}, q, v, std::span(contact, 3), {}), Error);
  LocomotionOptions options;
  options.mpc_period = 0.003;  // no multiple of 0.002
  EXPECT_THROW(Locomotion(robot.model, robot.feet, robot.q, options), Error);
  EXPECT_THROW(Locomotion(load_model("builtin:arm6"), robot.feet, robot.q), Error);
}

TEST_F(MpcTest, StepsAllocateOnlyInTheSolver) {
  if (!testing::kCountsAllocations) GTEST_SKIP() << "sanitizers bring an allocator of their own";
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

// Two feet look for ground that is not there: the others stay, though the gait would have them
// leave after 0.275 s, until the search is given up.
TEST(Locomotion, NoFootLeavesWhileAnotherIsLate) {
  if (!Qp::available()) GTEST_SKIP() << "limb was built without a solver of quadratic programs";
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
