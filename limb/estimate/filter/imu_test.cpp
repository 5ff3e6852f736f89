#include "limb/estimate/filter/imu.hpp"

#include <gtest/gtest.h>

#include <unsupported/Eigen/MatrixFunctions>

#include "limb/math/testing/random.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;
constexpr double kEps = std::numeric_limits<double>::epsilon();

/// The same step by many small ones with constant acceleration: an integration without closed
/// forms.
void by_small_steps(const ImuSample& sample, double T, int n, Mat& R, Vec& v, Vec& p) {
  const double h = T / n;
  R.setIdentity();
  v.setZero();
  p.setZero();
  for (int i = 0; i < n; ++i) {
    // The force at the midpoint of the small step: second order.
    const Vec a = R * so3::exp<double>(sample.gyro * (h / 2)) * sample.accel;
    p += v * h + a * (h * h / 2);
    v += a * h;
    R = R * so3::exp<double>(sample.gyro * h);
  }
}

TEST(ImuStep, IsTheLimitOfSmallSteps) {
  testing::Random random(1);
  for (int trial = 0; trial < 10; ++trial) {
    const ImuSample sample{random.vector<double>(1), random.vector<double>(20)};
    const double T = 0.05;
    ImuStep step;
    integrate_imu(sample, T, {}, step);
    Mat R[2];
    Vec v[2], p[2];
    for (int k : {0, 1}) by_small_steps(sample, T, 50 << k, R[k], v[k], p[k]);
    // Second order: Richardson extrapolation leaves an error of fourth order, here below 1e-10.
    EXPECT_LT((step.R - R[1]).norm(), 1000 * kEps);
    EXPECT_LT((step.dv - (4 * v[1] - v[0]) / 3).norm(), 1e-10);
    EXPECT_LT((step.dp - (4 * p[1] - p[0]) / 3).norm(), 1e-11);
  }
}

/// The constant matrix A of the error dynamics (p, rotation, v, gyroscope bias, accelerometer
/// bias), all in axes of the sensor.
Matrix15 error_rates(const ImuSample& sample) {
  Matrix15 A = Matrix15::Zero();
  const Mat W = -skew<double>(sample.gyro);
  for (int i : {0, 3, 6}) A.block<3, 3>(i, i) = W;
  A.block<3, 3>(0, 6) = Mat::Identity();
  A.block<3, 3>(3, 9) = -Mat::Identity();
  A.block<3, 3>(6, 3) = -skew<double>(sample.accel);
  A.block<3, 3>(6, 12) = -Mat::Identity();
  return A;
}

// Transition and noise by the exponential of a matrix of twice the size. [Van Loan 1978]
TEST(ImuStep, DerivativesAndNoiseMatchVanLoan) {
  testing::Random random(2);
  for (const double T : {0.001, 0.0025, 0.01, 0.02}) {
    const ImuSample sample{random.direction<double>() * std::min(4.0, kMaxRotation / T),
                           random.vector<double>(20)};
    const ImuNoise noise{0.01, 0.1, 0.02, 0.3};
    const Matrix15 A = error_rates(sample);
    Eigen::Matrix<double, 15, 1> density;
    density << Vec::Zero(), Vec::Constant(noise.gyro), Vec::Constant(noise.accel),
        Vec::Constant(noise.gyro_walk), Vec::Constant(noise.accel_walk);
    Eigen::Matrix<double, 30, 30> big = Eigen::Matrix<double, 30, 30>::Zero();
    big.topLeftCorner<15, 15>() = -A;
    big.topRightCorner<15, 15>() = density.cwiseAbs2().asDiagonal();
    big.bottomRightCorner<15, 15>() = A.transpose();
    big *= T;
    const Eigen::Matrix<double, 30, 30> e = big.exp();
    const Matrix15 F = e.bottomRightCorner<15, 15>().transpose();
    const Matrix15 Q = F * e.topRightCorner<15, 15>();

    ImuStep step;
    integrate_imu(sample, T, noise, step);
    // From axes S1, where Van Loan's errors end, to axes S0.
    Matrix15 turn = Matrix15::Identity();
    for (int i : {0, 3, 6}) turn.block<3, 3>(i, i) = step.R;
    const Matrix15 F0 = turn * F, Q0 = turn * Q * turn.transpose();
    // Series and Gauss quadrature leave the fifth power of the rotation, divided by factorials.
    const double tolerance = 1e-11 + 0.01 * std::pow(sample.gyro.norm() * T, 5);
    const auto same = [&](const Mat& a, const Mat& b, const char* what) {
      EXPECT_LT((a - b).norm(), tolerance * b.norm()) << what << " at " << T;
    };
    same(step.R_by_gyro, F0.block<3, 3>(3, 9), "R by gyro");
    same(step.dv_by_gyro, F0.block<3, 3>(6, 9), "dv by gyro");
    same(step.dp_by_gyro, F0.block<3, 3>(0, 9), "dp by gyro");
    same(step.dv_by_accel, F0.block<3, 3>(6, 12), "dv by accel");
    same(step.dp_by_accel, F0.block<3, 3>(0, 12), "dp by accel");
    for (int i = 0; i < 15; i += 3) {
      for (int k = 0; k < 15; k += 3) {
        const Mat a = step.noise.block<3, 3>(i, k), b = Q0.block<3, 3>(i, k);
        if (b.norm() == 0) {
          EXPECT_EQ(a.norm(), 0);
          continue;
        }
        // Rounding of the matrix exponential is relative to the largest entry of row and column.
        const double scale = std::sqrt(Q0.block<3, 3>(i, i).norm() * Q0.block<3, 3>(k, k).norm());
        EXPECT_LT((a - b).norm(), tolerance * scale) << i << " " << k << " at " << T;
      }
    }
  }
}

TEST(ImuStep, LongStepsAreSplit) {
  EXPECT_EQ(imu_substeps({{0, 0, 1}, {0, 0, 9.81}}, 0.01), 1);
  EXPECT_EQ(imu_substeps({{0, 0, 10}, {0, 0, 9.81}}, 0.095), 10);
  EXPECT_EQ(imu_substeps({{0, 0, 0}, {0, 0, 9.81}}, 0.95), 10);
  EXPECT_EQ(imu_substeps({{0, 0, 1e300}, {0, 0, 9.81}}, 1), 10000);
}

TEST(ImuNoise, MustBeFiniteAndNotNegative) {
  EXPECT_NO_THROW(check_noise("test", {}));
  try {
    check_noise("test", {.accel = -1});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "test: imu.accel is -1, expected >= 0 and finite");
  }
}

}  // namespace
}  // namespace limb
