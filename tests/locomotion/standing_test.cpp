// Balance under pushes and during squats, with the constraints checked at every step; on compliant
// and on rigid ground.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "limb/base/testing/worst.hpp"
#include "limb/control/whole_body/balance.hpp"
#include "tests/locomotion/expect_within_tolerance.hpp"
#include "tests/locomotion/ground_run.hpp"
#include "tests/locomotion/rigid_run.hpp"

namespace limb {
namespace {

class Standing : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Qp::available()) GTEST_SKIP() << "limb was built without a solver of quadratic programs";
  }
};

double weight_of(const testing::LeggedRobot& robot) {
  return 9.81 * robot.model.total_mass();
}

/// Six pushes of 5 N s, a second apart: each would move the robot by 0.33 m/s.
std::vector<WrenchSchedule::Push> six_pushes(const testing::LeggedRobot& robot) {
  const FrameId trunk = robot.model.find_frame("trunk");
  std::vector<WrenchSchedule::Push> pushes;
  for (const Vector3<double>& impulse :
       {Vector3<double>(5, 0, 0), {-5, 0, 0}, {0, 5, 0}, {0, -5, 0}, {3, 4, 0}, {-4, -3, 0}}) {
    pushes.push_back(testing::push(trunk, 0.5 + static_cast<double>(pushes.size()), impulse));
  }
  return pushes;
}

/// Displacement of the base: largest and final; final speed.
struct Displacement {
  double largest = 0, at_end = 0, speed = 0;
};

template <typename Run>
Displacement balance_under_pushes(Run& run, const testing::LeggedRobot& robot) {
  Balance balance(robot.model, robot.feet);
  const Balance::Reference reference = balance.reference_at(robot.q);
  testing::WorstStep worst;
  Displacement base;
  run.simulation().set_controller([&](const ControlInput& now, VectorX<double>& tau) {
    tau = balance.step(now.q, now.v, reference);
    worst.add(balance.whole_body().report());
    base.largest = worse(base.largest, (now.q.head<3>() - robot.q.head<3>()).norm());
  });
  run.simulation().run_until(7.5);
  testing::expect_within_tolerance(worst, weight_of(robot));
  const VectorX<double>& q = run.state().q;
  base.at_end = (q.head<3>() - robot.q.head<3>()).norm();
  base.speed = run.state().v.norm();
  std::printf("pushes of 30 N s: largest displacement %.1f mm, final %.2f mm\n", 1e3 * base.largest,
              1e3 * base.at_end);
  return base;
}

TEST_F(Standing, QuadrupedRecoversFromPushes) {
  const testing::LeggedRobot robot = testing::quadruped();
  testing::GroundRun run(robot, 1e-3, six_pushes(robot));
  const Displacement base = balance_under_pushes(run, robot);
  EXPECT_LT(base.largest, 0.04);
  EXPECT_GT(base.largest, 0.005);  // the pushes have an effect
  // The compliant ground allows 1 mm of penetration and some creep.
  EXPECT_LT(base.at_end, 0.01);
  EXPECT_LT(base.speed, 0.02);
}

TEST_F(Standing, QuadrupedRecoversFromPushesOnRigidGround) {
  const testing::LeggedRobot robot = testing::quadruped();
  testing::RigidRun run(robot, 1e-3, six_pushes(robot));
  const Displacement base = balance_under_pushes(run, robot);
  EXPECT_LT(base.largest, 0.02);
  EXPECT_GT(base.largest, 0.005);
  EXPECT_LT(base.at_end, 1e-3);  // no compliance: it returns
  EXPECT_LT(base.speed, 1e-3);
}

/// The mass centre goes down by 0.1 m and up again in 4 s, then two pushes of 6 N s at the torso.
template <typename Run>
void squat(Run& run, const testing::LeggedRobot& robot) {
  Balance balance(robot.model, robot.feet);
  Balance::Reference reference = balance.reference_at(robot.q);
  const Vector3<double> home(0.03, 0, reference.mass_center.z());  // above the middle of the soles
  constexpr double kDepth = 0.1, kRate = 2 * std::numbers::pi / 4;
  testing::WorstStep worst;
  Worst error, farthest;
  Least lowest;
  run.simulation().set_controller([&](const ControlInput& now, VectorX<double>& tau) {
    const double phase = now.t < 4 ? kRate * now.t : 0;
    reference.mass_center = home;
    reference.mass_center.z() -= kDepth / 2 * (1 - std::cos(phase));
    reference.mass_center_velocity.z() = -kDepth / 2 * kRate * std::sin(phase);
    reference.mass_center_acceleration.z() =
        now.t < 4 ? -kDepth / 2 * kRate * kRate * std::cos(phase) : 0;
    tau = balance.step(now.q, now.v, reference);
    worst.add(balance.whole_body().report());
    const Vector3<double>& p = balance.whole_body().mass_center();
    lowest.add(p.z());
    if (now.t > 1 && now.t < 4) {
      error.add(std::abs(p.z() - reference.mass_center.z()));
    }
    if (now.t > 4) farthest.add((p - home).norm());
  });
  run.simulation().run_until(8);
  testing::expect_within_tolerance(worst, weight_of(robot));
  std::printf("squat: tracking error %.1f mm, displacement by the pushes %.1f mm\n",
              1e3 * error.value(), 1e3 * farthest.value());
  EXPECT_LT(lowest.value(), home.z() - 0.9 * kDepth);
  EXPECT_LT(error.value(), 0.01);
  EXPECT_LT(farthest.value(), 0.03);
  EXPECT_GT(farthest.value(), 0.003);
  EXPECT_LT((balance.whole_body().mass_center() - home).norm(), 0.01);
  EXPECT_LT(run.state().v.norm(), 0.05);
}

std::vector<WrenchSchedule::Push> two_pushes(const testing::LeggedRobot& robot) {
  const FrameId torso = robot.model.find_frame("torso");
  return {testing::push(torso, 4.5, {6, 0, 0}), testing::push(torso, 6, {0, 6, 0})};
}

TEST_F(Standing, HumanoidSquatsAndRecoversFromPushes) {
  const testing::LeggedRobot robot = testing::humanoid();
  testing::GroundRun run(robot, 1e-3, two_pushes(robot));
  squat(run, robot);
}

TEST_F(Standing, HumanoidSquatsAndRecoversFromPushesOnRigidGround) {
  const testing::LeggedRobot robot = testing::humanoid();
  testing::RigidRun run(robot, 1e-3, two_pushes(robot));
  squat(run, robot);
}

// Friction limits the reaction to a push: the program accounts for it, the feet do not slip, and
// the body moves farther.
TEST_F(Standing, QuadrupedRecoversFromPushesOnSmoothGround) {
  const testing::LeggedRobot robot = testing::quadruped();
  testing::RigidRun run(robot, 1e-3, six_pushes(robot), 0.3);
  BalanceOptions options;
  options.whole_body.friction = 0.28;
  Balance balance(robot.model, robot.feet, options);
  const Balance::Reference reference = balance.reference_at(robot.q);
  testing::WorstStep worst;
  Worst farthest, used, sliding;
  run.simulation().set_controller([&](const ControlInput& now, VectorX<double>& tau) {
    tau = balance.step(now.q, now.v, reference);
    worst.add(balance.whole_body().report());
    farthest.add((now.q.head<3>() - robot.q.head<3>()).norm());
    const Vector3<double> f = balance.whole_body().forces().rowwise().sum();
    used.add(f.head<2>().norm() / f.z());
    for (const ContactPoint& c : run.contacts().points()) {
      sliding.add(c.velocity_W.head<2>().norm());
    }
  });
  run.simulation().run_until(7.5);
  testing::expect_within_tolerance(worst, weight_of(robot));
  std::printf(
      "smooth ground: largest displacement %.1f mm, friction %.3f, sliding velocity %.4f m/s\n",
      1e3 * farthest.value(), used.value(), sliding.value());
  EXPECT_LT(farthest.value(), 0.06);
  EXPECT_GT(used.value(), 0.15);
  EXPECT_LE(used.value(), 0.28 + 1e-6);
  EXPECT_LT(sliding.value(), 1e-3);
}

}  // namespace
}  // namespace limb
