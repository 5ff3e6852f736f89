// The covariance kernels against dense matrices, for every number of feet: each has its own loops.
#include "limb/estimate/filter/filter_covariance.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>

#include "limb/estimate/filter/base_filter.hpp"
#include "limb/math/testing/random.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;
using Dense = MatrixX<double>;
constexpr double kEps = std::numeric_limits<double>::epsilon();

struct Case {
  FilterKind kind;
  int feet;
};

class EveryNumberOfFeet : public ::testing::TestWithParam<Case> {
 protected:
  std::unique_ptr<BaseFilter> at_random_state(testing::Random& random) const {
    FilterOptions options;
    options.imu = {0.1, 0.3, 0.05, 0.1};
    options.contact_noise = 0.2;
    auto filter = make_filter(GetParam().kind, options);
    FilterState x;
    x.p_WS = random.vector<double>(3);
    x.R_WS = random.rotation<double>();
    x.v_WS = random.vector<double>(2);
    x.gyro_bias = random.vector<double>(0.1);
    x.accel_bias = random.vector<double>(0.3);
    const Matrix15 root =
        0.1 * Matrix15::NullaryExpr([&](Eigen::Index) { return random.normal(); });
    filter->reset(x, root * root.transpose());
    for (int i = 0; i < GetParam().feet; ++i) {
      const Vec v = random.vector<double>(1);
      EXPECT_EQ(filter->add_foot(i, v / 2, 1e-2 * (v * v.transpose() + Mat::Identity())),
                Status::ok);
    }
    return filter;
  }
};

/// Errors of the invariant filter from common ones: e_R = R d_R, e_x = d_x + x x e_R.
Dense group_by_common(const FilterState& x) {
  Dense A = Dense::Identity(x.errors(), x.errors());
  const auto arm = [&](int index, const Vec& p) {
    A.block<3, 3>(index, ErrorIndex::rotation) = skew<double>(p) * x.R_WS;
  };
  A.block<3, 3>(ErrorIndex::rotation, ErrorIndex::rotation) = x.R_WS;
  arm(ErrorIndex::position, x.p_WS);
  arm(ErrorIndex::velocity, x.v_WS);
  for (int i = 0; i < x.feet; ++i) arm(ErrorIndex::foot(i), x.p_WF[static_cast<std::size_t>(i)]);
  return A;
}

TEST_P(EveryNumberOfFeet, PredictionMatchesDenseMatrices) {
  testing::Random random(31);
  auto filter = at_random_state(random);
  const FilterState x = filter->state();
  const ImuSample sample{random.vector<double>(2), random.vector<double>(15)};
  const double T = 0.01;
  ImuStep step;
  integrate_imu({sample.gyro - x.gyro_bias, sample.accel - x.accel_bias}, T, filter->options().imu,
                step);
  const Dense F = filter->transition(step), P = filter->covariance();
  ASSERT_EQ(filter->predict(sample, T), Status::ok);
  // Noise in common errors: in world axes, of the rotation in axes of S1; contact noise of the
  // feet.
  const int n = x.errors();
  Dense Q = Dense::Zero(n, n);
  Matrix15 turn = Matrix15::Identity();
  turn.block<3, 3>(0, 0) = turn.block<3, 3>(6, 6) = x.R_WS;
  turn.block<3, 3>(3, 3) = step.R.transpose();
  Q.topLeftCorner<15, 15>() = turn * step.noise * turn.transpose();
  if (GetParam().kind == FilterKind::invariant) {
    const Dense A = group_by_common(filter->state());
    Q = A * Q * A.transpose();
  }
  Q.diagonal().tail(n - kCoreSize).array() += 0.2 * 0.2 * T;
  const Dense expected = F * P * F.transpose() + Q, found = filter->covariance();
  // Two sums of at most 39 products.
  std::printf("pred %.3g eps\n", (found - expected).norm() / expected.norm() / kEps);
  EXPECT_LT((found - expected).norm(), 100 * kEps * expected.norm());
  EXPECT_EQ(found, Dense(found.transpose()));
}

TEST_P(EveryNumberOfFeet, UpdateMatchesDenseMatrices) {
  testing::Random random(32);
  auto filter = at_random_state(random);
  const FilterState x = filter->state();
  // Zero residuals, so that the state does not change; one measurement has a single row, which
  // shifts the rows after it.
  std::vector<BaseMeasurement> all;
  for (int i = 0; i < x.feet; ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (i == 1) {
      all.push_back(foot_height(x, i, x.p_WF[k].z(), 0.3));
      continue;
    }
    const Vec v = random.vector<double>(0.1);
    all.push_back(foot_position(x, i, x.R_WS.transpose() * (x.p_WF[k] - x.p_WS),
                                v * v.transpose() + 1e-3 * Mat::Identity()));
  }
  if (all.empty())
    all.push_back(
        foot_velocity(x, x.gyro_bias, Vec::Zero(), -x.R_WS.transpose() * x.v_WS, Mat::Identity()));
  const int n = x.errors();
  Dense H(0, n), N = Dense::Zero(24, 24);
  for (const BaseMeasurement& m : all) {
    const Eigen::Index at = H.rows();
    H.conservativeResize(at + m.rows, n);
    H.bottomRows(m.rows) = filter->jacobian(m);
    N.block(at, at, m.rows, m.rows) = m.noise.topLeftCorner(m.rows, m.rows);
  }
  N.conservativeResize(H.rows(), H.rows());
  const Dense P = filter->covariance(), S = H * P * H.transpose() + N;
  const Dense K = S.llt().solve(H * P).transpose(), A = Dense::Identity(n, n) - K * H;
  Dense expected = A * P * A.transpose() + K * N * K.transpose();
  expected.diagonal() *= 1 + 4e-12;  // FilterCovariance::inflate_for_rounding
  const UpdateResult result = filter->update(all);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result.rows, H.rows());
  const Dense found = filter->covariance();
  // Both factorize S, of condition up to 1e4 here.
  std::printf("upd %.3g eps\n", (found - expected).norm() / expected.norm() / kEps);
  EXPECT_LT((found - expected).norm(), 2e3 * kEps * expected.norm());
  EXPECT_EQ(found, Dense(found.transpose()));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const FilterKind kind : {FilterKind::error_state, FilterKind::invariant}) {
    for (int feet = 0; feet <= kMaxFeet; ++feet) all.push_back({kind, feet});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Cases, EveryNumberOfFeet, ::testing::ValuesIn(cases()), [](const auto& c) {
  return std::string(c.param.kind == FilterKind::invariant ? "inekf" : "eskf") +
         std::to_string(c.param.feet);
});

TEST(FilterCovariance, RemovedErrorsLeaveNoTrace) {
  testing::Random random(33);
  FilterCovariance P;
  const Matrix15 root = Matrix15::NullaryExpr([&](Eigen::Index) { return random.normal(); });
  P.set_core(root * root.transpose());
  const FilterCovariance::Gain gain{kCoreSize, random.rotation<double>()};
  P.append();
  P.transform(ErrorIndex::position, std::span(&gain, 1));
  const Dense before = P.dense();
  EXPECT_NEAR(
      (before.block<3, 3>(15, 15) - gain.J * before.block<3, 3>(0, 0) * gain.J.transpose()).norm(),
      0, 100 * kEps);
  P.remove(kCoreSize);
  P.append();
  EXPECT_EQ(P.dense().rightCols<3>().norm(), 0);
  EXPECT_EQ(P.dense().topLeftCorner(15, 15), before.topLeftCorner(15, 15));
}

TEST(FilterCovariance, BoundKeepsCorrelations) {
  FilterCovariance P;
  Matrix15 given = Matrix15::Identity();
  given(0, 0) = 400;
  given(0, 1) = given(1, 0) = 10;
  P.set_core(given);
  P.bound(100);
  EXPECT_DOUBLE_EQ(P(0, 0), 100);
  EXPECT_DOUBLE_EQ(P(0, 1), 5);
  EXPECT_DOUBLE_EQ(P(1, 1), 1);
}

TEST(FilterCovariance, BoundRestoresDefiniteness) {
  // Two errors with a correlation above one by rounding, as beside a variance of 1e6.
  FilterCovariance P;
  Matrix15 given = 0.09 * Matrix15::Identity();
  given(3, 4) = given(4, 3) = 0.09 + 1e-7;
  P.set_core(given);
  P.append();
  P.add_variance(kCoreSize, 1e6);
  EXPECT_TRUE(P.is_semidefinite());
  P.remove(kCoreSize);
  EXPECT_FALSE(P.is_semidefinite());
  P.bound(1e6);
  EXPECT_TRUE(P.is_semidefinite());
  // Variances grow by the missing amount, up to the factor between two attempts.
  EXPECT_LT((P.dense() - given).norm(), 100 * 1e-7);
  EXPECT_EQ(P(3, 4), given(3, 4));

  // A matrix that is far from a covariance keeps only its variances.
  given(3, 4) = given(4, 3) = 10;
  P.set_core(given);
  P.bound(1e6);
  EXPECT_TRUE(P.is_semidefinite());
  EXPECT_EQ(P(3, 4), 0);
  EXPECT_NEAR(P(3, 3), 0.09, 0.01 * 0.09);
  given(5, 6) = given(6, 5) = std::nan("");
  P.set_core(given);
  P.bound(1e6);
  EXPECT_TRUE(P.is_semidefinite());
}

}  // namespace
}  // namespace limb
