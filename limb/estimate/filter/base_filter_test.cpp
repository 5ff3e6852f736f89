// Derivatives of both filters against finite differences, error growth of an IMU without other
// measurements, and closed forms of the Kalman filter.
#include "limb/estimate/filter/base_filter.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <numbers>

#include "limb/base/testing/worst.hpp"
#include "limb/estimate/filter/error_state_filter.hpp"
#include "limb/estimate/filter/invariant_filter.hpp"
#include "limb/math/testing/random.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;
using Dense = MatrixX<double>;
constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr double kPi = std::numbers::pi;

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
  EXPECT_GT(with_feet.diagonal().tail<9>().minCoeff<Eigen::PropagateNaN>(), 0.2 * 0.2 * T);
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

// Three hours at 100 Hz: one renormalization per step keeps the rounding of a product of a million
// rotations off the length of the columns; the angle may only accumulate it.
TEST_P(BothFilters, AttitudeAfterHoursIsThatOfAConstantRate) {
  constexpr int kSteps = 1 << 20;
  const double T = 1.0 / 128;
  auto filter = make();
  FilterState x;
  testing::Random random(12);
  x.R_WS = random.rotation<double>();
  filter->reset(x, Matrix15::Zero());
  const Vec rate(0.3, -0.2, 0.5);
  Worst orthogonality;
  for (int k = 1; k <= kSteps; ++k) {
    filter->predict({rate, -x.R_WS.transpose() * filter->options().gravity_W}, T);
    if (k % 1024 == 0) {
      const Mat& R = filter->state().R_WS;
      orthogonality.add(
          (R.transpose() * R - Mat::Identity()).cwiseAbs().maxCoeff<Eigen::PropagateNaN>());
      orthogonality.add(std::abs(R.determinant() - 1));
    }
  }
  const double angle = rate.norm() * T * kSteps, turns = std::remainder(angle, 2 * kPi);
  const Mat expected = x.R_WS * so3::exp<double>(rate.normalized() * turns);
  EXPECT_LT(orthogonality.value(), 8 * kEps);
  EXPECT_LT((filter->state().R_WS - expected).norm(), 1e-9);
}

TEST_P(BothFilters, PredictionWithoutForceIsAParabola) {
  auto filter = make();
  FilterState x;
  x.p_WS = {1, 2, 3};
  x.v_WS = {0.5, -0.25, 4};
  x.gyro_bias = {0.1, -0.2, 0.3};
  x.accel_bias = {0.4, 0.5, -0.6};
  filter->reset(x, Matrix15::Zero());
  // The sensor reads only its biases; the step is split in ten.
  const double T = 1;
  ASSERT_EQ(filter->predict({x.gyro_bias, x.accel_bias}, T), Status::ok);
  const Vec g = filter->options().gravity_W;
  const FilterState& y = filter->state();
  EXPECT_LT((y.p_WS - (x.p_WS + x.v_WS * T + g * T * T / 2)).norm(), 20 * kEps * g.norm());
  EXPECT_LT((y.v_WS - (x.v_WS + g * T)).norm(), 10 * kEps * g.norm());
  EXPECT_LT((y.R_WS - x.R_WS).norm(), kEps);
  EXPECT_EQ(y.gyro_bias, x.gyro_bias);
  EXPECT_EQ(y.accel_bias, x.accel_bias);
}

// A long step is that many short ones, in state and covariance; feet included.
TEST_P(BothFilters, LongStepsAreSplit) {
  testing::Random random(13), again(13);
  auto one = at_random_state(random, 2), many = at_random_state(again, 2);
  const ImuSample sample{random.vector<double>(3), random.vector<double>(15)};
  const double T = 0.35;
  const FilterState x = one->state();
  const int n = imu_substeps({sample.gyro - x.gyro_bias, sample.accel - x.accel_bias}, T);
  ASSERT_GT(n, 4);
  ASSERT_EQ(one->predict(sample, T), Status::ok);
  for (int k = 0; k < n; ++k) ASSERT_EQ(many->predict(sample, T / n), Status::ok);
  EXPECT_EQ(one->state().p_WS, many->state().p_WS);
  EXPECT_EQ(one->state().R_WS, many->state().R_WS);
  EXPECT_EQ(one->covariance(), many->covariance());
}

TEST_P(BothFilters, NoiseOfAStepReplacesThatOfTheOptions) {
  const ImuNoise noise{0.3, 0.7, 0.2, 0.4};
  FilterOptions noisy;
  noisy.imu = noise;
  auto given = make(), option = make(noisy);
  const ImuSample sample{{1, 2, 3}, {4, 5, 6}};
  given->reset({}, Matrix15::Zero());
  option->reset({}, Matrix15::Zero());
  ASSERT_EQ(given->predict(sample, 0.01, noise), Status::ok);
  ASSERT_EQ(option->predict(sample, 0.01), Status::ok);
  EXPECT_EQ(given->covariance(), option->covariance());
  EXPECT_GT(given->covariance()(8, 8), 0.7 * 0.7 * 0.01);
}

// A foot is measured in axes of the sensor: p_WF = p + R (p_SF + n), so that its error is
// e_p - R [p_SF] e_R + R n in the common errors, and the covariance of n arrives as R N R^T.
TEST_P(BothFilters, FootNoiseIsRotatedIntoTheWorld) {
  testing::Random random(14);
  auto filter = at_random_state(random, 1);
  const FilterState x = filter->state();
  const Dense P = filter->common_covariance();
  const Vec p_SF = random.vector<double>(0.5);
  // Three different variances along axes that are neither those of the sensor nor of the world.
  const Mat axes = random.rotation<double>();
  const Mat noise = axes * Vec(0.01, 0.3, 0.05).asDiagonal() * axes.transpose();
  ASSERT_EQ(filter->add_foot(1, p_SF, noise), Status::ok);
  const int n = x.errors();
  Dense J = Dense::Zero(n + 3, n);
  J.topRows(n).setIdentity();
  J.block<3, 3>(n, ErrorIndex::position).setIdentity();
  J.block<3, 3>(n, ErrorIndex::rotation) = -x.R_WS * skew<double>(p_SF);
  Dense expected = J * P * J.transpose();
  expected.bottomRightCorner<3, 3>() += x.R_WS * noise * x.R_WS.transpose();
  // Rounding of three changes of the errors, by arms of some metres.
  EXPECT_LT((filter->common_covariance() - expected).norm(), 100 * kEps * expected.norm());
  EXPECT_LT((filter->state().p_WF[1] - (x.p_WS + x.R_WS * p_SF)).norm(), 10 * kEps);
  EXPECT_EQ(filter->covariance(), Dense(filter->covariance().transpose()));
}

/// A Kalman update with dense matrices.
struct DenseUpdate {
  VectorX<double> error;
  Dense P;
  double nis = 0;
  DenseUpdate(const BaseFilter& filter, std::span<const BaseMeasurement> all) {
    const Dense before = filter.covariance();
    const Eigen::Index n = before.rows();
    Dense H(0, n), N = Dense::Zero(24, 24);
    VectorX<double> r(24);
    for (const BaseMeasurement& m : all) {
      const Eigen::Index at = H.rows();
      H.conservativeResize(at + m.rows, n);
      H.bottomRows(m.rows) = filter.jacobian(m);
      N.block(at, at, m.rows, m.rows) = m.noise.topLeftCorner(m.rows, m.rows);
      r.segment(at, m.rows) = m.residual.head(m.rows);
    }
    r.conservativeResize(H.rows());
    N.conservativeResize(H.rows(), H.rows());
    const Dense S = H * before * H.transpose() + N;
    const Dense K = S.ldlt().solve(H * before).transpose();
    const Dense A = Dense::Identity(n, n) - K * H;
    error = K * r;
    P = A * before * A.transpose() + K * N * K.transpose();
    nis = r.dot(S.ldlt().solve(r));
  }
};

/// The largest difference of two states.
double difference(const FilterState& a, const FilterState& b) {
  Worst worst;
  worst.add((a.p_WS - b.p_WS).norm());
  worst.add((a.R_WS - b.R_WS).norm());
  worst.add((a.v_WS - b.v_WS).norm());
  worst.add((a.gyro_bias - b.gyro_bias).norm());
  worst.add((a.accel_bias - b.accel_bias).norm());
  for (int i = 0; i < a.feet; ++i) {
    worst.add((a.p_WF[static_cast<std::size_t>(i)] - b.p_WF[static_cast<std::size_t>(i)]).norm());
  }
  return worst.value();
}

/// Random rotated covariance.
Mat anisotropic(testing::Random& random) {
  const Mat axes = random.rotation<double>();
  return axes * Vec(0.01, 0.3, 0.05).asDiagonal() * axes.transpose();
}

TEST_P(BothFilters, UpdateMatchesDenseMatricesAndMovesTheState) {
  testing::Random random(15);
  for (int trial = 0; trial < 5; ++trial) {
    auto filter = at_random_state(random, 3);
    const FilterState x = filter->state();
    const Mat N0 = anisotropic(random), N1 = anisotropic(random);
    const Vec p = random.vector<double>(0.5), v = random.vector<double>(1),
              gyro = random.vector<double>(1);
    const std::vector<BaseMeasurement> all = {
        foot_position(x, 2, x.R_WS.transpose() * (x.p_WF[2] - x.p_WS) + 0.1 * v, N0),
        foot_height(x, 1, x.p_WF[1].z() + 0.1, 0.3), yaw_fix(x, 0.3, Vec::UnitX(), 0.7),
        foot_velocity(x, gyro, p, v, N1)};
    const DenseUpdate expected(*filter, all);
    const FilterState moved = filter->retracted(expected.error);
    std::vector<InnovationTest> tests(all.size());
    const UpdateResult result = filter->update(all, tests);
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(result.rows, 8);
    EXPECT_NEAR(result.nis, expected.nis, 1e3 * kEps * expected.nis);
    const FilterState& y = filter->state();
    EXPECT_LT(difference(y, moved), 1e4 * kEps);
    Dense P = expected.P;
    if (GetParam() == FilterKind::error_state) {
      // A rotation of the world about the vertical stays unobservable: P <- T P T^T with T n(x) =
      // n(y) for n = (z x p, R^T z, z x v, z x p_WF).
      const Vec z = Vec::UnitZ(), u = x.R_WS.transpose() * z;
      Dense T = Dense::Identity(x.errors(), x.errors());
      T.block<3, 3>(3, 3) = y.R_WS.transpose() * x.R_WS;
      T.block<3, 3>(0, 3) = z.cross(y.p_WS - x.p_WS) * u.transpose();
      T.block<3, 3>(6, 3) = z.cross(y.v_WS - x.v_WS) * u.transpose();
      for (std::size_t i = 0; i < 3; ++i) {
        T.block<3, 3>(ErrorIndex::foot(static_cast<int>(i)), 3) =
            z.cross(y.p_WF[i] - x.p_WF[i]) * u.transpose();
      }
      P = T * P * T.transpose();
    }
    // Variances are inflated by 4e-12 (FilterCovariance::inflate_for_rounding).
    EXPECT_LT((filter->covariance() - P).norm(), 1e-11 * P.norm());
    for (std::size_t k = 0; k < all.size(); ++k) {
      EXPECT_TRUE(tests[k].passed);
    }
  }
}

// A measurement of the absolute position keeps its covariance in world axes: the errors of position
// and rotation after the correction are those before it, whatever the error coordinates.
TEST_P(BothFilters, FixesKeepTheCovarianceInWorldAxes) {
  testing::Random random(16);
  auto filter = at_random_state(random, 2);
  const FilterState x = filter->state();
  const auto m = position_fix(x, x.p_WS + random.vector<double>(1), random.vector<double>(0.5),
                              anisotropic(random));
  const DenseUpdate update(*filter, std::span(&m, 1));
  // Common errors by those of the filter, at the state before the update.
  Dense T = Dense::Identity(x.errors(), x.errors());
  if (GetParam() == FilterKind::invariant) {
    T.block<3, 3>(3, 3) = x.R_WS.transpose();
    T.block<3, 3>(0, 3) = -skew<double>(x.p_WS);
    T.block<3, 3>(6, 3) = -skew<double>(x.v_WS);
    for (std::size_t i = 0; i < 2; ++i) {
      T.block<3, 3>(ErrorIndex::foot(static_cast<int>(i)), 3) = -skew<double>(x.p_WF[i]);
    }
  }
  const Dense expected = T * update.P * T.transpose();
  ASSERT_TRUE(filter->update(m).ok());
  EXPECT_GT((filter->state().p_WS - x.p_WS).norm(), 0.1);
  // 1e-10 of the prior: definiteness is kept against rounding (FilterCovariance::bound).
  EXPECT_LT((filter->common_covariance() - expected).norm(), 1e-10 * expected.norm());
}

TEST_P(BothFilters, InnovationIsNormalizedByItsCovariance) {
  testing::Random random(17);
  auto filter = at_random_state(random, 2);
  const FilterState x = filter->state();
  const BaseMeasurement all[] = {
      foot_position(x, 1, random.vector<double>(0.5), anisotropic(random)),
      foot_velocity(x, random.vector<double>(1), random.vector<double>(0.5),
                    random.vector<double>(1), anisotropic(random)),
      foot_height(x, 0, 1, 0.3), position_fix(x, {1, 2, 3}, {0.1, 0.2, 0.3}, anisotropic(random)),
      yaw_fix(x, 1, {0.6, 0, 0.8}, 0.1)};
  for (const BaseMeasurement& m : all) {
    const double expected = DenseUpdate(*filter, std::span(&m, 1)).nis;
    EXPECT_NEAR(filter->innovation(m), expected, 1e3 * kEps * expected);
  }
}

// Measurements beyond their gate are left out, and change nothing.
TEST_P(BothFilters, GateLeavesOutliersOut) {
  testing::Random random(18), again(18);
  auto gated = at_random_state(random, 3), without = at_random_state(again, 3);
  const FilterState x = gated->state();
  std::vector<BaseMeasurement> all;
  for (int i = 0; i < 3; ++i) {
    const auto k = static_cast<std::size_t>(i);
    all.push_back(foot_position(x, i, x.R_WS.transpose() * (x.p_WF[k] - x.p_WS) + Vec(0.1, 0, 0.1),
                                anisotropic(random)));
  }
  std::vector<InnovationTest> tests(3);
  const double nis = gated->innovation(all[1]);
  tests[0].gate = gated->innovation(all[0]);  // just passes
  tests[1].gate = std::nextafter(nis, 0);     // just does not
  const UpdateResult result = gated->update(all, tests);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.rows, 6);
  EXPECT_TRUE(tests[0].passed && !tests[1].passed && tests[2].passed);
  EXPECT_EQ(tests[1].nis, nis);
  ASSERT_TRUE(without->update(std::vector{all[0], all[2]}).ok());
  EXPECT_EQ(gated->covariance(), without->covariance());
  EXPECT_EQ(difference(gated->state(), without->state()), 0);

  // None left, a wrong number of tests, no measurements, or too many: nothing changes.
  const Dense P = gated->covariance();
  for (auto& test : tests) test.gate = 0;
  EXPECT_EQ(gated->update(all, tests).status, Status::rejected);
  EXPECT_EQ(gated->update(all, std::span(tests.data(), 2)).status, Status::rejected);
  EXPECT_EQ(gated->update(std::span<const BaseMeasurement>()).status, Status::rejected);
  EXPECT_EQ(gated->update(std::vector(kMaxFeet + 1, all[0])).status, Status::rejected);
  EXPECT_EQ(gated->covariance(), P);
  EXPECT_EQ(difference(gated->state(), without->state()), 0);
}

// Estimate and measurement on both sides of the cut at pi: the correction is the short way.
TEST_P(BothFilters, HeadingFixesNearPiTakeTheShortWay) {
  const double degree = kPi / 180;
  for (const double side : {1.0, -1.0}) {
    for (const double pitch : {0.0, 0.6}) {
      auto filter = make();
      FilterState x;
      x.R_WS = axis_rotation<double>(2, side * 179.9 * degree) * axis_rotation<double>(1, pitch);
      const double prior = 0.02, deviation = 0.01;
      // Only the yaw is uncertain.
      const Vec up = x.R_WS.transpose() * Vec::UnitZ();
      Matrix15 P = Matrix15::Zero();
      P.block<3, 3>(3, 3) = prior * prior * up * up.transpose();
      filter->reset(x, P);
      const auto m = yaw_fix(x, -side * 179.9 * degree, Vec::UnitX(), deviation);
      EXPECT_NEAR(m.residual[0], side * 0.2 * degree, 4 * kEps * kPi);
      // The same angle a few turns on.
      EXPECT_NEAR(yaw_fix(x, (side * 180.1 + 720) * degree, Vec::UnitX(), 1).residual[0],
                  side * 0.2 * degree, 20 * kEps * kPi);
      ASSERT_TRUE(filter->update(m).ok());
      // One-dimensional Kalman filter.
      const double gain = prior * prior / (prior * prior + deviation * deviation);
      const Vec found = filter->state().R_WS.col(0);
      const double yaw = std::atan2(found.y(), found.x());
      EXPECT_NEAR(std::remainder(yaw - side * (179.9 + 0.2 * gain) * degree, 2 * kPi), 0,
                  1e-11 * degree);
      const double variance = up.dot(filter->common_covariance().block<3, 3>(3, 3) * up);
      EXPECT_NEAR(variance, (1 - gain) * prior * prior, 1e-11 * prior * prior);
    }
  }
}

TEST_P(BothFilters, NeesIsNormalizedByTheCovariance) {
  testing::Random random(19);
  auto filter = at_random_state(random, 2);
  FilterVector e = FilterVector::Zero(filter->state().errors());
  for (int i = 0; i < kCoreSize; ++i) e[i] = 0.1 * random.normal();
  const FilterState truth = filter->retracted(e);
  // core_error() is the inverse of retracted().
  EXPECT_LT((filter->core_error(truth) - e.head<15>()).norm(), 100 * kEps);
  const Dense P = filter->covariance().topLeftCorner<15, 15>();
  const double expected = e.head<15>().dot(P.inverse() * e.head<15>());
  EXPECT_NEAR(filter->nees(truth), expected, 1e-9 * expected);
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
  EXPECT_EQ(filter
                ->update(foot_position(filter->state(), 0, Vec::Zero(),
                                       std::numeric_limits<double>::infinity() * Mat::Identity()))
                .status,
            Status::not_finite);
  EXPECT_EQ(
      filter->update(foot_position(filter->state(), 0, Vec::Zero(), -10 * Mat::Identity())).status,
      Status::singular);
  EXPECT_EQ(filter->add_foot(5, Vec::Zero(), nan * Mat::Identity()), Status::not_finite);
}

// At the documented limits of a plausible sample, and beyond.
TEST_P(BothFilters, RejectImplausibleSamples) {
  auto filter = make();
  const auto predict = [&](const Vec& gyro, const Vec& accel, double T) {
    filter->reset({}, Matrix15::Identity());
    const Status status = filter->predict({gyro, accel}, T);
    if (status != Status::ok) {
      EXPECT_EQ(filter->state().p_WS, Vec::Zero());
      EXPECT_EQ(filter->state().R_WS, Mat::Identity());
      EXPECT_EQ(filter->covariance(), FilterMatrix(Matrix15::Identity()));
    }
    return status;
  };
  const Vec zero = Vec::Zero(), x = Vec::UnitX();
  EXPECT_EQ(predict(zero, zero, 0), Status::rejected);
  EXPECT_EQ(predict(zero, zero, 1e-9), Status::ok);
  EXPECT_EQ(predict(zero, zero, 100), Status::ok);
  EXPECT_EQ(predict(zero, zero, 100.1), Status::rejected);
  EXPECT_EQ(predict(1000 * x, zero, 1e-3), Status::ok);
  EXPECT_EQ(predict(1001 * x, zero, 1e-3), Status::rejected);
  EXPECT_EQ(predict(zero, 1e5 * x, 1e-3), Status::ok);
  EXPECT_EQ(predict(zero, 1.001e5 * x, 1e-3), Status::rejected);
  EXPECT_EQ(predict(zero, {0, std::nan(""), 0}, 1e-3), Status::not_finite);
}

// A correction to a state that no robot has is not made.
TEST_P(BothFilters, ImplausibleCorrectionsAreRejected) {
  auto filter = make();
  filter->reset({}, Matrix15::Identity());
  const FilterState& x = filter->state();
  const Dense P = filter->covariance();
  EXPECT_FALSE(filter->update(position_fix(x, {3e9, 0, 0}, Vec::Zero(), Mat::Identity())).ok());
  EXPECT_FALSE(
      filter->update(foot_velocity(x, Vec::Zero(), Vec::Zero(), {3e6, 0, 0}, Mat::Identity()))
          .ok());
  EXPECT_FALSE(
      filter->update(foot_velocity(x, {0, 1e3, 0}, {0, 0, 1}, Vec::Zero(), Mat::Identity())).ok());
  EXPECT_EQ(filter->covariance(), P);
  EXPECT_EQ(filter->state().p_WS, Vec::Zero());
  EXPECT_TRUE(filter->update(position_fix(x, {1e9, 0, 0}, Vec::Zero(), Mat::Identity())).ok());
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
  x = {};
  EXPECT_EQ(filter->try_reset(x, std::nan("") * Matrix15::Identity()), Status::not_finite);
  P = Matrix15::Identity();
  P(0, 1) = P(1, 0) = 1.1;  // a correlation above one
  EXPECT_EQ(filter->try_reset(x, P), Status::rejected);
  // Each part of the state is checked.
  for (const auto part : {&FilterState::p_WS, &FilterState::v_WS, &FilterState::gyro_bias,
                          &FilterState::accel_bias}) {
    x = {};
    (x.*part).y() = std::nan("");
    EXPECT_EQ(filter->try_reset(x, Matrix15::Identity()), Status::not_finite);
  }
  // A covariance of zero is one; feet are dropped.
  x = {};
  EXPECT_EQ(filter->try_reset(x, Matrix15::Zero()), Status::ok);
  EXPECT_EQ(filter->add_foot(0, Vec::Zero(), Mat::Identity()), Status::ok);
  EXPECT_EQ(filter->try_reset(filter->state(), Matrix15::Identity()), Status::ok);
  EXPECT_EQ(filter->state().feet, 0);
  EXPECT_EQ(filter->covariance(), FilterMatrix(Matrix15::Identity()));
}

INSTANTIATE_TEST_SUITE_P(Kinds, BothFilters,
                         ::testing::Values(FilterKind::error_state, FilterKind::invariant),
                         [](const auto& kind) {
                           return kind.param == FilterKind::invariant ? "inekf" : "eskf";
                         });

TEST(FilterKind, ByName) {
  EXPECT_EQ(filter_kind("test", "inekf"), FilterKind::invariant);
  EXPECT_EQ(filter_kind("test", "eskf"), FilterKind::error_state);
  EXPECT_THROW(filter_kind("test", "ukf"), Error);
  EXPECT_EQ(make_filter(FilterKind::invariant, {})->name(), "inekf");
  EXPECT_EQ(make_filter(FilterKind::error_state, {})->name(), "eskf");
}

TEST(BaseFilter, RejectsInvalidOptions) {
  FilterOptions options;
  options.imu.gyro = -1;
  EXPECT_THROW(make_filter(FilterKind::invariant, options), Error);
  options = {};
  options.contact_noise = -1;
  EXPECT_THROW(make_filter(FilterKind::invariant, options), Error);
  options = {};
  options.gravity_W.y() = std::nan("");
  EXPECT_THROW(make_filter(FilterKind::invariant, options), Error);
}

// A step of a bias of variance v at an unknown time: P + v (c c^T + d d^T / 3), c = P_i / P_ii.
TEST(BaseFilter, AStepWidensWhatItHasCaused) {
  for (const FilterKind kind : {FilterKind::invariant, FilterKind::error_state}) {
    const auto filter = make_filter(kind, {});
    filter->reset({}, Matrix15::Identity() * 1e-4);
    filter->add_foot(0, {0.2, 0.1, -0.5}, 1e-6 * Matrix3<double>::Identity());
    for (int k = 0; k < 100; ++k) {
      filter->predict({{0.1, 0.2, 0.3}, {0.5, -0.4, 9.7}}, 0.01);
    }
    const MatrixX<double> before = filter->covariance();
    constexpr int kIndex = ErrorIndex::gyro_bias + 2;
    const double variance = 4e-6;
    const VectorX<double> c = before.col(kIndex) / before(kIndex, kIndex);
    VectorX<double> d = c;
    d[kIndex] = 0;
    EXPECT_GT(d.norm(), 0.5);  // a second of rotation
    ASSERT_EQ(filter->widen_step(kIndex, variance), Status::ok);
    const MatrixX<double> expected =
        before + variance * (c * c.transpose() + d * d.transpose() / 3);
    EXPECT_LT((filter->covariance() - expected).norm(), 1e-14 * expected.norm());
    EXPECT_EQ(filter->widen_step(kIndex, -1), Status::rejected);
    EXPECT_EQ(filter->widen_step(kIndex, std::nan("")), Status::not_finite);
  }
}

}  // namespace
}  // namespace limb
