// Robots that stand: pushes, squats, and what the program promises at every step.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "limb/control/whole_body_balance.hpp"
#include "tests/locomotion/expect_kept.hpp"
#include "tests/locomotion/ground_run.hpp"

namespace limb {
namespace {

class Standing : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Qp::available()) GTEST_SKIP() << "limb was built without a solver of quadratic programs";
  }
};

// Six pushes of 5 N s, a second apart: each would move the robot by 0.33 m/s.
TEST_F(Standing, QuadrupedHoldsPushesOfThirtyNewtonSeconds) {
  const testing::LeggedRobot robot = testing::quadruped();
  const FrameId trunk = robot.model.find_frame("trunk");
  const Vector3<double> impulses[] = {{5, 0, 0},  {-5, 0, 0}, {0, 5, 0},
                                      {0, -5, 0}, {3, 4, 0},  {-4, -3, 0}};
  std::vector<WrenchSchedule::Push> pushes;
  for (const auto& impulse : impulses) {
    pushes.push_back(testing::push(trunk, 0.5 + static_cast<double>(pushes.size()), impulse));
  }
  testing::GroundRun run(robot, 1e-3, pushes);
  Balance balance(robot.model, robot.feet);
  const Balance::Reference reference = balance.reference_at(robot.q);
  testing::Worst worst;
  double farthest = 0;
  run.simulation().set_controller([&](const ControlInput& now, VectorX<double>& tau) {
    tau = balance.step(now.q, now.v, reference);
    worst.take(balance.whole_body().report());
    farthest = std::max(farthest, (now.q.head<3>() - robot.q.head<3>()).norm());
  });
  run.simulation().run_until(7.5);
  testing::expect_kept(worst, 9.81 * robot.model.total_mass());
  EXPECT_LT(farthest, 0.04);
  EXPECT_GT(farthest, 0.005);  // the pushes are felt
  // Ground and friction of this test give a little: 1 mm of sinking, some of creeping.
  EXPECT_LT((run.state().q.head<3>() - robot.q.head<3>()).norm(), 0.01);
  EXPECT_LT(run.state().v.norm(), 0.02);
}

// The mass centre goes down by 0.1 m and up again in 4 s, then two pushes of 6 N s at the torso.
TEST_F(Standing, HumanoidSquatsAndTakesPushes) {
  const testing::LeggedRobot robot = testing::humanoid();
  const FrameId torso = robot.model.find_frame("torso");
  testing::GroundRun run(
      robot, 1e-3, {testing::push(torso, 4.5, {6, 0, 0}), testing::push(torso, 6, {0, 6, 0})});
  Balance balance(robot.model, robot.feet);
  Balance::Reference reference = balance.reference_at(robot.q);
  const Vector3<double> home(0.03, 0, reference.mass_center.z());  // above the middle of the soles
  constexpr double kDepth = 0.1, kRate = 2 * std::numbers::pi / 4;
  testing::Worst worst;
  double lowest = home.z(), error = 0;
  run.simulation().set_controller([&](const ControlInput& now, VectorX<double>& tau) {
    const double phase = now.t < 4 ? kRate * now.t : 0;
    reference.mass_center = home;
    reference.mass_center.z() -= kDepth / 2 * (1 - std::cos(phase));
    reference.mass_center_velocity.z() = -kDepth / 2 * kRate * std::sin(phase);
    reference.mass_center_acceleration.z() =
        now.t < 4 ? -kDepth / 2 * kRate * kRate * std::cos(phase) : 0;
    tau = balance.step(now.q, now.v, reference);
    worst.take(balance.whole_body().report());
    const double z = balance.whole_body().mass_center().z();
    lowest = std::min(lowest, z);
    if (now.t > 1 && now.t < 4) error = std::max(error, std::abs(z - reference.mass_center.z()));
  });
  run.simulation().run_until(8);
  testing::expect_kept(worst, 9.81 * robot.model.total_mass());
  EXPECT_LT(lowest, home.z() - 0.9 * kDepth);
  EXPECT_LT(error, 0.01);
  EXPECT_LT((balance.whole_body().mass_center() - home).norm(), 0.01);
  EXPECT_LT(run.state().v.norm(), 0.05);
}

}  // namespace
}  // namespace limb
