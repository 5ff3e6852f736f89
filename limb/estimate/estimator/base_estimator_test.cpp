// Position and yaw fixes, flat ground, an IMU away from the base origin, and error messages.
#include "limb/estimate/estimator/base_estimator.hpp"

#include <gtest/gtest.h>

#include "limb/estimate/testing/quadruped_walk.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;
using testing::expect_valid;
using testing::gated_options;
using testing::quadruped_walk;

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
  EXPECT_LT(e.covariance.diagonal().head<3>().maxCoeff(), 0.01 * 0.01);
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
  if (!anymal.is_available()) GTEST_SKIP() << "the shared robots are not available";
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
