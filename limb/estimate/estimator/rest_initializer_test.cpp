#include "limb/estimate/estimator/rest_initializer.hpp"

#include <gtest/gtest.h>

#include "limb/estimate/filter/chi_square.hpp"
#include "limb/math/noise_generator.hpp"
#include "limb/math/testing/random.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;
const Vec kGravity(0, 0, -9.81);

/// The world's z in axes of S.
Vec up(const Mat& R_WS) {
  return R_WS.transpose() * Vec::UnitZ();
}

TEST(RestInitializer, FindsTiltAndBiasExactlyWithoutNoise) {
  testing::Random random(1);
  for (int trial = 0; trial < 20; ++trial) {
    const Mat R = random.rotation<double>();
    const Vec bias = random.vector<double>(0.1);
    InitialOptions options;
    options.yaw = 0.7;
    RestInitializer rest(options, {}, kGravity);
    double t = 5;
    while (rest.add(t, {bias, R.transpose() * -kGravity}) != Status::ok) {
      t += 0.01;
      ASSERT_LT(t, 7);
    }
    EXPECT_NEAR(t, 6, 0.011);
    EXPECT_LT((up(rest.state().R_WS) - up(R)).norm(), 1e-12);
    EXPECT_LT((rest.state().gyro_bias - bias).norm(), 1e-12);
    const Vec x = rest.state().R_WS.col(0);
    if (x.head<2>().norm() > 0.1) {
      EXPECT_NEAR(std::atan2(x.y(), x.x()), 0.7, 1e-9);
    }
    EXPECT_TRUE(is_rotation<double>(rest.state().R_WS, 1e-12));
  }
}

TEST(RestInitializer, YawAndPositionAreThoseOfTheBase) {
  testing::Random random(2);
  const Pose<double> X_BS = random.pose<double>(0.3);
  const Mat R_WB = axis_rotation<double>(2, 0.4) * axis_rotation<double>(0, 0.1);
  InitialOptions options;
  options.yaw = 0.4;
  options.p_WB = {1, 2, 3};
  RestInitializer rest(options, {}, kGravity, X_BS);
  double t = 0;
  while (rest.add(t, {Vec::Zero(), X_BS.R.transpose() * (R_WB.transpose() * -kGravity)}) !=
         Status::ok) {
    t += 0.01;
  }
  const Pose<double> X_WB = Pose<double>{rest.state().R_WS, rest.state().p_WS} * X_BS.inverse();
  EXPECT_LT((X_WB.R - R_WB).norm(), 1e-9);
  EXPECT_LT((X_WB.p - options.p_WB).norm(), 1e-12);
}

TEST(RestInitializer, CovarianceMatchesManySamples) {
  InitialOptions options;
  options.yaw_deviation = 0.01;
  const ImuNoise noise;
  NoiseGenerator random(3);
  const Mat R_true = axis_rotation<double>(1, 0.3) * axis_rotation<double>(0, -0.2);
  const auto normal = [&](double deviation) {
    const double x = random.normal(), y = random.normal(), z = random.normal();
    return Vec(deviation * Vec(x, y, z));
  };
  double average = 0;
  constexpr int kRuns = 200;
  for (int run = 0; run < kRuns; ++run) {
    const Vec accel_bias = normal(options.accel_bias_deviation), gyro_bias = normal(1e-2);
    RestInitializer rest(options, noise, kGravity);
    const double dt = 0.01;
    double t = 0;
    while (rest.add(t, {gyro_bias + normal(noise.gyro / std::sqrt(dt)),
                        R_true.transpose() * -kGravity + accel_bias +
                            normal(noise.accel / std::sqrt(dt))}) != Status::ok) {
      t += dt;
    }
    // Tilt, without the yaw, and both biases, with their joint covariance.
    const Vec u = up(rest.state().R_WS);
    Eigen::Matrix<double, 8, 1> e;
    Mat axes;  // two level directions in axes of S
    axes.col(0) = u.unitOrthogonal();
    axes.col(1) = u.cross(axes.col(0));
    const Vec tilt = up(R_true).cross(u);  // R_true = R exp(tilt) about level axes
    e << axes.leftCols<2>().transpose() * tilt, gyro_bias - rest.state().gyro_bias,
        accel_bias - rest.state().accel_bias;
    Eigen::Matrix<double, 8, 15> pick = Eigen::Matrix<double, 8, 15>::Zero();
    pick.block<2, 3>(0, 3) = axes.leftCols<2>().transpose();
    pick.block<3, 3>(2, 9).setIdentity();
    pick.block<3, 3>(5, 12).setIdentity();
    const Eigen::Matrix<double, 8, 8> P = pick * rest.covariance() * pick.transpose();
    average += e.dot(P.ldlt().solve(e)) / kRuns;
  }
  // The vertical bias is not estimated yet, but drawn from its prior: eight degrees of freedom.
  const ChiSquareBand band = chi_square_band(8, kRuns, 0.99);
  EXPECT_GT(average, band.low);
  EXPECT_LT(average, band.high);
}

TEST(RestInitializer, MotionRestartsTheAverage) {
  RestInitializer rest({}, {}, kGravity);
  double t = 0;
  for (int k = 0; k < 50; ++k, t += 0.01)
    EXPECT_EQ(rest.add(t, {Vec::Zero(), -kGravity}), Status::not_ready);
  // Shaken for a fifth of a second.
  for (int k = 0; k < 20; ++k, t += 0.01) {
    EXPECT_NE(rest.add(t, {Vec(k % 2 == 0 ? 3 : -3, 0, 0), -kGravity}), Status::ok);
  }
  EXPECT_GE(rest.restarts(), 1);
  int more = 0;
  while (rest.add(t, {Vec::Zero(), -kGravity}) != Status::ok) {
    t += 0.01;
    ASSERT_LT(++more, 300);
  }
  EXPECT_GE(more, 100);
  // Neither free fall nor a steady rotation is rest.
  RestInitializer falls({}, {}, kGravity), turns({}, {}, kGravity);
  for (int k = 0; k < 500; ++k) {
    EXPECT_NE(falls.add(k * 0.01, {Vec::Zero(), Vec::Zero()}), Status::ok);
    EXPECT_NE(turns.add(k * 0.01, {Vec(0, 0, 1), -kGravity}), Status::ok);
  }
}

// Seven degrees per second could be a bias, but then the specific force would not rotate.
TEST(RestInitializer, SlowSwayIsNotRest) {
  RestInitializer turns({}, {}, kGravity), sways({}, {}, kGravity), biased({}, {}, kGravity);
  bool ready = false;
  for (int k = 0; k < 500; ++k) {
    const double t = 0.01 * k, rate = 0.12, angle = rate * t;
    EXPECT_NE(turns.add(t, {Vec(rate, 0, 0), so3::exp<double>(Vec(-angle, 0, 0)) * -kGravity}),
              Status::ok);
    const double slow = 1.5, swing = 0.15;  // rad/s, rad
    EXPECT_NE(sways.add(t, {Vec(slow * swing * std::cos(slow * t), 0, 0),
                            so3::exp<double>(Vec(-swing * std::sin(slow * t), 0, 0)) * -kGravity}),
              Status::ok);
    ready = ready || biased.add(t, {Vec(rate, 0, 0), -kGravity}) == Status::ok;
  }
  EXPECT_GE(turns.restarts(), 3);
  EXPECT_TRUE(ready);
}

TEST(RestInitializer, RejectsInvalidOptions) {
  InitialOptions options;
  options.rest = -1;
  EXPECT_THROW(RestInitializer(options, {}, kGravity), Error);
  EXPECT_THROW(RestInitializer({}, {}, Vec::Zero()), Error);
}

}  // namespace
}  // namespace limb
