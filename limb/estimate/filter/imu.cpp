#include "limb/estimate/filter/imu.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "limb/base/check.hpp"
#include "limb/estimate/filter/covariance_kernels.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;

/// R = exp([w] x) and its first and second integral over x. For rotations up to kMaxRotation, four
/// terms of each series have an error of 1e-14.
struct RotationIntegrals {
  Mat R, first, second;
  RotationIntegrals(const Vec& w, double x) {
    const Vec rotation = w * x;
    const double y = rotation.squaredNorm();
    const double c = 1.0 / 6 - y * (1.0 / 120 - y * (1.0 / 5040 - y / 362880));
    const double b = 0.5 - y * (1.0 / 24 - y * (1.0 / 720 - y / 40320));
    const double d = 1.0 / 24 - y * (1.0 / 720 - y * (1.0 / 40320 - y / 3628800));
    R = so3::quadratic<double>(1 - y * b, 1 - y * c, b, rotation);
    first = x * so3::quadratic<double>(1 - y * c, b, c, rotation);
    second = x * x * so3::quadratic<double>(0.5 - d * y, c, d, rotation);
  }
};

/// Response of velocity and position to a gyroscope bias: C(x) = integral of [R(s) f] (integral of
/// R up to s), and its integral D, as series in the time x, evaluated at several times.
class BiasSeries {
 public:
  BiasSeries(const Vec& w, const Vec& f) {
    // [R(s) f] = sum of s^k [f_k],  integral of R = sum of s^(k+1) W_k
    std::array<Vec, kTerms> f_k;
    std::array<Mat, kTerms> W_k;
    f_k[0] = f;
    W_k[0] = Mat::Identity();
    for (std::size_t k = 1; k < kTerms; ++k) {
      f_k[k] = w.cross(f_k[k - 1]) / static_cast<double>(k);
      for (int j = 0; j < 3; ++j) {
        W_k[k].col(j) = w.cross(W_k[k - 1].col(j)) / static_cast<double>(k + 1);
      }
    }
    for (std::size_t n = 0; n < kTerms; ++n) {
      terms_[n].setZero();
      for (std::size_t k = 0; k <= n; ++k) {
        for (int j = 0; j < 3; ++j) terms_[n].col(j) += f_k[k].cross(W_k[n - k].col(j));
      }
    }
  }
  void at(double x, Mat& C, Mat& D) const {
    C.setZero();
    D.setZero();
    double power = x * x;
    for (std::size_t n = 0; n < kTerms; ++n) {
      const double m = static_cast<double>(n);
      C += power / (m + 2) * terms_[n];
      power *= x;
      D += power / ((m + 2) * (m + 3)) * terms_[n];
    }
  }

 private:
  // The first neglected term is below (|w| x)^5 / 5! of the first one: 1e-7 of it at the largest
  // rotation, 1e-10 at 400 Hz and 10 rad/s.
  static constexpr std::size_t kTerms = 5;
  std::array<Mat, kTerms> terms_;
};

constexpr int P = 0, R = 3, V = 6, BG = 9, BA = 12;

/// Responses of position, rotation and velocity to unit noises, a column each.
class NoiseResponses {
 public:
  /// Appends three noises of this standard deviation.
  void append(double deviation, const Mat& position, const Mat& rotation, const Mat& velocity) {
    for (int k = 0; k < 3; ++k, ++count_) {
      double* x = columns_.column(count_);
      for (int i = 0; i < 3; ++i) {
        x[P + i] = deviation * position(i, k);
        x[R + i] = deviation * rotation(i, k);
        x[V + i] = deviation * velocity(i, k);
      }
    }
  }
  /// Adds the covariance of all noises to Q.
  void add_to(Matrix15& Q) const {
    kernel::add_outer_product_9(Q.data(), columns_.numbers, count_);
  }

 private:
  kernel::Padded<27> columns_;
  int count_ = 0;
};

}  // namespace

void check_noise(const char* call, const ImuNoise& noise) {
  check_not_negative(call, "imu.gyro", noise.gyro);
  check_not_negative(call, "imu.accel", noise.accel);
  check_not_negative(call, "imu.gyro_walk", noise.gyro_walk);
  check_not_negative(call, "imu.accel_walk", noise.accel_walk);
}

int imu_substeps(const ImuSample& sample, double T) {
  constexpr double kMaxSubsteps = 10000;
  const double substeps = std::max(sample.gyro.norm() * T / kMaxRotation, T / kMaxStep);
  return substeps < kMaxSubsteps ? std::max(1, static_cast<int>(std::ceil(substeps)))
                                 : static_cast<int>(kMaxSubsteps);
}

void integrate_imu(const ImuSample& sample, double T, const ImuNoise& noise, ImuStep& step) {
  const Vec &w = sample.gyro, &f = sample.accel;
  const RotationIntegrals whole(w, T);
  const BiasSeries series(w, f);
  step.T = T;
  step.R = whole.R;
  step.dv = whole.first * f;
  step.dp = whole.second * f;
  step.R_by_gyro = -whole.first;
  series.at(T, step.dv_by_gyro, step.dp_by_gyro);
  step.dv_by_accel = -whole.first;
  step.dp_by_accel = -whole.second;

  // Effect at T of noise at a time s. Isotropic white noise of a sensor is invariant under
  // rotation; the remaining responses are below. For a sensor that does not rotate, three-point
  // Gauss quadrature is exact up to the fifth power of time: for all but the variance of the
  // position by the gyroscope bias, which is 0.25 % too small.
  const double a2 = noise.accel * noise.accel;
  const double bg2 = noise.gyro_walk * noise.gyro_walk, ba2 = noise.accel_walk * noise.accel_walk;
  Matrix15& Q = step.noise;
  Q.setZero();
  Q.block<3, 3>(P, P).diagonal().setConstant(a2 * T * T * T / 3);
  Q.block<3, 3>(P, V).diagonal().setConstant(a2 * T * T / 2);
  Q.block<3, 3>(V, V).diagonal().setConstant(a2 * T);
  Q.block<3, 3>(BG, BG).diagonal().setConstant(bg2 * T);
  Q.block<3, 3>(BA, BA).diagonal().setConstant(ba2 * T);
  constexpr double kNode = 0.77459666924148337704;  // sqrt(3/5)
  constexpr std::array<double, 3> kNodes = {-kNode, 0, kNode};
  constexpr std::array<double, 3> kWeights = {5.0 / 18, 8.0 / 18, 5.0 / 18};
  const std::array<RotationIntegrals, 3> integrals = {
      RotationIntegrals(w, T * (1 + kNodes[0]) / 2), RotationIntegrals(w, T * (1 + kNodes[1]) / 2),
      RotationIntegrals(w, T * (1 + kNodes[2]) / 2)};
  NoiseResponses responses;
  for (std::size_t i = 0; i < 3; ++i) {
    const double x = T * (1 - kNodes[i]) / 2, weight = T * kWeights[i];
    // From 0 to s, and from s to T: the nodes are symmetric.
    const RotationIntegrals &before = integrals[i], &after = integrals[2 - i];
    const Mat first = before.R * after.first, second = before.R * after.second;
    // A rotation error at s changes the later velocity and position.
    responses.append(std::sqrt(weight) * noise.gyro, -skew<double>(second * f), Mat::Identity(),
                     -skew<double>(first * f));
    // A bias step at s.
    Mat C, D;
    series.at(x, C, D);
    C = before.R * C;
    D = before.R * D;
    responses.append(std::sqrt(weight) * noise.gyro_walk, D, -first, C);
    responses.append(std::sqrt(weight) * noise.accel_walk, -second, Mat::Zero(), -first);
    Q.block<3, 3>(R, BG) -= bg2 * weight * first;
    Q.block<3, 3>(V, BG) += bg2 * weight * C;
    Q.block<3, 3>(P, BG) += bg2 * weight * D;
    Q.block<3, 3>(V, BA) -= ba2 * weight * first;
    Q.block<3, 3>(P, BA) -= ba2 * weight * second;
  }
  responses.add_to(Q);
  for (int c = 0; c < 15; ++c) {
    for (int r = c + 1; r < 15; ++r) Q(r, c) = Q(c, r);
  }
}

}  // namespace limb
