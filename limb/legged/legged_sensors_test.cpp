// Simulated sensors of a legged robot: exact without noise; with it, the deviations of the options.
#include "limb/legged/legged_sensors.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/math/testing/random.hpp"

namespace limb {
namespace {

const LeggedNoise kNone = {{0, 0, 0, 0}, 0, 0, 0, 0, 0};

/// A robot in any state, for which sensors are read without a simulation.
struct Moving {
  LeggedRobot robot = load_quadruped("builtin:quadruped");
  Kinematics<double> kinematics{robot.model};
  RobotState<double> state;
  VectorX<double> a, tau;

  explicit Moving(unsigned seed) {
    testing::Random random(seed);
    const int n = robot.model.nv();
    VectorX<double> dq(n);
    state.v = a = tau = VectorX<double>::Zero(n);
    for (double& x : dq) x = random.uniform(-0.5, 0.5);
    for (double& x : state.v) x = random.uniform(-1, 1);
    for (double& x : a) x = random.uniform(-3, 3);
    state.q = robot.q;
    integrate(robot.model, robot.q, dq, state.q);
    forward_kinematics(robot.model, state.q, state.v, a, kinematics);
  }
  SensorInput input() const { return {robot.model, state, a, tau, kinematics, nullptr}; }
};

// Gyroscope: w in base axes. Accelerometer: R^T (a - g) with the classical acceleration of the
// origin, dv/dt + w x v in base axes. Encoders: coordinates and rates of the joints.
TEST(LeggedSensors, WithoutNoiseReadingsAreTrue) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const Moving m(seed);
    LeggedSensors sensors(m.robot, kNone, 1e-3, seed);
    const ImuSample imu = sensors.read_imu(m.input());
    const Vector3<double> v = m.state.v.head<3>(), w = m.state.v.segment<3>(3);
    EXPECT_LT((imu.gyro - w).norm(), 1e-15);
    const Matrix3<double> R = m.kinematics.X_WB[1].R;
    const Vector3<double> expected = m.a.head<3>() + w.cross(v) + R.transpose().col(2) * 9.81;
    EXPECT_LT((imu.accel - expected).norm(), 1e-14);
    const LegReadings legs = sensors.read_legs(m.input());
    EXPECT_EQ(legs.joint_q, m.state.q.tail(12));
    EXPECT_EQ(legs.joint_v, m.state.v.tail(12));
    EXPECT_EQ(legs.foot_force, std::vector<double>(4, 0));
    EXPECT_EQ(sensors.gyro_bias().norm() + sensors.accel_bias().norm(), 0);
  }
}

// Constant biases are added; their three components are drawn with the given deviation.
TEST(LeggedSensors, BiasesAreConstantAndNormal) {
  const Moving m(1);
  LeggedNoise noise = kNone;
  noise.gyro_bias = 0.5;
  noise.accel_bias = 2;
  LeggedSensors exact(m.robot, kNone, 1e-3, 1);
  const ImuSample truth = exact.read_imu(m.input());
  double gyro = 0, accel = 0;
  constexpr int kSeeds = 400;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    LeggedSensors sensors(m.robot, noise, 1e-3, seed);
    for (int i = 0; i < 2; ++i) {
      const ImuSample imu = sensors.read_imu(m.input());
      EXPECT_LT((imu.gyro - truth.gyro - sensors.gyro_bias()).norm(), 1e-15);
      EXPECT_LT((imu.accel - truth.accel - sensors.accel_bias()).norm(), 1e-14);
    }
    gyro += sensors.gyro_bias().squaredNorm() / (3 * kSeeds);
    accel += sensors.accel_bias().squaredNorm() / (3 * kSeeds);
  }
  // The mean of 1200 squares deviates by sqrt(2 / 1200) = 4 %; the seeds are fixed.
  EXPECT_NEAR(gyro, 0.25, 0.12 * 0.25);
  EXPECT_NEAR(accel, 4, 0.12 * 4);
}

// IMU noise of a density n sampled every h has the deviation n / sqrt(h); encoders and feet have
// that of a sample. Feet without contact read the norm of three components.
TEST(LeggedSensors, NoiseHasTheGivenDeviation) {
  const Moving m(2);
  LeggedNoise noise = kNone;
  noise.imu.gyro = 0.02;
  noise.imu.accel = 0.3;
  noise.encoder = 0.01;
  noise.encoder_rate = 0.5;
  noise.foot_force = 0.1;
  const double period = 4e-3, weight = 9.81 * m.robot.model.total_mass();
  LeggedSensors sensors(m.robot, noise, period, 7), exact(m.robot, kNone, period, 7);
  const ImuSample truth = exact.read_imu(m.input());
  double gyro = 0, accel = 0, q = 0, v = 0, force = 0;
  constexpr int kSamples = 1000;
  for (int i = 0; i < kSamples; ++i) {
    const ImuSample imu = sensors.read_imu(m.input());
    gyro += (imu.gyro - truth.gyro).squaredNorm() / (3 * kSamples);
    accel += (imu.accel - truth.accel).squaredNorm() / (3 * kSamples);
    const LegReadings& legs = sensors.read_legs(m.input());
    q += (legs.joint_q - m.state.q.tail(12)).squaredNorm() / (12 * kSamples);
    v += (legs.joint_v - m.state.v.tail(12)).squaredNorm() / (12 * kSamples);
    for (const double f : legs.foot_force) force += f * f / (12 * kSamples);
  }
  // Means of 3000 and 12000 squares: 2.6 % and 1.3 %, three times that.
  EXPECT_NEAR(gyro / (0.02 * 0.02 / period), 1, 0.08);
  EXPECT_NEAR(accel / (0.3 * 0.3 / period), 1, 0.08);
  EXPECT_NEAR(q / 1e-4, 1, 0.04);
  EXPECT_NEAR(v / 0.25, 1, 0.04);
  EXPECT_NEAR(force / (0.01 * weight * weight), 1, 0.04);
}

TEST(LeggedSensors, StreamsOfNoiseAreIndependent) {
  const Moving m(2);
  LeggedNoise noise = kNone;
  noise.encoder = noise.encoder_rate = 1;
  LeggedSensors a(m.robot, noise, 1e-3, 1), same(m.robot, noise, 1e-3, 1),
      other(m.robot, noise, 1e-3, 2);
  double product = 0;
  for (int i = 0; i < 1000; ++i) {
    const LegReadings x = a.read_legs(m.input()), y = same.read_legs(m.input());
    EXPECT_EQ(x.joint_q, y.joint_q);
    EXPECT_NE(x.joint_q, other.read_legs(m.input()).joint_q);
    product += (x.joint_q - m.state.q.tail(12)).dot(x.joint_v - m.state.v.tail(12)) / 12000;
  }
  EXPECT_LT(std::abs(product), 0.03);  // three deviations of the mean of 12000 products
}

// Random walk of the IMU biases: variance walk^2 t.
TEST(LeggedSensors, BiasesWalk) {
  Moving m(4);
  LeggedNoise noise = kNone;
  noise.imu.gyro_walk = 0.5;
  noise.imu.accel_walk = 2;
  LeggedSensors exact(m.robot, kNone, 1e-2, 1);
  const ImuSample truth = exact.read_imu(m.input());
  double gyro = 0, accel = 0;
  constexpr int kSeeds = 300;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    LeggedSensors sensors(m.robot, noise, 1e-2, seed);
    ImuSample imu;
    for (int i = 0; i <= 25; ++i) {
      m.state.t = 1e-2 * i;
      imu = sensors.read_imu(m.input());
    }
    gyro += (imu.gyro - truth.gyro).squaredNorm() / (3 * kSeeds);
    accel += (imu.accel - truth.accel).squaredNorm() / (3 * kSeeds);
  }
  // Means of 900 squares: 4.7 %, three times that.
  EXPECT_NEAR(gyro / (0.25 * 0.25), 1, 0.15);
  EXPECT_NEAR(accel / (4 * 0.25), 1, 0.15);
}

}  // namespace
}  // namespace limb
