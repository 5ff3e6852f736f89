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
    ASSERT_LT(t, 10);
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
      ASSERT_LT(t, 100);
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

// An error of the specific force, of bias or noise, appears as the tilt up x e / g.
TEST(RestInitializer, CovarianceIsThatOfTheAverage) {
  testing::Random random(4);
  InitialOptions options;
  options.rest = 0.5;
  options.position_deviation = 0.1;
  options.velocity_deviation = 0.2;
  options.yaw_deviation = 0.3;
  options.accel_bias_deviation = 0.4;
  options.gyro_bias_deviation = 0.05;
  const ImuNoise noise{0.01, 0.02, 1, 1};
  const Mat R = random.rotation<double>();
  RestInitializer rest(options, noise, kGravity);
  int k = 0;
  while (rest.add(k / 128.0, {Vec::Zero(), R.transpose() * -kGravity}) != Status::ok) ++k;
  EXPECT_EQ(k, 64);
  const Vec u = up(R);
  const double g = 9.81, T = 0.5;
  Matrix15 expected = Matrix15::Zero();
  const auto block = [&](int i, int j) { return expected.block<3, 3>(i, j); };
  // rotation = [u] e / g with e = bias + average of the noise; yaw about u.
  const Mat tilt = skew<double>(u) / g;
  block(0, 0) = 0.01 * Mat::Identity();
  block(3, 3) = (0.16 + 4e-4 / T) * tilt * tilt.transpose() + 0.09 * u * u.transpose();
  block(6, 6) = 0.04 * Mat::Identity();
  block(9, 9) = (1e-4 / T + 0.05 * 0.05) * Mat::Identity();
  block(12, 12) = 0.16 * Mat::Identity();
  block(3, 12) = 0.16 * tilt;
  block(12, 3) = 0.16 * tilt.transpose();
  EXPECT_LT((rest.covariance() - expected).norm(), 1e-12);
}

/// Whether samples about a mean, alternately more and less by `spread`, with `change` added in the
/// second half, are taken for rest.
bool is_rest(const ImuSample& mean, const ImuSample& spread, const ImuSample& change,
             const ImuNoise& noise) {
  InitialOptions options;
  options.gyro_spread = 0.1;
  options.accel_spread = 1.5;
  options.largest_gyro_bias = 0.2;
  options.gyro_change = 0.02;
  options.accel_change = 0.1;
  RestInitializer rest(options, noise, kGravity);
  // 129 samples over one second; the first 65 are those of the first half.
  for (int k = 0; k <= 128; ++k) {
    const double sign = k % 2 == 0 ? 1 : -1, half = k <= 64 ? 0 : 1;
    const Status status =
        rest.add(k / 128.0, {mean.gyro + sign * spread.gyro + half * change.gyro,
                             mean.accel + sign * spread.accel + half * change.accel});
    if (status == Status::ok) return rest.restarts() == 0;
  }
  return false;
}

// Each criterion on both sides of its bound, with the others far inside.
TEST(RestInitializer, RestHasTheDocumentedBounds) {
  const ImuNoise quiet{0, 0, 0, 0};
  const Vec g = -kGravity, x = Vec::UnitX(), y = Vec::UnitY(), z = Vec::UnitZ();
  const ImuSample rest{Vec::Zero(), g}, none;
  EXPECT_TRUE(is_rest(rest, none, none, quiet));
  // The spread of values +-s is s; of 20 samples and more, to 1 / (2 20^2).
  EXPECT_TRUE(is_rest(rest, {0.098 * y, Vec::Zero()}, none, quiet));
  EXPECT_FALSE(is_rest(rest, {0.101 * y, Vec::Zero()}, none, quiet));
  EXPECT_TRUE(is_rest(rest, {Vec::Zero(), 1.48 * x}, none, quiet));
  EXPECT_FALSE(is_rest(rest, {Vec::Zero(), 1.51 * x}, none, quiet));
  // The mean rate is its length, and the mean force that of gravity to a tenth.
  EXPECT_TRUE(is_rest({0.199 * Vec(0.6, 0, 0.8), g}, none, none, quiet));
  EXPECT_FALSE(is_rest({0.201 * Vec(0.6, 0, 0.8), g}, none, none, quiet));
  for (const double share : {0.91, 1.09}) {
    EXPECT_TRUE(is_rest({Vec::Zero(), share * g}, none, none, quiet));
  }
  for (const double share : {0.89, 1.11}) {
    EXPECT_FALSE(is_rest({Vec::Zero(), share * g}, none, none, quiet));
  }
  // A change between the halves; of the noise five deviations of the difference of two means of
  // half a second, s sqrt(4 / 1 s).
  EXPECT_TRUE(is_rest(rest, none, {0.0199 * z, Vec::Zero()}, quiet));
  EXPECT_FALSE(is_rest(rest, none, {0.0201 * z, Vec::Zero()}, quiet));
  EXPECT_TRUE(is_rest(rest, none, {Vec::Zero(), 0.099 * y}, quiet));
  EXPECT_FALSE(is_rest(rest, none, {Vec::Zero(), 0.101 * y}, quiet));
  const ImuNoise noisy{1e-3, 1e-2, 0, 0};
  EXPECT_TRUE(is_rest(rest, none, {0.0299 * z, Vec::Zero()}, noisy));
  EXPECT_FALSE(is_rest(rest, none, {0.0301 * z, Vec::Zero()}, noisy));
  EXPECT_TRUE(is_rest(rest, none, {Vec::Zero(), 0.199 * y}, noisy));
  EXPECT_FALSE(is_rest(rest, none, {Vec::Zero(), 0.201 * y}, noisy));
}

// Average, spread and bias are those of the samples since the last motion.
TEST(RestInitializer, MeanIsThatOfTheSamples) {
  InitialOptions options;
  options.rest = 0.25;
  RestInitializer rest(options, {}, kGravity);
  NoiseGenerator random(5);
  Vec sum = Vec::Zero();
  int n = 0;
  Status status = Status::not_ready;
  while (status != Status::ok) {
    const double a = random.uniform(), b = random.uniform(), c = random.uniform();
    const Vec gyro(0.05 * a, -0.1 * b, 0.02 * c);
    sum += gyro;
    status = rest.add(n++ / 256.0, {gyro, -kGravity});
    ASSERT_LT(n, 1000);
  }
  EXPECT_EQ(rest.restarts(), 0);
  EXPECT_EQ(n, 65);
  EXPECT_LT((rest.state().gyro_bias - sum / n).norm(), 1e-15);
  EXPECT_EQ(rest.state().accel_bias, Vec::Zero());
  EXPECT_EQ(rest.state().v_WS, Vec::Zero());
  EXPECT_EQ(rest.add(std::nan(""), {Vec::Zero(), -kGravity}), Status::not_finite);
  EXPECT_EQ(rest.add(1, {Vec(0, std::nan(""), 0), -kGravity}), Status::not_finite);
  EXPECT_EQ(rest.add(1, {Vec::Zero(), Vec(0, std::nan(""), 0)}), Status::not_finite);
}

// At least twenty samples, however short the rest.
TEST(RestInitializer, NeedsTwentySamples) {
  InitialOptions options;
  options.rest = 0;
  RestInitializer rest(options, {}, kGravity);
  int n = 1;
  while (rest.add(n, {Vec::Zero(), -kGravity}) != Status::ok) ++n;
  EXPECT_EQ(n, 20);
}

TEST(RestInitializer, RejectsInvalidOptions) {
  InitialOptions options;
  options.rest = -1;
  EXPECT_THROW(RestInitializer(options, {}, kGravity), Error);
  EXPECT_THROW(RestInitializer({}, {}, Vec::Zero()), Error);
  EXPECT_THROW(RestInitializer({}, {.gyro = -1}, kGravity), Error);
  for (double InitialOptions::*option :
       {&InitialOptions::rest, &InitialOptions::yaw_deviation, &InitialOptions::position_deviation,
        &InitialOptions::velocity_deviation, &InitialOptions::accel_bias_deviation,
        &InitialOptions::gyro_bias_deviation, &InitialOptions::gyro_spread,
        &InitialOptions::accel_spread, &InitialOptions::largest_gyro_bias,
        &InitialOptions::gyro_change, &InitialOptions::accel_change}) {
    options = {};
    options.*option = -1;
    EXPECT_THROW(RestInitializer(options, {}, kGravity), Error);
  }
  options = {};
  options.yaw = std::nan("");
  EXPECT_THROW(RestInitializer(options, {}, kGravity), Error);
}

}  // namespace
}  // namespace limb
