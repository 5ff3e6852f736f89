// Derivatives of both filters against finite differences, error growth of an IMU without other
// measurements, and closed forms of the Kalman filter.
#include "limb/estimate/filter/base_filter.hpp"

#include <gtest/gtest.h>

#include "limb/estimate/filter/error_state_filter.hpp"
#include "limb/estimate/filter/invariant_filter.hpp"
#include "limb/math/testing/random.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;

class BothFilters : public ::testing::TestWithParam<FilterKind> {
 protected:
  std::unique_ptr<BaseFilter> make(const FilterOptions& options = {}) const {
    return make_filter(GetParam(), options);
  }
  /// At a random state, with feet in contact.
  std::unique_ptr<BaseFilter> at_random_state(testing::Random& random, int feet,
                                              const FilterOptions& options = {}) const {
    auto filter = make(options);
    FilterState x;
    x.p_WS = random.vector<double>(3);
    x.R_WS = random.rotation<double>();
    x.v_WS = random.vector<double>(2);
    x.gyro_bias = random.vector<double>(0.1);
    x.accel_bias = random.vector<double>(0.3);
    const Eigen::Matrix<double, 15, 15> root =
        0.1 * Matrix15::NullaryExpr([&](Eigen::Index) { return random.normal(); });
    filter->reset(x, root * root.transpose());
    for (int i = 0; i < feet; ++i) {
      EXPECT_EQ(filter->add_foot(i, random.vector<double>(0.5), 1e-4 * Mat::Identity()),
                Status::ok);
    }
    return filter;
  }
};

/// Error of a state relative to that of a filter, feet included: the inverse of retracted().
FilterVector error_of(const BaseFilter& filter, const FilterState& x) {
  FilterVector e = FilterVector::Zero(filter.state().errors());
  e.head<15>() = filter.core_error(x);
  for (int i = 0; i < x.feet; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const FilterState now = filter.retracted(e);
    // The error of the foot enters linearly, by a matrix that depends only on the rotation.
    Mat J;
    for (int j = 0; j < 3; ++j) {
      FilterVector there = e;
      there[ErrorIndex::foot(i) + j] += 1;
      J.col(j) = filter.retracted(there).p_WF[k] - now.p_WF[k];
    }
    e.segment<3>(ErrorIndex::foot(i)) = J.inverse() * (x.p_WF[k] - now.p_WF[k]);
  }
  return e;
}

TEST_P(BothFilters, TransitionIsTheDerivativeOfTheStep) {
  testing::Random random(3);
  for (int trial = 0; trial < 5; ++trial) {
    auto filter = at_random_state(random, 3);
    const ImuSample sample{random.vector<double>(3), random.vector<double>(15)};
    const double T = 0.02, h = 1e-5;
    ImuStep step;
    const FilterState x = filter->state();
    integrate_imu({sample.gyro - x.gyro_bias, sample.accel - x.accel_bias}, T, {}, step);
    const MatrixX<double> F = filter->transition(step);

    const auto after = [&](const FilterState& from) {
      auto other = make();
      other->reset(from, Matrix15::Identity());
      for (int i = 0; i < from.feet; ++i) {
        const auto k = static_cast<std::size_t>(i);
        other->add_foot(i, from.R_WS.transpose() * (from.p_WF[k] - from.p_WS), Mat::Zero());
      }
      EXPECT_EQ(other->predict(sample, T), Status::ok);
      return other;
    };
    const auto reference = after(x);
    for (int j = 0; j < x.errors(); ++j) {
      FilterVector e = FilterVector::Zero(x.errors());
      e[j] = h;
      const auto plus = after(filter->retracted(e))->state();
      const auto minus = after(filter->retracted(-e))->state();
      const FilterVector column =
          (error_of(*reference, plus) - error_of(*reference, minus)) / (2 * h);
      // Central differences: h^2 of third derivatives, which are below 100 here, and rounding of
      // positions of some metres over h.
      EXPECT_LT((column - F.col(j)).norm(), 1e-8) << filter->name() << ", error " << j;
    }
  }
}

TEST_P(BothFilters, JacobiansAreDerivativesOfMeasurements) {
  testing::Random random(4);
  for (int trial = 0; trial < 5; ++trial) {
    auto filter = at_random_state(random, 4);
    const Vec gyro = random.vector<double>(2), p = random.vector<double>(0.5),
              v = random.vector<double>(1), x_S = random.direction<double>();
    const auto measurements = [&](const FilterState& x) {
      return std::vector<BaseMeasurement>{
          foot_position(x, 2, p, Mat::Identity()), foot_velocity(x, gyro, p, v, Mat::Identity()),
          foot_height(x, 1, 0.3, 1), position_fix(x, v, p, Mat::Identity()),
          yaw_fix(x, 0.3, x_S, 1)};
    };
    const auto here = measurements(filter->state());
    const double h = 1e-5;
    for (std::size_t k = 0; k < here.size(); ++k) {
      const MatrixX<double> H = filter->jacobian(here[k]);
      for (int j = 0; j < filter->state().errors(); ++j) {
        FilterVector e = FilterVector::Zero(filter->state().errors());
        e[j] = h;
        const Vec plus = measurements(filter->retracted(e))[k].residual;
        const Vec minus = measurements(filter->retracted(-e))[k].residual;
        // residual = measured - predicted
        const auto column = ((minus - plus) / (2 * h)).head(here[k].rows);
        EXPECT_LT((column - H.col(j)).norm(), 1e-8 * (1 + H.norm()))
            << filter->name() << ", measurement " << k << ", error " << j;
      }
    }
  }
}

// The blockwise step against P <- F P F^T + Q with dense matrices.
TEST_P(BothFilters, CovarianceFollowsTheTransition) {
  testing::Random random(5);
  FilterOptions noisy;
  noisy.imu = {0.1, 0.3, 0.05, 0.1};
  noisy.contact_noise = 0.2;
  auto filter = at_random_state(random, 3, noisy);
  const ImuSample sample{random.vector<double>(2), random.vector<double>(15)};
  const double T = 0.01;
  const FilterState x = filter->state();
  ImuStep step;
  integrate_imu({sample.gyro - x.gyro_bias, sample.accel - x.accel_bias}, T, noisy.imu, step);
  const MatrixX<double> F = filter->transition(step), P = filter->covariance();
  ASSERT_EQ(filter->predict(sample, T), Status::ok);
  const MatrixX<double> Q = filter->covariance() - F * P * F.transpose();
  EXPECT_LT((Q - Q.transpose()).norm(), 1e-13);
  // The remainder is the noise of the step in the common errors: positions and velocities in world
  // axes, rotation in those of S1.
  auto only_noise = make(noisy);
  FilterState at = x;
  only_noise->reset(at, Matrix15::Zero());
  ASSERT_EQ(only_noise->predict(sample, T), Status::ok);
  const Matrix15 common = only_noise->common_covariance();
  Matrix15 turn = Matrix15::Identity();
  turn.block<3, 3>(0, 0) = turn.block<3, 3>(6, 6) = x.R_WS;
  turn.block<3, 3>(3, 3) = step.R.transpose();
  EXPECT_LT((common - turn * step.noise * turn.transpose()).norm(), 1e-14);
  EXPECT_LT((Q.topLeftCorner<15, 15>() - only_noise->covariance()).norm(), 1e-12);
  // Contact noise of the feet.
  const FilterMatrix with_feet = filter->common_covariance();
  EXPECT_GT(with_feet.diagonal().tail<9>().minCoeff(), 0.2 * 0.2 * T);
}

TEST_P(BothFilters, CommonCovarianceIsThatOfTheStatesAround) {
  testing::Random random(6);
  auto filter = at_random_state(random, 2);
  const FilterState x = filter->state();
  // Jacobian of common errors with respect to those of the filter, by finite differences.
  const int n = x.errors();
  const double h = 1e-6;
  MatrixX<double> T(n, n);
  for (int j = 0; j < n; ++j) {
    FilterVector e = FilterVector::Zero(n);
    e[j] = h;
    const FilterState a = filter->retracted(e), b = filter->retracted(-e);
    T.col(j).head<15>() << a.p_WS - b.p_WS, so3::log<double>(b.R_WS.transpose() * a.R_WS),
        a.v_WS - b.v_WS, a.gyro_bias - b.gyro_bias, a.accel_bias - b.accel_bias;
    for (int i = 0; i < x.feet; ++i) {
      const auto k = static_cast<std::size_t>(i);
      T.col(j).segment<3>(ErrorIndex::foot(i)) = a.p_WF[k] - b.p_WF[k];
    }
  }
  T /= 2 * h;
  const MatrixX<double> expected = T * filter->covariance() * T.transpose();
  EXPECT_LT((filter->common_covariance() - expected).norm(), 1e-8 * expected.norm());
  // And back, by reset.
  auto again = make();
  again->reset(x, filter->common_covariance().topLeftCorner<15, 15>());
  EXPECT_LT((again->covariance() - filter->covariance().topLeftCorner<15, 15>()).norm(),
            1e-12 * expected.norm());
}

// One measurement as a linear Gaussian least-squares problem.
TEST_P(BothFilters, UpdateIsLeastSquares) {
  testing::Random random(7);
  auto filter = at_random_state(random, 2);
  const auto m = foot_position(filter->state(), 1, random.vector<double>(0.5),
                               Vec(0.01, 0.02, 0.03).asDiagonal());
  const MatrixX<double> P = filter->covariance(), H = filter->jacobian(m);
  const MatrixX<double> information =
      H.transpose() * m.noise.inverse() * H +
      (P + 1e-12 * MatrixX<double>::Identity(P.rows(), P.cols())).inverse();
  const MatrixX<double> expected = information.inverse();
  const VectorX<double> error = expected * H.transpose() * m.noise.inverse() * m.residual;
  const FilterState expected_state = filter->retracted(error);
  const double nis = filter->innovation(m);
  const UpdateResult result = filter->update(m);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.rows, 3);
  EXPECT_NEAR(result.nis, nis, 1e-9 * nis);
  EXPECT_LT((filter->state().p_WS - expected_state.p_WS).norm(), 1e-7);
  EXPECT_LT((filter->state().R_WS - expected_state.R_WS).norm(), 1e-7);
  if (GetParam() == FilterKind::invariant) {
    EXPECT_LT((filter->covariance() - expected).norm(), 1e-7);
  }
}

TEST_P(BothFilters, JointUpdateEqualsSequentialUpdates) {
  testing::Random random(8);
  // With zero residuals the state does not move, and the order does not matter.
  auto together = at_random_state(random, 4);
  const FilterState x = together->state();
  std::vector<BaseMeasurement> all;
  for (int i = 0; i < 4; ++i) {
    const auto k = static_cast<std::size_t>(i);
    all.push_back(foot_position(x, i, x.R_WS.transpose() * (x.p_WF[k] - x.p_WS),
                                Vec(0.01, 0.02, 0.03).asDiagonal()));
  }
  testing::Random again(8);
  auto one_by_one = at_random_state(again, 4);
  ASSERT_TRUE(together->update(all).ok());
  for (const auto& m : all) ASSERT_TRUE(one_by_one->update(m).ok());
  // Each update inflates variances by 4e-12 (FilterCovariance::inflate_for_rounding).
  EXPECT_LT((together->covariance() - one_by_one->covariance()).norm(),
            2e-11 * together->covariance().norm());
}

TEST_P(BothFilters, FeetAreAddedAndRemoved) {
  testing::Random random(9);
  auto filter = at_random_state(random, 0);
  const MatrixX<double> core = filter->covariance();
  for (int foot : {7, 3, 5}) {
    EXPECT_EQ(filter->add_foot(foot, random.vector<double>(0.5), 1e-4 * Mat::Identity()),
              Status::ok);
  }
  EXPECT_NE(filter->add_foot(3, Vec::Zero(), Mat::Identity()), Status::ok);
  const FilterState x = filter->state();
  const MatrixX<double> P = filter->covariance();
  EXPECT_EQ(filter->remove_foot(3), Status::ok);
  EXPECT_EQ(filter->remove_foot(3), Status::rejected);
  EXPECT_EQ(filter->state().feet, 2);
  EXPECT_EQ(filter->state().slot_of(5), 1);
  EXPECT_EQ(filter->state().p_WF[1], x.p_WF[2]);
  // The rest of the covariance is unchanged: marginalization.
  EXPECT_EQ((filter->covariance().topLeftCorner(18, 18) - P.topLeftCorner(18, 18)).norm(), 0);
  EXPECT_EQ((filter->covariance().bottomRightCorner(3, 3) - P.bottomRightCorner(3, 3)).norm(), 0);
  EXPECT_EQ((filter->covariance().block(0, 18, 18, 3) - P.block(0, 21, 18, 3)).norm(), 0);
  EXPECT_EQ(filter->remove_foot(7), Status::ok);
  EXPECT_EQ(filter->remove_foot(5), Status::ok);
  EXPECT_LT((filter->covariance() - core).norm(), 1e-14);
  for (int foot = 0; foot < kMaxFeet; ++foot) {
    EXPECT_EQ(filter->add_foot(foot, Vec::Zero(), Mat::Identity()), Status::ok);
  }
  EXPECT_NE(filter->add_foot(kMaxFeet, Vec::Zero(), Mat::Identity()), Status::ok);
}

// Error growth of an IMU at rest by integrated noise. [Titterton 2004]
TEST_P(BothFilters, ErrorsOfAnImuGrowAsInTheTextbook) {
  FilterOptions options;
  options.imu = {2e-3, 1e-2, 0, 0};
  const double T = 30, dt = 0.01, g = 9.81;
  const auto deviations = [&](const ImuNoise& noise, const Matrix15& P0) {
    options.imu = noise;
    auto filter = make(options);
    filter->reset({}, P0);
    for (int i = 0; i < 3000; ++i) filter->predict({{0, 0, 0}, {0, 0, g}}, dt);
    EXPECT_NEAR(filter->state().p_WS.norm(), 0, 1e-9);
    return VectorX<double>(filter->common_covariance().diagonal().cwiseSqrt());
  };
  constexpr double kRounding = 1e-9;
  const Matrix15 none = Matrix15::Zero();
  // White noise of the accelerometer: velocity grows with T^1/2, position with T^3/2.
  auto d = deviations({0, 1e-2, 0, 0}, none);
  EXPECT_NEAR(d[ErrorIndex::velocity], 1e-2 * std::sqrt(T), kRounding);
  EXPECT_NEAR(d[ErrorIndex::position + 2], 1e-2 * std::sqrt(T * T * T / 3), kRounding);
  // White noise of the gyroscope: angle T^1/2, horizontal velocity g T^3/2, position g T^5/2.
  d = deviations({2e-3, 0, 0, 0}, none);
  EXPECT_NEAR(d[ErrorIndex::rotation + 2], 2e-3 * std::sqrt(T), kRounding);
  EXPECT_NEAR(d[ErrorIndex::velocity], 2e-3 * g * std::sqrt(T * T * T / 3), kRounding);
  EXPECT_NEAR(d[ErrorIndex::position], 2e-3 * g * std::sqrt(std::pow(T, 5) / 20), 1e-8);
  EXPECT_NEAR(d[ErrorIndex::position + 2], 0, 1e-8);
  // Constant biases: b T^2/2 and g b T^3/6. A tilt: g tilt T^2/2.
  Matrix15 P0 = none;
  P0.block<3, 3>(ErrorIndex::accel_bias, ErrorIndex::accel_bias) = 1e-4 * Mat::Identity();
  EXPECT_NEAR(deviations({0, 0, 0, 0}, P0)[ErrorIndex::position], 1e-2 * T * T / 2, 1e-8);
  P0 = none;
  P0.block<3, 3>(ErrorIndex::gyro_bias, ErrorIndex::gyro_bias) = 1e-8 * Mat::Identity();
  EXPECT_NEAR(deviations({0, 0, 0, 0}, P0)[ErrorIndex::position], g * 1e-4 * T * T * T / 6, 1e-8);
  P0 = none;
  P0.block<3, 3>(ErrorIndex::rotation, ErrorIndex::rotation) = 1e-6 * Mat::Identity();
  EXPECT_NEAR(deviations({0, 0, 0, 0}, P0)[ErrorIndex::position], g * 1e-3 * T * T / 2, 1e-8);
  // Random walk of a bias: angle T^3/2.
  EXPECT_NEAR(deviations({0, 0, 1e-4, 0}, none)[ErrorIndex::rotation + 2],
              1e-4 * std::sqrt(T * T * T / 3), kRounding);
}

TEST_P(BothFilters, RejectInputThatIsNotFinite) {
  testing::Random random(10);
  auto filter = at_random_state(random, 2);
  const MatrixX<double> P = filter->covariance();
  const double nan = std::nan("");
  EXPECT_EQ(filter->predict({{0, nan, 0}, {0, 0, 9.81}}, 0.01), Status::not_finite);
  EXPECT_EQ(filter->predict({{0, 0, 0}, {0, 0, 1e300}}, 0.01), Status::rejected);
  EXPECT_EQ(filter->predict({{0, 0, 0}, {0, 0, 9.81}}, -0.01), Status::rejected);
  EXPECT_EQ(filter->predict({{0, 0, 0}, {0, 0, 9.81}}, nan), Status::not_finite);
  EXPECT_EQ(filter->add_foot(5, {nan, 0, 0}, Mat::Identity()), Status::not_finite);
  EXPECT_FALSE(
      filter->update(foot_position(filter->state(), 0, {nan, 0, 0}, Mat::Identity())).ok());
  EXPECT_FALSE(
      filter->update(foot_position(filter->state(), 0, Vec::Zero(), -10 * Mat::Identity())).ok());
  EXPECT_EQ(filter->innovation(foot_position(filter->state(), 0, {nan, 0, 0}, Mat::Identity())),
            std::numeric_limits<double>::infinity());
  EXPECT_EQ((filter->covariance() - P).norm(), 0);
}

TEST_P(BothFilters, ResetRejectsInvalidStates) {
  auto filter = make();
  FilterState x;
  Matrix15 P = Matrix15::Identity();
  P(3, 4) = 0.5;
  EXPECT_THROW(filter->reset(x, P), Error);
  P = -Matrix15::Identity();
  EXPECT_THROW(filter->reset(x, P), Error);
  x.R_WS *= 2;
  EXPECT_THROW(filter->reset(x, Matrix15::Identity()), Error);
  x = {};
  x.v_WS.x() = std::nan("");
  EXPECT_THROW(filter->reset(x, Matrix15::Identity()), Error);
}

INSTANTIATE_TEST_SUITE_P(Kinds, BothFilters,
                         ::testing::Values(FilterKind::error_state, FilterKind::invariant),
                         [](const auto& kind) {
                           return kind.param == FilterKind::invariant ? "inekf" : "eskf";
                         });

TEST(FilterKind, ByName) {
  EXPECT_EQ(filter_kind("test", "inekf"), FilterKind::invariant);
  EXPECT_THROW(filter_kind("test", "ukf"), Error);
}

}  // namespace
}  // namespace limb
