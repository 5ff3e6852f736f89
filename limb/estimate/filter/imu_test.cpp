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
    // Second order: Richardson extrapolation leaves an error of fourth order, (0.0005 rate)^4 /
    // 100, below the rounding of a hundred products and sums.
    EXPECT_LT((step.R - R[1]).norm(), 400 * kEps);
    EXPECT_LT((step.dv - (4 * v[1] - v[0]) / 3).norm(), 200 * kEps);
    EXPECT_LT((step.dp - (4 * p[1] - p[0]) / 3).norm(), 100 * kEps);
  }
}

// With X = [R v p; 0 1 t; 0 0 1] a constant sample gives dX/dt = X A, so that X(T) = exp(A T).
TEST(ImuStep, IsAMatrixExponential) {
  testing::Random random(11);
  for (const double T : {0.001, 0.0025, 0.01, 0.1}) {
    for (const double rotation : {1e-3 * kMaxRotation, 0.5 * kMaxRotation, kMaxRotation}) {
      const ImuSample sample{random.direction<double>() * rotation / T, random.vector<double>(20)};
      ImuStep step;
      integrate_imu(sample, T, {}, step);
      // In units of T and of the force, so that all entries are of order one.
      const double force = sample.accel.norm();
      Eigen::Matrix<double, 5, 5> A = Eigen::Matrix<double, 5, 5>::Zero();
      A.topLeftCorner<3, 3>() = skew<double>(sample.gyro * T);
      A.block<3, 1>(0, 3) = sample.accel / force;
      A(3, 4) = 1;
      const Eigen::Matrix<double, 5, 5> X = A.exp();
      // Rounding of some products, the least of it that of the matrix exponential.
      EXPECT_EQ(step.T, T);
      EXPECT_LT((step.R - X.topLeftCorner<3, 3>()).norm(), 10 * kEps);
      EXPECT_LT((step.dv / (force * T) - X.block<3, 1>(0, 3)).norm(), 10 * kEps);
      EXPECT_LT((step.dp / (force * T * T) - X.block<3, 1>(0, 4)).norm(), 10 * kEps);
    }
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

// Transition and noise by the exponential of a matrix of twice the size. [Van Loan 1978] All in
// units of T and of the force, so that the entries of the exponential are of order one, and its
// rounding a few eps.
class VanLoan : public ::testing::TestWithParam<double> {
 protected:
  static constexpr double kForce = 20;
  using Vector15 = Eigen::Matrix<double, 15, 1>;
  /// Units of position, rotation, velocity and biases.
  static Vector15 units(double T) {
    Vector15 unit;
    unit << Vec::Constant(kForce * T * T), Vec::Ones(), Vec::Constant(kForce * T),
        Vec::Constant(1 / T), Vec::Constant(kForce);
    return unit;
  }
  /// White noise on rotation, velocity, gyroscope bias and accelerometer bias, in those units.
  static ImuNoise noise(double T, const Eigen::Vector4d& density) {
    const double root = std::sqrt(T);
    return {density[0] / root, density[1] * kForce * root, density[2] / (T * root),
            density[3] * kForce / root};
  }
  ImuSample sample(testing::Random& random, double T) const {
    return {random.direction<double>() * (GetParam() / T), random.direction<double>() * kForce};
  }
  /// Transition F and noise Q in axes of S0.
  static void expected(const ImuSample& sample, double T, const Eigen::Vector4d& density,
                       const Mat& R, Matrix15& F, Matrix15& Q) {
    const Matrix15 A = error_rates({sample.gyro * T, sample.accel / kForce});
    Eigen::Matrix<double, 30, 30> big = Eigen::Matrix<double, 30, 30>::Zero();
    big.topLeftCorner<15, 15>() = -A;
    for (int i = 0; i < 4; ++i) {
      big.block<3, 3>(3 + 3 * i, 18 + 3 * i) = density[i] * density[i] * Mat::Identity();
    }
    big.bottomRightCorner<15, 15>() = A.transpose();
    const Eigen::Matrix<double, 30, 30> e = big.exp();
    F = e.bottomRightCorner<15, 15>().transpose();
    Q = F * e.topRightCorner<15, 15>();
    // From axes S1, where Van Loan's errors end, to axes S0.
    Matrix15 rotate = Matrix15::Identity();
    for (int i : {0, 3, 6}) rotate.block<3, 3>(i, i) = R;
    F = rotate * F;
    Q = rotate * Q * rotate.transpose();
  }
};

TEST_P(VanLoan, GivesTheDerivatives) {
  testing::Random random(2);
  // Five terms of a series: the sixth is below (2^6 - 1) / 6! / 7 turn^5 for the velocity, an
  // eighth of that for the position. The rest are closed forms.
  const double rounding = 10 * kEps, sixth = 63.0 / 720 / 7 * std::pow(GetParam(), 5);
  for (const double T : {0.001, 0.0025, 0.01, 0.1}) {
    const ImuSample sample = this->sample(random, T);
    ImuStep step;
    integrate_imu(sample, T, {}, step);
    Matrix15 F, Q;
    expected(sample, T, {1, 1, 1, 1}, step.R, F, Q);
    const Vector15 unit = units(T);
    const auto same = [&](const Mat& a, int i, int k, double tolerance, const char* what) {
      const double error = (a * unit[k] / unit[i] - F.block<3, 3>(i, k)).norm();
      EXPECT_LT(error, tolerance) << what << " at " << T;
    };
    same(step.R_by_gyro, 3, 9, rounding, "R by gyro");
    same(step.dv_by_gyro, 6, 9, sixth + rounding, "dv by gyro");
    same(step.dp_by_gyro, 0, 9, sixth / 8 + rounding, "dp by gyro");
    same(step.dv_by_accel, 6, 12, rounding, "dv by accel");
    same(step.dp_by_accel, 0, 12, rounding, "dp by accel");
  }
}

TEST_P(VanLoan, GivesTheNoise) {
  testing::Random random(3);
  // Gauss quadrature with three nodes over the unit interval has the error f'''''' / 2016000. The
  // responses to each of the four noises start with the powers m and n of time, over m! n!; the
  // rotation continues their product as a series, and the sixth derivative keeps the sixth power.
  // Four: matrices instead of numbers, and two rotations. Accelerometer noise has a closed form.
  constexpr int kNone = 9;
  constexpr int kPower[4][5] = {{2, 0, 1, kNone, kNone},
                                {1, kNone, 0, kNone, kNone},
                                {3, 1, 2, 0, kNone},
                                {2, kNone, 1, kNone, 0}};
  constexpr double kFactorial[] = {1, 1, 2, 6, 24, 120, 720};
  for (int source = 0; source < 4; ++source) {
    for (const double T : {0.001, 0.01, 0.1}) {
      const ImuSample sample = this->sample(random, T);
      const Eigen::Vector4d density = Eigen::Vector4d::Unit(source);
      ImuStep step;
      integrate_imu(sample, T, noise(T, density), step);
      Matrix15 F, Q;
      expected(sample, T, density, step.R, F, Q);
      const Vector15 unit = units(T);
      for (int i = 0; i < 5; ++i) {
        for (int k = 0; k < 5; ++k) {
          const Mat a = step.noise.block<3, 3>(3 * i, 3 * k) / (unit[3 * i] * unit[3 * k]);
          const Mat b = Q.block<3, 3>(3 * i, 3 * k);
          const int m = kPower[source][i], n = kPower[source][k];
          if (m == kNone || n == kNone) {
            EXPECT_EQ(a.norm(), 0);
            continue;
          }
          const int left = std::max(0, 6 - m - n);
          const double sixth = kFactorial[6] / (kFactorial[m] * kFactorial[n] * kFactorial[left]) *
                               std::pow(GetParam(), left);
          const double tolerance = 10 * kEps + (source == 1 ? 0 : 4 * sixth / 2016000);
          EXPECT_LT((a - b).norm(), tolerance) << "source " << source << ": " << i << ", " << k;
        }
      }
      EXPECT_EQ(step.noise, Matrix15(step.noise.transpose()));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rotations, VanLoan, ::testing::Values(0, 0.01, 0.04, kMaxRotation),
                         [](const auto& rotation) {
                           return std::to_string(std::lround(1000 * rotation.param)) + "mrad";
                         });

TEST(ImuStep, LongStepsAreSplit) {
  EXPECT_EQ(imu_substeps({{0, 0, 1}, {0, 0, 9.81}}, 0.01), 1);
  EXPECT_EQ(imu_substeps({{0, 0, 10}, {0, 0, 9.81}}, 0.095), 10);
  EXPECT_EQ(imu_substeps({{0, 0, 0}, {0, 0, 9.81}}, 0.95), 10);
  // The larger of both numbers counts, and a tiny rotation still makes a step.
  EXPECT_EQ(imu_substeps({{0, 0, 0.5}, {0, 0, 9.81}}, 0.95), 10);
  EXPECT_EQ(imu_substeps({{0.6, 0, 0.8}, {0, 0, 9.81}}, 0.95), 10);
  EXPECT_EQ(imu_substeps({{1.2, 0, 1.6}, {0, 0, 9.81}}, 0.95), 19);
  EXPECT_EQ(imu_substeps({{0, 0, 1e-9}, {0, 0, 9.81}}, 1e-6), 1);
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
  const double infinite = std::numeric_limits<double>::infinity();
  for (const double wrong : {-1.0, infinite, std::nan("")}) {
    EXPECT_THROW(check_noise("test", {.gyro = wrong}), Error);
    EXPECT_THROW(check_noise("test", {.accel = wrong}), Error);
    EXPECT_THROW(check_noise("test", {.gyro_walk = wrong}), Error);
    EXPECT_THROW(check_noise("test", {.accel_walk = wrong}), Error);
  }
}

}  // namespace
}  // namespace limb
