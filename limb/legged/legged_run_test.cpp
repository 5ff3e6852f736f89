// Trotting on the robot's own state estimate. Long runs from many seeds are in
// bench/legged_bench.cpp.
#include "limb/legged/legged_run.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "limb/base/testing/left_out.hpp"
#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/kinematics/center_of_mass.hpp"
#include "limb/dynamics/kinematics/forward_kinematics.hpp"
#include "limb/dynamics/testing/allocations.hpp"
#include "limb/legged/legged_summary.hpp"
#include "limb/math/quaternion.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/max_abs.hpp"
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
    Least low;
    Worst high;
    for (const LeggedStep& s : run.steps()) {
      for (std::size_t i = 0; i < 4; ++i) {
        if (s.foot_force[i].z() < 20) continue;
        high.add(s.foot_position[i].z());
        low.add(s.foot_position[i].z());
      }
    }
    EXPECT_GT(high.value(), 0.01);
    EXPECT_LT(low.value(), -0.01);
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
  Worst sideways;
  for (const LeggedStep& s : run.steps()) sideways.add(s.v[1]);
  EXPECT_GT(sideways.value(), 0.15);  // the push has an effect
  EXPECT_LT(run.steps().back().v.head<3>().norm(), 0.05);
}

TEST_F(LeggedTrot, RealQuadrupeds) {
  const auto shared = testing::shared_folder();
  if (shared.empty()) GTEST_SKIP() << testing::why_no_shared();
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
    if (!testing::kCountsAllocations) {
      testing::leave_out("sanitizers replace the allocator");
      continue;
    }
    // The first step sets the hold target; later only the solver allocates.
    if (s.t == 0) continue;
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

// Commands approach those of the phase with the acceleration of the options, each component for
// itself, also down to a stop.
TEST(LeggedRun, CommandsAreRamped) {
  LeggedRunOptions options;
  options.acceleration = 2;
  const Gait stand = Gait::stand(4);
  options.plan = {{0.1, stand, {0.3, -0.1, 0.5}}, {0.5, stand, {-0.1, -0.1, 0}}};
  LeggedRun run(load_quadruped("builtin:quadruped"), options);
  run.run_until(0.9);
  ASSERT_GT(run.steps().size(), 440u);
  for (const LeggedStep& s : run.steps()) {
    // The first step of a phase is already one control period up the ramp.
    const double up = s.t < 0.1 - 1e-9 ? 0 : 2 * (s.t - 0.1 + 2e-3);
    const double down = s.t < 0.5 - 1e-9 ? 0 : 2 * (s.t - 0.5 + 2e-3);
    EXPECT_NEAR(s.command.forward, std::min(up, 0.3) - std::min(down, 0.4), 1e-12) << s.t;
    EXPECT_NEAR(s.command.left, -std::min(up, 0.1), 1e-12) << s.t;
    EXPECT_NEAR(s.command.yaw_rate, std::min(up, 0.5) - std::min(down, 0.5), 1e-12) << s.t;
  }
}

// Control steps are two milliseconds apart and see all samples of the IMU since the one before,
// however the run is split into calls.
TEST(LeggedRun, RecordsEveryStepAndSample) {
  LeggedRun run(load_quadruped("builtin:quadruped"), {});
  for (const double t : {0.0005, 0.013, 0.1}) run.run_until(t);
  ASSERT_EQ(run.steps().size(), 50u);
  int sample = 0;
  for (std::size_t i = 0; i < run.steps().size(); ++i) {
    const LeggedStep& s = run.steps()[i];
    EXPECT_DOUBLE_EQ(s.t, 2e-3 * static_cast<double>(i));
    EXPECT_EQ(s.imu.size(), i == 0 ? 1u : 2u);
    for (const StampedImu& imu : s.imu) {
      EXPECT_DOUBLE_EQ(imu.t, 1e-3 * sample++);
    }
    EXPECT_NEAR(s.imu.back().t, s.t, 1e-15);
  }
}

/// Options with which the joints stay held.
LeggedRunOptions held() {
  LeggedRunOptions options;
  options.controller = make_controller_options(load_quadruped("builtin:quadruped"));
  options.controller->estimator.initial.rest = 1e3;
  return options;
}

// Momentum of the whole robot: impulses of the feet, of gravity and of the push add up to it.
TEST(LeggedRun, PushAndFeetChangeTheMomentum) {
  LeggedRunOptions options = held();
  options.controller->locomotion.control_period = 1e-3;
  options.controller->locomotion.mpc_period = 0.02;
  options.pushes = {{0.2, {1, -2, 0.5}, 0.1}};
  LeggedRun run(load_quadruped("builtin:quadruped"), options);
  run.run_until(0.6);
  const Model<double>& model = run.robot().model;
  Kinematics<double> kinematics(model);
  const auto momentum = [&](const LeggedStep& s) {
    forward_kinematics(model, s.q, s.v, kinematics);
    return Vector3<double>(model.total_mass() * center_of_mass_velocity(model, kinematics));
  };
  const std::size_t from = 100, to = 500;  // forces of a record are those of the step before it
  Vector3<double> impulse(1, -2, 0.5);
  for (std::size_t i = from + 1; i <= to; ++i) {
    for (const Vector3<double>& f : run.steps()[i].foot_force) impulse += 1e-3 * f;
  }
  impulse.z() -= 9.81 * model.total_mass() * 1e-3 * static_cast<double>(to - from);
  const Vector3<double> change = momentum(run.steps()[to]) - momentum(run.steps()[from]);
  EXPECT_LT((change - impulse).norm(), 0.02);
}

// The start: joints within the offset of the posture, the lowest foot on the ground, and spherical
// feet a radius above it.
TEST(LeggedRun, StartsOnTheGroundNearThePosture) {
  const LeggedRobot robot = load_quadruped("builtin:quadruped");
  for (const double radius : {0.0, 0.02}) {
    LeggedRunOptions options;
    options.joint_offset = 0.05;
    options.foot_radius = radius;
    LeggedRun run(robot, options);
    run.run_until(0.001);
    const LeggedStep& first = run.steps().front();
    const VectorX<double> offset = (first.q - robot.q).tail(12);
    EXPECT_LE(max_abs(offset), 0.05);
    EXPECT_GT(offset.maxCoeff<Eigen::PropagateNaN>(), 0.01);
    EXPECT_LT(offset.minCoeff<Eigen::PropagateNaN>(), -0.01);
    Least lowest;
    for (const Vector3<double>& p : first.foot_position) lowest.add(p.z());
    EXPECT_NEAR(lowest.value(), radius, 1e-15);
    EXPECT_EQ(first.v.norm(), 0);
  }
}

// The accelerometer measures the mean acceleration since the last sample, plus gravity.
TEST(LeggedRun, AccelerometerMeasuresTheChangeOfVelocity) {
  LeggedRunOptions options = held();
  options.noise = {{0, 0, 0, 0}, 0, 0, 0, 0, 0};
  options.controller->locomotion.control_period = 1e-3;
  options.pushes = {{0.05, {1, 2, 1}, 0.1}};
  LeggedRun run(load_quadruped("builtin:quadruped"), options);
  run.run_until(0.12);
  Worst worst;
  double largest = 0;
  for (std::size_t i = 1; i < run.steps().size(); ++i) {
    const LeggedStep &s = run.steps()[i], &before = run.steps()[i - 1];
    const Matrix3<double> R = to_matrix(Quaternion<double>::from_xyzw(s.q.segment<4>(3)));
    const Vector3<double> v = s.v.head<3>(), w = s.v.segment<3>(3);
    const Vector3<double> a = (v - before.v.head<3>()) / 1e-3 + w.cross(v);
    largest = worse(largest, a.norm());
    worst.add((s.imu.back().sample.accel - a - R.transpose() * Vector3<double>(0, 0, 9.81)).norm());
  }
  EXPECT_LT(worst.value(), 1e-10);
  EXPECT_GT(largest, 1);
}

// Forces at the feet: cones of the ground, and force sensors without noise.
TEST(LeggedRun, RecordedForcesAreThoseOfTheSensors) {
  LeggedRunOptions options = held();
  options.noise = {{0, 0, 0, 0}, 0, 0, 0, 0, 0};
  LeggedRun run(load_quadruped("builtin:quadruped"), options);
  run.run_until(0.5);
  const LeggedStep& s = run.steps().back();
  for (std::size_t i = 0; i < 4; ++i) {
    const Vector3<double>& f = s.foot_force[i];
    EXPECT_GT(f.z(), 10);
    EXPECT_NEAR(s.readings.foot_force[i], f.norm(), 1e-12);
    EXPECT_NEAR(s.foot_cone[i][0], f.z(), 1e-12);
    EXPECT_NEAR(s.foot_cone[i][1], f.head<2>().norm(), 1e-12);
    EXPECT_NEAR(s.foot_cone[i][2], ContactSurface{}.friction * f.z(), 1e-12);
  }
}

// A fall: the base below half of its height, or tilted by more than 45 degrees; the run ends soon
// after, and without one it does not.
TEST(LeggedRun, EndsAfterAFall) {
  for (const Vector3<double>& push : {Vector3<double>(0, 40, 0), Vector3<double>(0, 0, -60)}) {
    LeggedRunOptions options = held();
    options.pushes = {{0.1, push, 0.2}};
    LeggedRun run(load_quadruped("builtin:quadruped"), options);
    const bool stands = run.run_until(3);
    EXPECT_EQ(stands, !run.fell());
    Least first;
    first.add(3);
    for (const LeggedStep& s : run.steps()) {
      const double x = s.q[3], y = s.q[4];
      const double upright = 1 - 2 * (x * x + y * y);  // cosine of the tilt
      const bool down = upright < std::cos(M_PI / 4) || s.q[2] < 0.5 * run.robot().height();
      if (down) first.add(s.t);
    }
    EXPECT_EQ(run.fell(), first.value() < 3);
    if (run.fell()) {
      EXPECT_LT(run.time(), first.value() + 0.06);
    } else {
      EXPECT_NEAR(run.time(), 3, 1e-9);
    }
  }
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
