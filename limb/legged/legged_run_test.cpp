// Trotting on the robot's own state estimate. Long runs from many seeds are in
// bench/legged_bench.cpp.
#include "limb/legged/legged_run.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "limb/dynamics/testing/allocations.hpp"
#include "limb/legged/legged_summary.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/testing/shared.hpp"

namespace limb {
namespace {

using testing::message;

constexpr double kStart = 1.5;  // s, start of the trot

LeggedRunOptions trot_options(std::uint64_t seed, double speed) {
  LeggedRunOptions options;
  options.seed = seed;
  options.plan = {{kStart, Gait::trot(), {speed, 0, 0}}};
  return options;
}

/// @param unsolved  allowed number of steps without a solution, when a foot hits an edge.
void expect_walked(const LeggedRun& run, double speed, long unsolved = 0) {
  EXPECT_FALSE(run.fell()) << "at " << run.time() << " s";
  const LeggedSummary r = summarize(run, kStart + 1);
  EXPECT_NEAR(r.mean_velocity.x(), speed, 0.15 * speed);
  EXPECT_NEAR(r.mean_velocity.y(), 0, 0.1 * speed);
  EXPECT_LT(r.largest_tilt, 0.08);
  EXPECT_LE(r.fell_back, unsolved);
  EXPECT_LE(r.unsolved, 2 * unsolved);
  // A normal error exceeds three standard deviations in 0.3 %; over a few seconds the errors are
  // correlated. Measured over 20 seeds of 20 s: bench/README.md.
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
    // It reached the blocks: feet were in contact above and below the level.
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
  EXPECT_GT(sideways, 0.15);  // the push has an effect
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

// The control is a function of sensors and command: a second controller with the recorded inputs,
// without a simulation, gives bit-identical torques.
TEST_F(LeggedTrot, ControllerDependsOnlyOnSensorsAndCommand) {
  const LeggedRobot robot = load_quadruped("builtin:quadruped");
  LeggedRun run(robot, trot_options(5, 0.5));
  run.run_until(3);
  LeggedController controller(robot, make_controller_options(robot));
  bool walks = false;
  for (const LeggedStep& s : run.steps()) {
    for (const StampedImu& imu : s.imu) controller.imu(imu.t, imu.sample);
    if (!walks && s.t >= kStart - 1e-9) controller.set_gait(Gait::trot());
    walks = s.t >= kStart - 1e-9;
    const VectorX<double>* tau = nullptr;
    const long taken =
        testing::allocations([&] { tau = &controller.step(s.t, s.readings, s.command); });
    ASSERT_EQ(*tau, s.tau) << "at " << s.t << " s";
    // The first step sets the hold target; later only the solver allocates.
    if (!testing::kCountsAllocations || s.t == 0) continue;
    const bool solves = controller.mode() == LeggedController::Mode::walk;
    const LocomotionReport& report = controller.locomotion()->report();
    EXPECT_LE(taken, solves ? report.whole_body.iterations + report.mpc_iterations : 0) << s.t;
  }
}

TEST_F(LeggedTrot, RunsAreReproducibleByTheirSeed) {
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

TEST(LeggedRun, RejectsInvalidOptions) {
  const LeggedRobot robot = load_quadruped("builtin:quadruped");
  const auto text = [&](const auto& change) {
    LeggedRunOptions options;
    change(options);
    return message([&] { LeggedRun(robot, options); });
  };
  EXPECT_EQ(text([](LeggedRunOptions& o) { o.step = 1.5e-3; }),
            "LeggedRun: step is 0.0015, expected a divisor of the control period, 0.002");
  EXPECT_EQ(text([](LeggedRunOptions& o) { o.acceleration = 0; }),
            "LeggedRun: acceleration is 0, expected > 0 and finite");
  EXPECT_EQ(text([](LeggedRunOptions& o) {
              o.plan = {{2, Gait::trot(), {}}, {1, Gait::stand(4), {}}};
            }),
            "LeggedRun: plan is phases out of order, expected each to start after the one before");
  EXPECT_NE(text([](LeggedRunOptions& o) {
              o.plan = {{1, Gait::stand(2), {}}};
            }).find("offsets"),
            std::string::npos);
  EXPECT_NE(text([](LeggedRunOptions& o) { o.noise.encoder = -1; }).find("noise is -1"),
            std::string::npos);
}

}  // namespace
}  // namespace limb
