// Position and yaw fixes, flat ground, an IMU away from the base origin, and error messages.
#include "limb/estimate/estimator/base_estimator.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "limb/base/testing/worst.hpp"
#include "limb/estimate/testing/quadruped_walk.hpp"
#include "limb/math/testing/max_abs.hpp"
#include "limb/math/testing/random.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;
using testing::expect_valid;
using testing::gated_options;
using testing::quadruped_walk;
constexpr double kEps = std::numeric_limits<double>::epsilon();

class BothEstimators : public ::testing::TestWithParam<FilterKind> {};

TEST_P(BothEstimators, FixesAndGroundMakeThePoseObservable) {
  const SyntheticWalk& walk = quadruped_walk({});
  EstimatorOptions options = gated_options(GetParam(), 0.999);
  NoisyWalk noisy(walk, testing::typical_errors(), 6);
  BaseEstimator estimator(walk.model(), walk.options().feet, "", options);
  std::vector<double> forces(4);
  Eigen::Matrix<double, 15, 1> off = testing::initial_deviations();
  off.head<3>().setConstant(0.5);
  off[5] = 0.2;  // eleven degrees of yaw
  const Vec p_BQ(0.1, 0, 0.2);
  NoiseGenerator random(4);
  int k = 0;
  while (noisy.next()) {
    const double t = noisy.instant().t;
    const FilterState& truth = noisy.truth();
    if (k == 0) {
      estimator.initialize(0, testing::off_by(truth, off), Matrix15(off.cwiseAbs2().asDiagonal()));
    }
    for (std::size_t i = 0; i < 4; ++i) forces[i] = noisy.instant().contact[i] ? 100 : 0;
    estimator.imu(t, noisy.imu());
    estimator.legs(t, noisy.q(), noisy.v(), forces);
    if (k % 20 == 10) {
      Vec measured = truth.p_WS + truth.R_WS * p_BQ;
      for (auto& x : measured) x += 0.01 * random.normal();
      EXPECT_EQ(estimator.position_fix(t, measured, p_BQ, 1e-4 * Mat::Identity()), Status::ok);
      const Vec x = truth.R_WS.col(0);
      EXPECT_EQ(estimator.yaw_fix(t, std::atan2(x.y(), x.x()) + 0.02 * random.normal(), 0.02),
                Status::ok);
    }
    if (k == 1000) {
      // An outlier: three metres off, rejected.
      EXPECT_NE(estimator.position_fix(t, truth.p_WS + Vec(3, 0, 0), p_BQ, 1e-4 * Mat::Identity()),
                Status::ok);
      EXPECT_NE(estimator.position_fix(t + 1, truth.p_WS, p_BQ, 1e-4 * Mat::Identity()),
                Status::ok);
      EXPECT_EQ(estimator.diagnostics().fixes_rejected, 2u);
    }
    ++k;
  }
  const BaseEstimate e = estimator.estimate();
  EXPECT_LT((e.X_WB.p - noisy.truth().p_WS).norm(), 0.02);
  EXPECT_LT(so3::log<double>(e.X_WB.R.transpose() * noisy.truth().R_WS).norm(), 0.02);
  EXPECT_LT(max_abs(e.covariance.diagonal().head<3>()), 0.01 * 0.01);
  expect_valid(estimator.filter());

  // Flat ground: a height error of half a metre is corrected at the first contacts.
  options.ground_height = 0;
  const double height = walk.instants().back().truth.p_WS.z();
  EstimatorOptions from_rest = options;
  from_rest.initial.position_deviation = 0.5;
  BaseEstimator grounded(walk.model(), walk.options().feet, "", from_rest);
  NoisyWalk again(walk, testing::typical_errors(), 7);
  while (again.next()) {
    for (std::size_t i = 0; i < 4; ++i) forces[i] = again.instant().contact[i] ? 100 : 0;
    grounded.imu(again.instant().t, again.imu());
    grounded.legs(again.instant().t, again.q(), again.v(), forces);
  }
  EXPECT_NEAR(grounded.estimate().X_WB.p.z(), height, 0.01);
}

TEST_P(BothEstimators, BaseEstimateIsConsistentWithTheSensor) {
  // A robot with a rotated IMU far from the origin of the base.
  const testing::Walker anymal = testing::walkers()[3];
  if (!anymal.is_available()) GTEST_SKIP() << testing::why_no_shared();
  WalkOptions walking;
  walking.feet = anymal.feet;
  walking.imu = anymal.imu;
  walking.rate = 200;
  walking.duration = 4;
  walking.rest = 0.5;
  const SyntheticWalk walk(anymal.load(), walking);
  EstimatorOptions options = gated_options(GetParam(), 0.999);
  NoisyWalk noisy(walk, testing::typical_errors(), 2);
  BaseEstimator estimator(walk.model(), anymal.feet, anymal.imu, options);
  std::vector<double> forces(4);
  while (noisy.next()) {
    if (!estimator.ready()) {
      estimator.initialize(0, noisy.truth(),
                           Matrix15((1e-6 * Eigen::Matrix<double, 15, 1>::Ones()).asDiagonal()));
    }
    for (std::size_t i = 0; i < 4; ++i) forces[i] = noisy.instant().contact[i] ? 100 : 0;
    estimator.imu(noisy.instant().t, noisy.imu());
    estimator.legs(noisy.instant().t, noisy.q(), noisy.v(), forces);
  }
  VectorX<double> q = noisy.instant().q, v = noisy.instant().v;
  const VectorX<double> q_true = q, v_true = v;
  estimator.write_base(q, v);
  EXPECT_LT((q - q_true).head<3>().norm(), 0.03);
  const BaseEstimate e = estimator.estimate();
  const Mat R_true = to_matrix(quat_xyzw(q_true[3], q_true[4], q_true[5], q_true[6]));
  const Vec turn = so3::log<double>(e.X_WB.R.transpose() * R_true);
  EXPECT_LT(turn.norm(), 0.03);
  EXPECT_LT((v - v_true).head<3>().norm(), 0.05);
  Eigen::Matrix<double, 9, 1> error;
  error << q_true.head<3>() - e.X_WB.p, turn, R_true * v_true.head<3>() - e.v_WB;
  // Nine degrees of freedom: above 27.9 with a probability of 0.001.
  EXPECT_LT(error.dot(e.covariance.ldlt().solve(error)), 27.9);
}

/// A random state of a sensor, and a covariance with all correlations.
FilterState random_state(testing::Random& random) {
  FilterState x;
  x.p_WS = random.vector<double>(2);
  x.R_WS = random.rotation<double>();
  x.v_WS = random.vector<double>(1);
  x.gyro_bias = random.vector<double>(0.2);
  x.accel_bias = random.vector<double>(0.2);
  return x;
}
Matrix15 random_covariance(testing::Random& random) {
  const Matrix15 root = 0.1 * Matrix15::NullaryExpr([&](Eigen::Index) { return random.normal(); });
  return root * root.transpose();
}

/// Pose and velocity of the base from the state of the sensor and its angular velocity: a rigid
/// body. [p, R, v]
struct BaseState {
  Vec p;
  Mat R;
  Vec v;
};
BaseState base_of(const FilterState& x, const Vec& gyro, const Pose<double>& X_BS) {
  const Mat R_WB = x.R_WS * X_BS.R.transpose();
  const Vec arm = -(R_WB * X_BS.p), w_W = x.R_WS * (gyro - x.gyro_bias);
  return {x.p_WS + arm, R_WB, x.v_WS + w_W.cross(arm)};
}

// An IMU that is rotated and away from the origin of the base.
TEST_P(BothEstimators, BaseMovesRigidlyWithTheSensor) {
  const Model<double> model = testing::quadruped_with_imu();
  testing::Random random(21);
  BaseEstimator estimator(model, testing::walkers()[0].feet, "imu",
                          gated_options(GetParam(), 0.999));
  const Pose<double> X_BS = testing::tilted_imu();
  for (int trial = 0; trial < 5; ++trial) {
    const FilterState x = random_state(random);
    const Matrix15 P = random_covariance(random);
    estimator.initialize(trial, x, P);
    const ImuSample sample{random.vector<double>(3), random.vector<double>(10)};
    ASSERT_EQ(estimator.imu(trial, sample), Status::ok);
    const BaseEstimate e = estimator.estimate();
    const BaseState base = base_of(x, sample.gyro, X_BS);
    const Vec w_B = X_BS.R * (sample.gyro - x.gyro_bias);
    EXPECT_EQ(e.t, trial);
    EXPECT_LT((e.X_WB.p - base.p).norm(), 10 * kEps);
    EXPECT_LT((e.X_WB.R - base.R).norm(), 10 * kEps);
    EXPECT_LT((e.v_WB - base.v).norm(), 20 * kEps);
    EXPECT_LT((e.V_WB_B.w - w_B).norm(), 20 * kEps);
    EXPECT_LT((e.V_WB_B.v - base.R.transpose() * base.v).norm(), 20 * kEps);
    EXPECT_EQ(e.gyro_bias, x.gyro_bias);
    EXPECT_EQ(e.accel_bias, x.accel_bias);
    VectorX<double> q = VectorX<double>::Constant(model.nq(), 7), v = q.head(model.nv());
    estimator.write_base(q, v);
    EXPECT_LT((q.head<3>() - base.p).norm(), 10 * kEps);
    EXPECT_LT((to_matrix(quat_xyzw(q[3], q[4], q[5], q[6])) - base.R).norm(), 10 * kEps);
    EXPECT_LT((v.head<3>() - base.R.transpose() * base.v).norm(), 20 * kEps);
    EXPECT_LT((v.segment<3>(3) - w_B).norm(), 20 * kEps);
    EXPECT_EQ(q[7], 7);
    EXPECT_EQ(v[6], 7);

    // Covariance by central differences of that motion; noise of the gyroscope is not included.
    Eigen::Matrix<double, 9, 15> J;
    const double h = 1e-5;
    for (int j = 0; j < 15; ++j) {
      const Eigen::Matrix<double, 15, 1> d = h * Eigen::Matrix<double, 15, 1>::Unit(j);
      const BaseState plus = base_of(testing::off_by(x, -d), sample.gyro, X_BS),
                      minus = base_of(testing::off_by(x, d), sample.gyro, X_BS);
      J.col(j) << plus.p - minus.p, so3::log<double>(minus.R.transpose() * plus.R),
          plus.v - minus.v;
    }
    J /= 2 * h;
    const Eigen::Matrix<double, 9, 9> expected = J * P * J.transpose();
    // Rounding of the differences, eps / h, and h^2 of third derivatives of some units.
    EXPECT_LT((e.covariance - expected).norm(), 1e-9 * expected.norm());
  }
}

// Fixes of what the estimate has already: nothing moves, whatever the pose of the sensor.
TEST_P(BothEstimators, FixesOfTheBaseAccountForThePoseOfTheSensor) {
  const Model<double> model = testing::quadruped_with_imu();
  testing::Random random(22);
  BaseEstimator estimator(model, testing::walkers()[0].feet, "imu",
                          gated_options(GetParam(), 0.999));
  FilterState x = random_state(random);
  const Mat R_WB = axis_rotation<double>(2, 2.9) * axis_rotation<double>(1, 0.4) *
                   axis_rotation<double>(0, -0.3);
  x.R_WS = R_WB * testing::tilted_imu().R;
  estimator.initialize(0, x, random_covariance(random));
  const BaseState base = base_of(x, x.gyro_bias, testing::tilted_imu());
  const Vec p_BQ(0.3, 0.2, -0.1);
  ASSERT_EQ(estimator.position_fix(0, base.p + base.R * p_BQ, p_BQ, 1e-6 * Mat::Identity()),
            Status::ok);
  ASSERT_EQ(estimator.yaw_fix(0, 2.9, 1e-3), Status::ok);
  ASSERT_EQ(estimator.yaw_fix(0, 2.9 - 2 * std::numbers::pi, 1e-3), Status::ok);
  EXPECT_LT((estimator.filter().state().p_WS - x.p_WS).norm(), 100 * kEps);
  EXPECT_LT((estimator.filter().state().R_WS - x.R_WS).norm(), 100 * kEps);
  // The point and the heading are now known as well as measured, and not better.
  const FilterMatrix P = estimator.filter().common_covariance();
  const Vec p_SQ = testing::tilted_imu().inverse() * p_BQ;
  Eigen::Matrix<double, 3, 6> J;
  J << Mat::Identity(), -x.R_WS * skew<double>(p_SQ);
  const Mat point = J * P.topLeftCorner<6, 6>() * J.transpose();
  // 1e-10 of the prior, 0.2 m^2: definiteness is kept against rounding (FilterCovariance::bound).
  EXPECT_LT(point.diagonal().maxCoeff<Eigen::PropagateNaN>(), 1e-6 + 1e-10);
  EXPECT_GT(point.diagonal().minCoeff<Eigen::PropagateNaN>(), 0.5e-6);
}

// A walk without sensor noise: what remains is the motion between samples.
TEST_P(BothEstimators, TiltedSensorTracksAWalk) {
  WalkOptions walking;
  walking.feet = testing::walkers()[0].feet;
  walking.imu = "imu";
  walking.rate = 400;
  walking.duration = 3;
  walking.rest = 0.3;
  walking.crouch = 0.25;
  const SyntheticWalk walk(testing::quadruped_with_imu(), walking);
  for (const Odometry odometry : {Odometry::position, Odometry::velocity}) {
    EstimatorOptions options = gated_options(GetParam(), 0.999);
    options.odometry = odometry;
    BaseEstimator estimator(walk.model(), walking.feet, "imu", options);
    std::vector<double> forces(4);
    Worst p, R, v;
    for (const WalkInstant& now : walk.instants()) {
      if (!estimator.ready()) estimator.initialize(0, now.truth, 1e-6 * Matrix15::Identity());
      for (std::size_t i = 0; i < 4; ++i) forces[i] = now.contact[i] ? 100 : 0;
      ASSERT_EQ(estimator.imu(now.t, now.imu), Status::ok);
      ASSERT_EQ(estimator.legs(now.t, now.q, now.v, forces), Status::ok);
      const BaseEstimate e = estimator.estimate();
      const Mat R_WB = to_matrix(quat_xyzw(now.q[3], now.q[4], now.q[5], now.q[6]));
      p.add((e.X_WB.p - now.q.head<3>()).norm());
      R.add(so3::log<double>(e.X_WB.R.transpose() * R_WB).norm());
      v.add((e.v_WB - R_WB * now.v.head<3>()).norm());
    }
    EXPECT_EQ(estimator.diagnostics().feet_rejected, 0u);
    // Second order in the period: ten times what was measured, and a hundredth of what a wrong
    // lever arm makes of the velocity.
    EXPECT_LT(p.value(), 8e-5);
    EXPECT_LT(R.value(), 1.5e-4);
    EXPECT_LT(v.value(), 8e-4);
  }
}

// The bound on an innovation is that of its degrees of freedom: 10.83 and 16.27 at 0.999.
TEST_P(BothEstimators, GatesHaveTheRowsOfTheMeasurement) {
  const Model<double> model = testing::walkers()[0].load();
  const double s = 0.01;
  const auto position = [&](double nis, double gate) {
    BaseEstimator estimator(model, testing::walkers()[0].feet, "", gated_options(GetParam(), gate));
    estimator.initialize(0, {}, Matrix15::Zero());
    return estimator.position_fix(0, Vec(2, -2, 1) / 3 * std::sqrt(nis) * s, Vec::Zero(),
                                  s * s * Mat::Identity());
  };
  const auto yaw = [&](double nis, double gate) {
    BaseEstimator estimator(model, testing::walkers()[0].feet, "", gated_options(GetParam(), gate));
    estimator.initialize(0, {}, Matrix15::Zero());
    return estimator.yaw_fix(0, -std::sqrt(nis) * s, s);
  };
  EXPECT_EQ(position(16.2, 0.999), Status::ok);
  EXPECT_EQ(position(16.3, 0.999), Status::rejected);
  EXPECT_EQ(yaw(10.8, 0.999), Status::ok);
  EXPECT_EQ(yaw(10.9, 0.999), Status::rejected);
  // 0.95: 7.815 and 3.841. 1: none.
  EXPECT_EQ(position(7.8, 0.95), Status::ok);
  EXPECT_EQ(position(7.9, 0.95), Status::rejected);
  EXPECT_EQ(yaw(3.8, 0.95), Status::ok);
  EXPECT_EQ(yaw(3.9, 0.95), Status::rejected);
  EXPECT_EQ(position(1e6, 1), Status::ok);
}

TEST_P(BothEstimators, FixesMustBeFiniteAndSynchronized) {
  const Model<double> model = testing::walkers()[0].load();
  EstimatorOptions options = gated_options(GetParam(), 1);
  options.skew = 0.125;
  BaseEstimator estimator(model, testing::walkers()[0].feet, "", options);
  const double nan = std::nan("");
  const Vec zero = Vec::Zero();
  const Mat noise = Mat::Identity();
  EXPECT_EQ(estimator.position_fix(0, zero, zero, noise), Status::not_ready);
  EXPECT_EQ(estimator.yaw_fix(0, 0, 1), Status::not_ready);
  estimator.initialize(2, {}, Matrix15::Identity());
  EXPECT_EQ(estimator.diagnostics().fixes_rejected, 2u);
  for (const double t : {1.875, 2.0, 2.125}) {
    EXPECT_EQ(estimator.position_fix(t, zero, zero, noise), Status::ok);
    EXPECT_EQ(estimator.yaw_fix(t, 0, 1), Status::ok);
  }
  EXPECT_EQ(estimator.diagnostics().fixes_used, 6u);
  for (const double t : {1.87, 2.13}) {
    EXPECT_EQ(estimator.position_fix(t, zero, zero, noise), Status::rejected);
    EXPECT_EQ(estimator.yaw_fix(t, 0, 1), Status::rejected);
  }
  EXPECT_EQ(estimator.position_fix(2, {0, nan, 0}, zero, noise), Status::not_finite);
  EXPECT_EQ(estimator.position_fix(2, zero, {0, nan, 0}, noise), Status::not_finite);
  EXPECT_EQ(estimator.position_fix(2, zero, zero, nan * noise), Status::not_finite);
  EXPECT_EQ(estimator.position_fix(2, {2e7, 0, 0}, zero, noise), Status::rejected);
  EXPECT_EQ(estimator.position_fix(2, zero, {2e7, 0, 0}, noise), Status::rejected);
  EXPECT_EQ(estimator.yaw_fix(2, nan, 1), Status::not_finite);
  EXPECT_EQ(estimator.yaw_fix(2, 0, nan), Status::not_finite);
  EXPECT_EQ(estimator.yaw_fix(2, 0, 0), Status::rejected);
  EXPECT_EQ(estimator.diagnostics().fixes_used, 6u);
  EXPECT_EQ(estimator.diagnostics().fixes_rejected, 14u);
  // There is no heading of an axis that is nearly vertical.
  for (const double pitch : {1.45, 1.5}) {
    FilterState x;
    x.R_WS = axis_rotation<double>(1, pitch);
    estimator.initialize(2, x, Matrix15::Identity());
    EXPECT_EQ(estimator.yaw_fix(2, 0, 1), pitch < 1.47 ? Status::ok : Status::rejected);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, BothEstimators,
                         ::testing::Values(FilterKind::error_state, FilterKind::invariant),
                         [](const auto& kind) {
                           return kind.param == FilterKind::invariant ? "inekf" : "eskf";
                         });

TEST(BaseEstimator, RejectsInvalidArguments) {
  const Model<double> quadruped = testing::walkers()[0].load();
  const auto feet = testing::walkers()[0].feet;
  EstimatorOptions options;
  options.gate = 0;
  EXPECT_THROW(BaseEstimator(quadruped, feet, "", options), Error);
  options = {};
  options.encoder = -1;
  EXPECT_THROW(BaseEstimator(quadruped, feet, "", options), Error);
  options = {};
  options.encoder = options.foot_error = 0;
  EXPECT_THROW(BaseEstimator(quadruped, feet, "", options), Error);
  for (double EstimatorOptions::*option :
       {&EstimatorOptions::encoder, &EstimatorOptions::encoder_rate, &EstimatorOptions::foot_error,
        &EstimatorOptions::foot_speed, &EstimatorOptions::slip_time,
        &EstimatorOptions::ground_deviation, &EstimatorOptions::longest_gap,
        &EstimatorOptions::lost_gap, &EstimatorOptions::lost_speed, &EstimatorOptions::lost_time,
        &EstimatorOptions::skew, &EstimatorOptions::gyro_range, &EstimatorOptions::accel_range,
        &EstimatorOptions::contact_noise, &EstimatorOptions::gate}) {
    options = {};
    options.*option = -1;
    EXPECT_THROW(BaseEstimator(quadruped, feet, "", options), Error);
  }
  for (double EstimatorOptions::*option :
       {&EstimatorOptions::ground_deviation, &EstimatorOptions::longest_gap,
        &EstimatorOptions::lost_gap, &EstimatorOptions::lost_speed, &EstimatorOptions::lost_time,
        &EstimatorOptions::skew, &EstimatorOptions::gyro_range, &EstimatorOptions::accel_range}) {
    options = {};
    options.*option = 0;
    EXPECT_THROW(BaseEstimator(quadruped, feet, "", options), Error);
  }
  options = {};
  options.gate = 1.001;
  EXPECT_THROW(BaseEstimator(quadruped, feet, "", options), Error);
  options.gate = 1;
  options.encoder = 0;
  EXPECT_NO_THROW(BaseEstimator(quadruped, feet, "", options));
  BaseEstimator estimator(quadruped, feet);
  const VectorX<double> q = VectorX<double>::Zero(19), v = VectorX<double>::Zero(18);
  try {
    estimator.legs(0, q, v, std::vector<double>(3));
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "BaseEstimator::legs: forces has 3 entries, expected 4");
  }
  EXPECT_THROW(estimator.legs(0, v, v, std::vector<double>(4)), Error);
}

}  // namespace
}  // namespace limb
