// Covariance of the estimate through gaps, saturation, resets and recoveries, against closed forms:
// sensors at rest, whose errors grow as those of an integral.
#include <gtest/gtest.h>

#include <numbers>

#include "limb/estimate/testing/quadruped_walk.hpp"
#include "limb/math/testing/random.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;
constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr double kPi = std::numbers::pi;
const ImuSample kRest{Vec::Zero(), {0, 0, 9.81}};

class EstimatorCovariance : public ::testing::TestWithParam<FilterKind> {
 protected:
  EstimatorCovariance() {
    options_.filter = GetParam();
    options_.imu = {0, 0, 0, 0};
  }
  /// At a time, state and covariance, with its first sample.
  BaseEstimator start(const FilterState& x = {}, const Matrix15& P = Matrix15::Zero(),
                      const ImuSample& sample = kRest) const {
    BaseEstimator estimator(model_, testing::walkers()[0].feet, imu_, options_);
    estimator.initialize(0, x, P);
    EXPECT_EQ(estimator.imu(0, sample), Status::ok);
    return estimator;
  }
  static Mat block(const BaseEstimator& estimator, int i, int k) {
    return estimator.filter().common_covariance().block<3, 3>(i, k);
  }
  static Mat rotation(const BaseEstimator& e) {
    return block(e, ErrorIndex::rotation, ErrorIndex::rotation);
  }
  static Mat velocity(const BaseEstimator& e) {
    return block(e, ErrorIndex::velocity, ErrorIndex::velocity);
  }
  static Mat position(const BaseEstimator& e) {
    return block(e, ErrorIndex::position, ErrorIndex::position);
  }
  static double yaw(const BaseEstimator& e) {
    const Vec x = e.estimate().X_WB.R.col(0);
    return std::atan2(x.y(), x.x());
  }
  static void expect_near(const Mat& found, const Mat& expected, double relative = 1e-11) {
    EXPECT_LT((found - expected).norm(), relative * expected.norm()) << found << "\nexpected\n"
                                                                     << expected;
  }

  Model<double> model_ = testing::quadruped_with_imu();
  std::string imu_;
  EstimatorOptions options_;
};

// White noise of density s for a time T has the integral s^2 T, and s^2 T^3 / 3 twice integrated. A
// gap has ten times the density, whatever its length.
TEST_P(EstimatorCovariance, GapsHaveTenfoldNoiseForTheirLength) {
  options_.longest_gap = 0.0625;
  options_.lost_gap = 0.5;
  const double s = 0.02;
  for (const double T : {0.03125, 0.0625, 0.0626, 0.125, 0.25, 0.5}) {
    const double factor = T > options_.longest_gap ? 10 : 1, variance = factor * factor * s * s;
    options_.imu = {s, 0, 0, 0};
    BaseEstimator turned = start();
    ASSERT_EQ(turned.imu(T, kRest), Status::ok);
    expect_near(rotation(turned), variance * T * Mat::Identity());
    options_.imu = {0, s, 0, 0};
    BaseEstimator moved = start();
    ASSERT_EQ(moved.imu(T, kRest), Status::ok);
    expect_near(velocity(moved), variance * T * Mat::Identity());
    expect_near(position(moved), variance * T * T * T / 3 * Mat::Identity());
    EXPECT_EQ(moved.diagnostics().imu_gaps, factor > 1 ? 1u : 0u);
    EXPECT_EQ(moved.diagnostics().imu_lost, 0u);
    // Back to normal with the next sample.
    ASSERT_EQ(moved.imu(T + 0.03125, kRest), Status::ok);
    expect_near(velocity(moved), (variance * T + s * s * 0.03125) * Mat::Identity());
    // The random walk of the biases does not depend on samples.
    options_.imu = {0, 0, s, s / 2};
    BaseEstimator biased = start();
    ASSERT_EQ(biased.imu(T, kRest), Status::ok);
    expect_near(block(biased, ErrorIndex::gyro_bias, ErrorIndex::gyro_bias),
                s * s * T * Mat::Identity());
    expect_near(block(biased, ErrorIndex::accel_bias, ErrorIndex::accel_bias),
                s * s / 4 * T * Mat::Identity());
  }
}

// The true value is beyond the range by about a third of it, for the whole step: a deviation of
// that rate times T, not times sqrt(T).
TEST_P(EstimatorCovariance, SaturationHasNoiseOfAThirdOfTheRange) {
  options_.gyro_range = 8;
  options_.accel_range = 40;
  const double s = 1e-3;
  options_.imu = {s, 2 * s, 0, 0};
  const auto after = [&](const Vec& gyro, const Vec& accel, double T) {
    BaseEstimator estimator = start({}, Matrix15::Zero(), {gyro, accel});
    EXPECT_EQ(estimator.imu(T, {gyro, accel}), Status::ok);
    const bool cut = gyro.cwiseAbs().maxCoeff<Eigen::PropagateNaN>() >= 8 ||
                     accel.cwiseAbs().maxCoeff<Eigen::PropagateNaN>() >= 40;
    EXPECT_EQ(estimator.diagnostics().imu_saturated, cut ? 1u : 0u);
    return estimator;
  };
  for (const double T : {0.005, 0.01, 0.02}) {
    // Just inside the range: as always. White noise of all axes alike is that after a rotation,
    // too.
    const BaseEstimator inside = after({7.98, 0, 0}, Vec::Zero(), T);
    expect_near(rotation(inside), s * s * T * Mat::Identity());
    for (const Vec& gyro : {Vec(8, 0, 0), Vec(0, -8, 0), Vec(1, 2, 9)}) {
      const BaseEstimator turned = after(gyro, Vec::Zero(), T);
      const double share = std::sqrt(rotation(turned)(0, 0)) / (8 * T);
      EXPECT_NEAR(share, 1.0 / 3, 0.05);
      expect_near(rotation(turned), std::pow(share * 8 * T, 2) * Mat::Identity());
      // Without force only the accelerometer acts on the velocity.
      expect_near(velocity(turned), 4 * s * s * T * Mat::Identity());
    }
    for (const Vec& accel : {Vec(40, 0, 0), Vec(0, 0, -41)}) {
      const BaseEstimator moved = after(Vec::Zero(), accel, T);
      // Along the force the gyroscope does not act.
      const Vec along = accel.normalized();
      const double share = std::sqrt(along.dot(velocity(moved) * along)) / (40 * T);
      EXPECT_NEAR(share, 1.0 / 3, 0.05);
      expect_near(rotation(moved), s * s * T * Mat::Identity());
    }
  }
  // A sensor that is noisier than its excess keeps its noise.
  options_.imu = {50, 90, 0, 0};
  options_.lost_speed = 1e3;
  expect_near(rotation(after({8, 0, 0}, Vec::Zero(), 0.01)), 50 * 50 * 0.01 * Mat::Identity());
  const BaseEstimator noisy = after(Vec::Zero(), {40, 0, 0}, 0.01);
  EXPECT_NEAR(velocity(noisy)(0, 0), 90 * 90 * 0.01, 1e-9);
}

// Between two samples their mean acts.
TEST_P(EstimatorCovariance, SamplesAreAveraged) {
  FilterState x;
  BaseEstimator estimator = start(x, Matrix15::Zero(), {{0, 0, 1}, {0, 0, 9.81 + 2}});
  const double T = 0.01;
  ASSERT_EQ(estimator.imu(T, {{0, 0, 3}, {0, 0, 9.81 + 6}}), Status::ok);
  EXPECT_NEAR(yaw(estimator), 2 * T, 10 * kEps);
  EXPECT_NEAR(estimator.filter().state().v_WS.z(), 4 * T, 100 * kEps);
  EXPECT_NEAR(estimator.filter().state().p_WS.z(), 4 * T * T / 2, 10 * kEps);
  // The velocity of the base has the rate of the last sample.
  EXPECT_NEAR(estimator.estimate().V_WB_B.w.z(), 3, 10 * kEps);
}

Matrix15 random_covariance(testing::Random& random) {
  const Matrix15 root = 0.05 * Matrix15::NullaryExpr([&](Eigen::Index) { return random.normal(); });
  return root * root.transpose();
}

// After a longer gap velocity and feet are unknown: the position is uncertain by the distance at
// that speed.
TEST_P(EstimatorCovariance, LostSamplesResetTheVelocity) {
  testing::Random random(31);
  FilterState x;
  x.p_WS = {1, 2, 3};
  x.R_WS = random.rotation<double>();
  x.v_WS = {1, -1, 0.5};
  const Matrix15 P = random_covariance(random);
  double tilt = std::nan("");
  for (const double T : {0.51, 2.0, 1e4}) {
    BaseEstimator estimator = start(x, P);
    ASSERT_EQ(estimator.imu(T, kRest), Status::ok);
    EXPECT_EQ(estimator.time(), T);
    EXPECT_EQ(estimator.diagnostics().imu_lost, 1u);
    EXPECT_EQ(estimator.diagnostics().imu_gaps, 0u);
    const FilterState& y = estimator.filter().state();
    EXPECT_EQ(y.p_WS, x.p_WS);
    EXPECT_LT((y.R_WS - x.R_WS).norm(), 4 * kEps);
    EXPECT_EQ(y.v_WS, Vec::Zero());
    // Speed s; position s T, at most 100 m; tilt the same for all.
    const double s2 = velocity(estimator)(0, 0);
    EXPECT_GT(s2, 0.1);
    expect_near(velocity(estimator), s2 * Mat::Identity(), 1e-9);
    const double distance = std::min(s2 * T * T, 1e4);
    expect_near(position(estimator), P.topLeftCorner<3, 3>() + distance * Mat::Identity(), 1e-9);
    const Mat added = rotation(estimator) - P.block<3, 3>(3, 3);
    if (std::isnan(tilt)) tilt = added(0, 0);
    EXPECT_GT(tilt, 0.01);
    EXPECT_LT((added - tilt * Mat::Identity()).norm(), 1e-9);
    // Independent of everything else, which keeps its correlations.
    FilterMatrix found = estimator.filter().common_covariance();
    EXPECT_LT(found.block(6, 0, 3, 6).norm() + found.block(9, 6, 6, 3).norm(), 1e-9);
    EXPECT_LT((found.block<3, 3>(0, 3) - P.block<3, 3>(0, 3)).norm(), 1e-9);
    EXPECT_LT((found.block<6, 6>(9, 9) - P.block<6, 6>(9, 9)).norm(), 1e-9);
  }
}

// Beyond a radian an orientation is unknown: correlations are kept, variances cut to one.
TEST_P(EstimatorCovariance, LostSamplesBoundTheRotation) {
  Matrix15 P = 1e-4 * Matrix15::Identity();
  P(3, 3) = 4;
  P(3, 9) = P(9, 3) = 0.5 * 2 * 1e-2;  // a correlation of a half
  BaseEstimator estimator = start({}, P);
  ASSERT_EQ(estimator.imu(1, kRest), Status::ok);
  EXPECT_NEAR(rotation(estimator)(0, 0), 1, 1e-9);
  EXPECT_LT(rotation(estimator)(1, 1), 0.5);
  const double before = 4 + rotation(estimator)(1, 1) - 1e-4;
  EXPECT_NEAR(block(estimator, 3, 9)(0, 0), 0.01 / std::sqrt(before), 1e-9);
}

// A velocity whose deviation has grown beyond the option is reset; position and tilt stay.
TEST_P(EstimatorCovariance, UnmeasuredVelocityIsReset) {
  options_.lost_speed = 2;
  for (const double deviation : {1.99, 2.01}) {
    Matrix15 P = 1e-4 * Matrix15::Identity();
    P(7, 7) = deviation * deviation;
    FilterState x;
    x.v_WS = {0.5, 0, 0};
    BaseEstimator estimator = start(x, P);
    const double T = 1e-3;
    ASSERT_EQ(estimator.imu(T, kRest), Status::ok);
    const bool lost = deviation > 2;
    EXPECT_EQ(estimator.diagnostics().velocity_lost, lost ? 1u : 0u);
    EXPECT_NEAR(estimator.filter().state().v_WS.norm(), lost ? 0 : 0.5, 1e-12);
    EXPECT_NEAR(velocity(estimator)(1, 1), lost ? 1 : deviation * deviation, 1e-4);
    EXPECT_NEAR(position(estimator)(1, 1), 1e-4 + deviation * deviation * T * T, 1e-9);
    EXPECT_NEAR(rotation(estimator)(0, 0), 1e-4, 1e-9);
  }
}

// At rest after that, tilt, velocity and gyroscope bias are found again; position and heading are
// kept, near the cut at pi and for a tilted sensor, too.
TEST_P(EstimatorCovariance, RestKeepsPositionAndHeading) {
  imu_ = "imu";
  options_.initial.rest = 0.5;
  for (const double heading : {3.1, -3.1, 0.4}) {
    const Mat R_WB = axis_rotation<double>(2, heading) * axis_rotation<double>(0, 0.2);
    // The estimate is tilted by a tenth.
    FilterState x;
    x.R_WS = R_WB * axis_rotation<double>(0, 0.1) * testing::tilted_imu().R;
    x.p_WS = {5, 6, 7};
    Matrix15 P = 1e-6 * Matrix15::Identity();
    P.block<3, 3>(6, 6) = 9 * Mat::Identity();
    const Vec up = x.R_WS.transpose() * Vec::UnitZ();
    P.block<3, 3>(3, 3) += 0.04 * up * up.transpose();
    const Vec bias(0.01, -0.02, 0.03);
    const ImuSample sample{bias, (R_WB * testing::tilted_imu().R).transpose() * Vec(0, 0, 9.81)};
    x.gyro_bias = bias;
    BaseEstimator estimator = start(x, P, sample);
    Vec p = x.p_WS;
    double variance = 0, spread = 0;
    for (int k = 1; estimator.diagnostics().rest_recovered == 0; ++k) {
      ASSERT_LT(k, 100);
      p = estimator.filter().state().p_WS;
      const Vec z = estimator.filter().state().R_WS.transpose() * Vec::UnitZ();
      variance = z.dot(rotation(estimator) * z);
      spread = position(estimator)(0, 0);
      ASSERT_EQ(estimator.imu(0.01 * k, sample), Status::ok);
    }
    const FilterState& y = estimator.filter().state();
    // To the last step with a tilt of a tenth, a metre per square second.
    EXPECT_LT((y.p_WS - p).norm(), 0.01);
    EXPECT_NEAR(position(estimator)(0, 0), spread, 0.1 * spread);
    EXPECT_EQ(y.v_WS, Vec::Zero());
    EXPECT_LT((y.gyro_bias - bias).norm(), 1e-12);
    EXPECT_LT((y.R_WS * testing::tilted_imu().R.transpose() - R_WB).norm(), 1e-9)
        << "heading " << heading;
    const Vec z = y.R_WS.transpose() * Vec::UnitZ();
    const double yaw_variance = options_.initial.yaw_deviation * options_.initial.yaw_deviation;
    EXPECT_NEAR(z.dot(rotation(estimator) * z), variance + yaw_variance, 1e-6);
  }
}

/// Contradicting fixes at 128 Hz until the estimator gives in, after lost_time.
template <typename Fix>
int until_recovered(BaseEstimator& estimator, const ImuSample& sample, const Fix& fix) {
  int k = 0;
  while (estimator.diagnostics().fixes_recovered == 0 && k < 300) {
    ++k;
    EXPECT_EQ(estimator.imu(k / 128.0, sample), Status::ok);
    fix(k / 128.0);
  }
  return k;
}

// A heading that all fixes contradict is turned, and the velocity with it.
TEST_P(EstimatorCovariance, ContradictedHeadingIsRotatedWithTheVelocity) {
  options_.lost_time = 0.5;
  const double deviation = 0.01;
  for (const auto& [from, to] : {std::pair{0.3, 2.8}, {3.0, -3.0}, {-3.0, 3.0}}) {
    FilterState x;
    x.R_WS = axis_rotation<double>(2, from);
    x.v_WS = {0.5, 0.2, 0};
    Matrix15 P = Matrix15::Zero();
    P.block<3, 3>(6, 6) = Vec(0.04, 0.01, 0.0025).asDiagonal();
    BaseEstimator estimator = start(x, P);
    const int k = until_recovered(
        estimator, kRest, [&, angle = to](double t) { estimator.yaw_fix(t, angle, deviation); });
    EXPECT_EQ(k, 65);
    const Mat R = axis_rotation<double>(2, std::remainder(to - from, 2 * kPi));
    EXPECT_NEAR(std::remainder(yaw(estimator) - to, 2 * kPi), 0, 1e-12);
    EXPECT_LT((estimator.filter().state().v_WS - R * x.v_WS).norm(), 1e-12);
    expect_near(velocity(estimator), R * P.block<3, 3>(6, 6) * R.transpose(), 1e-10);
    // As uncertain as a fix, then halved by one.
    EXPECT_NEAR(rotation(estimator)(2, 2), deviation * deviation / 2, 1e-9 * deviation * deviation);
    EXPECT_LT(block(estimator, 0, 6).norm() + block(estimator, 3, 6).norm(), 1e-12);
    // The position has drifted with the velocity, and keeps that uncertainty.
    EXPECT_LT((estimator.filter().state().p_WS - x.v_WS * k / 128.0).norm(), 1e-12);
    expect_near(position(estimator), P.block<3, 3>(6, 6) * std::pow(k / 128.0, 2), 1e-9);
  }
}

// A position that all fixes contradict is shifted to the last.
TEST_P(EstimatorCovariance, ContradictedPositionIsShiftedToTheFix) {
  options_.lost_time = 0.5;
  FilterState x;
  x.R_WS = axis_rotation<double>(2, 2.0) * axis_rotation<double>(0, 0.3);
  const ImuSample sample{Vec::Zero(), x.R_WS.transpose() * Vec(0, 0, 9.81)};
  BaseEstimator estimator = start(x, Matrix15::Zero(), sample);
  const Vec p_WQ(5, -3, 1), p_BQ(0.2, 0.1, 0.3);
  const Mat axes = axis_rotation<double>(1, 0.6) * axis_rotation<double>(2, 0.4);
  const Mat noise = axes * Vec(0.01, 0.04, 0.0025).asDiagonal() * axes.transpose();
  EXPECT_EQ(until_recovered(estimator, sample,
                            [&](double t) { estimator.position_fix(t, p_WQ, p_BQ, noise); }),
            65);
  EXPECT_LT((estimator.filter().state().p_WS - (p_WQ - x.R_WS * p_BQ)).norm(), 1e-12);
  // A metre, and a fix.
  expect_near(position(estimator), (Mat::Identity() + noise.inverse()).inverse(), 1e-10);
  EXPECT_LT((estimator.filter().state().R_WS - x.R_WS).norm(), 1e-12);
}

// A fix in between that agrees starts the time again.
TEST_P(EstimatorCovariance, OneAgreeingFixRestartsTheTime) {
  options_.lost_time = 0.5;
  BaseEstimator estimator = start();
  const int k = until_recovered(estimator, kRest,
                                [&](double t) { estimator.yaw_fix(t, t == 0.25 ? 0 : 2.0, 0.01); });
  EXPECT_EQ(k, 97);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EstimatorCovariance,
                         ::testing::Values(FilterKind::error_state, FilterKind::invariant),
                         [](const auto& kind) {
                           return kind.param == FilterKind::invariant ? "inekf" : "eskf";
                         });

}  // namespace
}  // namespace limb
