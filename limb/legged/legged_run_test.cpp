// Trots on the estimate of the robot's own sensors. Long runs from many seeds are in
// bench/legged_bench.cpp.
#include "limb/legged/legged_run.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "limb/dynamics/testing/allocations.hpp"
#include "limb/model/testing/shared.hpp"

namespace limb {
namespace {

constexpr double kBegin = 1.5;  // s, of the trot

LeggedRunOptions trot_options(std::uint64_t seed, double speed) {
  LeggedRunOptions options;
  options.seed = seed;
  options.plan = {{kBegin, Gait::trot(), {speed, 0, 0}}};
  return options;
}

/// @param hard  steps that may have no solution: a foot that hits an edge, for a moment.
void expect_walked(const LeggedRun& run, double speed, long hard = 0) {
  EXPECT_FALSE(run.fell()) << "at " << run.time() << " s";
  const LeggedSummary r = summarize(run, kBegin + 1);
  EXPECT_NEAR(r.mean_velocity.x(), speed, 0.15 * speed);
  EXPECT_NEAR(r.mean_velocity.y(), 0, 0.1 * speed);
  EXPECT_LT(r.largest_tilt, 0.08);
  EXPECT_LE(r.fell_back, hard);
  EXPECT_LE(r.unsolved, 2 * hard);
  // Three deviations of a normal error leave out 0.3 %; those of a few seconds are one draw of a
  // slow one. Measured over 20 seeds of 20 s: bench/README.md.
  EXPECT_LT(r.beyond_three_sigma, 0.02);
  EXPECT_LT(r.velocity_error, 0.03);
  EXPECT_LT(r.tilt_error, 0.02);
  EXPECT_LT(r.position_error, 0.03 * r.distance);
  EXPECT_LT(r.yaw_error, 0.03);
}

class LeggedTrot : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Qp::available()) GTEST_SKIP() << "limb was built without a solver of quadratic programs";
  }
};

TEST_F(LeggedTrot, OnLevelGround) {
  const LeggedRobot robot = load_quadruped("builtin:quadruped");
  for (const std::uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE(seed);
    LeggedRun run(robot, trot_options(seed, 0.5));
    run.run_until(6);
    expect_walked(run, 0.5);
  }
}

TEST_F(LeggedTrot, OverBlocks) {
  const LeggedRobot robot = load_quadruped("builtin:quadruped");
  for (const std::uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE(seed);
    LeggedRunOptions options = trot_options(seed, 0.5);
    options.ground = block_ground({}, seed);
    LeggedRun run(robot, options);
    run.run_until(8);
    expect_walked(run, 0.5, 5);  // of 2750; measured: 0, 1 and 0
    // It did come to the blocks: feet stood above and below the level.
    double high = 0, low = 0;
    for (const LeggedStep& s : run.steps()) {
      for (std::size_t i = 0; i < 4; ++i) {
        if (s.foot_force[i].z() < 20) continue;
        high = std::max(high, s.foot_position[i].z());
        low = std::min(low, s.foot_position[i].z());
      }
    }
    EXPECT_GT(high, 0.01);
    EXPECT_LT(low, -0.01);
  }
}

// 5 N s to the side, a third of a metre per second, while it trots; then it stands again.
TEST_F(LeggedTrot, IsPushedAndStops) {
  LeggedRunOptions options = trot_options(4, 0.5);
  options.pushes = {{3, {0, 5, 0}}};
  options.plan.push_back({4.5, Gait::trot(), {}});
  options.plan.push_back({5.5, Gait::stand(4), {}});
  LeggedRun run(load_quadruped("builtin:quadruped"), options);
  run.run_until(7);
  EXPECT_FALSE(run.fell());
  double sideways = 0;
  for (const LeggedStep& s : run.steps()) sideways = std::max(sideways, s.v[1]);
  EXPECT_GT(sideways, 0.15);  // the push is felt
  EXPECT_LT(run.steps().back().v.head<3>().norm(), 0.05);
}

TEST_F(LeggedTrot, RealQuadrupeds) {
  const auto shared = testing::shared_folder();
  if (shared.empty()) GTEST_SKIP() << "no folder of reference robots (LIMB_SHARED)";
  for (const char* name : {"go2", "anymal_b", "hyq"}) {
    SCOPED_TRACE(name);
    LeggedRun run(load_quadruped((shared / "robots" / name).string() + ".urdf"),
                  trot_options(1, 0.4));
    run.run_until(5);
    expect_walked(run, 0.4);
  }
}

// Control is a function of the sensors and the command: a controller that is given what another
// one was given, without any world around it, does the same to the last bit.
TEST_F(LeggedTrot, ControllerSeesItsSensorsAlone) {
  const LeggedRobot robot = load_quadruped("builtin:quadruped");
  LeggedRun run(robot, trot_options(5, 0.5));
  run.run_until(3);
  LeggedController controller(robot, make_controller_options(robot));
  bool walks = false;
  for (const LeggedStep& s : run.steps()) {
    for (const StampedImu& imu : s.imu) controller.imu(imu.t, imu.sample);
    if (!walks && s.t >= kBegin - 1e-9) controller.set_gait(Gait::trot());
    walks = s.t >= kBegin - 1e-9;
    const VectorX<double>* tau = nullptr;
    const long taken =
        testing::allocations([&] { tau = &controller.step(s.t, s.readings, s.command); });
    ASSERT_EQ(*tau, s.tau) << "at " << s.t << " s";
    // The first step learns where to hold the joints; later only the solver allocates.
    if (!testing::kCountsAllocations || s.t == 0) continue;
    const bool solves = controller.mode() == LeggedController::Mode::walk;
    const LocomotionReport& report = controller.locomotion()->report();
    EXPECT_LE(taken, solves ? report.whole_body.iterations + report.mpc_iterations : 0) << s.t;
  }
}

TEST_F(LeggedTrot, SameSeedSameBitsOtherSeedOtherRun) {
  const LeggedRobot robot = load_quadruped("builtin:quadruped");
  const auto end = [&](std::uint64_t seed) {
    LeggedRun run(robot, trot_options(seed, 0.5));
    run.run_until(2.5);
    return run.steps().back().q;
  };
  const VectorX<double> a = end(7);
  EXPECT_EQ(a, end(7));
  EXPECT_NE(a, end(8));
}

}  // namespace
}  // namespace limb
