#pragma once

#include <array>
#include <cmath>
#include <type_traits>

#include "limb/estimate/filter/covariance_kernels.hpp"
#include "limb/estimate/filter/imu.hpp"

/// The integration of imu.hpp for any scalar.
namespace limb {
namespace imu_detail {

/// R = exp([w] x) and its first and second integral over x. For rotations up to kMaxRotation, four
/// terms of each series have an error of 1e-14.
template <typename S>
struct RotationIntegrals {
  Matrix3<S> R, first, second;
  RotationIntegrals(const Vector3<S>& w, const S& x) {
    const Vector3<S> rotation = w * x;
    const S y = rotation.squaredNorm();
    const auto series = [&y](double a, double b, double c, double d) {
      return S(a) - y * (S(b) - y * (S(c) - y / S(d)));
    };
    const S c = series(1.0 / 6, 1.0 / 120, 1.0 / 5040, 362880);
    const S b = series(0.5, 1.0 / 24, 1.0 / 720, 40320);
    const S d = series(1.0 / 24, 1.0 / 720, 1.0 / 40320, 3628800);
    R = so3::quadratic<S>(S(1) - y * b, S(1) - y * c, b, rotation);
    first = so3::quadratic<S>(S(1) - y * c, b, c, rotation) * x;
    second = so3::quadratic<S>(S(0.5) - d * y, c, d, rotation) * (x * x);
  }
};

/// Response of velocity and position to a gyroscope bias: C(x) = integral of [R(s) f] (integral of
/// R up to s), and its integral D, as series in the time x, evaluated at several times.
template <typename S>
class BiasSeries {
  using Vec = Vector3<S>;
  using Mat = Matrix3<S>;

 public:
  BiasSeries(const Vec& w, const Vec& f) {
    // [R(s) f] = sum of s^k [f_k],  integral of R = sum of s^(k+1) W_k
    std::array<Vec, kTerms> f_k;
    std::array<Mat, kTerms> W_k;
    f_k[0] = f;
    W_k[0] = Mat::Identity();
    for (std::size_t k = 1; k < kTerms; ++k) {
      f_k[k] = w.cross(f_k[k - 1]) / S(static_cast<double>(k));
      for (int j = 0; j < 3; ++j) {
        W_k[k].col(j) = w.cross(W_k[k - 1].col(j)) / S(static_cast<double>(k + 1));
      }
    }
    for (std::size_t n = 0; n < kTerms; ++n) {
      terms_[n].setZero();
      for (std::size_t k = 0; k <= n; ++k) {
        for (int j = 0; j < 3; ++j) terms_[n].col(j) += f_k[k].cross(W_k[n - k].col(j));
      }
    }
  }
  void at(const S& x, Mat& C, Mat& D) const {
    C.setZero();
    D.setZero();
    S power = x * x;
    for (std::size_t n = 0; n < kTerms; ++n) {
      const double m = static_cast<double>(n);
      C += terms_[n] * (power / S(m + 2));
      power *= x;
      D += terms_[n] * (power / S((m + 2) * (m + 3)));
    }
  }

 private:
  // The first neglected term is below (|w| x)^5 / 5! of the first one: 1e-7 of it at the largest
  // rotation, 1e-10 at 400 Hz and 10 rad/s.
  static constexpr std::size_t kTerms = 5;
  std::array<Mat, kTerms> terms_;
};

/// Responses of position, rotation and velocity to unit noises, a column each.
template <typename S>
class NoiseResponses {
 public:
  /// Appends three noises of this standard deviation.
  void append(const S& deviation, const Matrix3<S>& position, const Matrix3<S>& rotation,
              const Matrix3<S>& velocity) {
    for (int k = 0; k < 3; ++k, ++count_) {
      S* x = columns_ + kernel::kStride * count_;
      for (int i = 0; i < 3; ++i) {
        x[ErrorIndex::position + i] = deviation * position(i, k);
        x[ErrorIndex::rotation + i] = deviation * rotation(i, k);
        x[ErrorIndex::velocity + i] = deviation * velocity(i, k);
      }
    }
  }
  /// Adds the covariance of all noises to the upper triangle of Q.
  void add_to(Eigen::Matrix<S, 15, 15>& Q) const {
    if constexpr (std::is_same_v<S, double>) {
      kernel::add_outer_product_9(Q.data(), columns_, count_);
    } else {
      for (int k = 0; k < count_; ++k) {
        const S* x = columns_ + kernel::kStride * k;
        for (int c = 0; c < 9; ++c) {
          for (int r = 0; r <= c; ++r) Q(r, c) += x[r] * x[c];
        }
      }
    }
  }

 private:
  alignas(64) S columns_[kernel::kStride * 27];
  int count_ = 0;
};

}  // namespace imu_detail

template <typename S>
void integrate_imu_impl(const ImuSampleOf<S>& sample, const S& T, const ImuNoiseOf<S>& noise,
                        ImuStepOf<S>& step) {
  using std::sqrt;
  using Vec = Vector3<S>;
  using Mat = Matrix3<S>;
  constexpr int P = ErrorIndex::position, R = ErrorIndex::rotation, V = ErrorIndex::velocity,
                BG = ErrorIndex::gyro_bias, BA = ErrorIndex::accel_bias;
  const Vec &w = sample.gyro, &f = sample.accel;
  const imu_detail::RotationIntegrals<S> whole(w, T);
  const imu_detail::BiasSeries<S> series(w, f);
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
  const S a2 = noise.accel * noise.accel;
  const S bg2 = noise.gyro_walk * noise.gyro_walk, ba2 = noise.accel_walk * noise.accel_walk;
  Eigen::Matrix<S, 15, 15>& Q = step.noise;
  Q.setZero();
  Q.template block<3, 3>(P, P).diagonal().setConstant(a2 * T * T * T / S(3));
  Q.template block<3, 3>(P, V).diagonal().setConstant(a2 * T * T / S(2));
  Q.template block<3, 3>(V, V).diagonal().setConstant(a2 * T);
  Q.template block<3, 3>(BG, BG).diagonal().setConstant(bg2 * T);
  Q.template block<3, 3>(BA, BA).diagonal().setConstant(ba2 * T);
  constexpr double kNode = 0.77459666924148337704;  // sqrt(3/5)
  constexpr std::array<double, 3> kNodes = {-kNode, 0, kNode};
  constexpr std::array<double, 3> kWeights = {5.0 / 18, 8.0 / 18, 5.0 / 18};
  const auto at = [&](std::size_t i) {
    return imu_detail::RotationIntegrals<S>(w, T * S(1 + kNodes[i]) / S(2));
  };
  const std::array<imu_detail::RotationIntegrals<S>, 3> integrals = {at(0), at(1), at(2)};
  imu_detail::NoiseResponses<S> responses;
  for (std::size_t i = 0; i < 3; ++i) {
    const S x = T * S(1 - kNodes[i]) / S(2), weight = T * S(kWeights[i]);
    // From 0 to s, and from s to T: the nodes are symmetric.
    const imu_detail::RotationIntegrals<S>&before = integrals[i], &after = integrals[2 - i];
    const Mat first = before.R * after.first, second = before.R * after.second;
    // A rotation error at s changes the later velocity and position.
    responses.append(sqrt(weight) * noise.gyro, -skew<S>(second * f), Mat::Identity(),
                     -skew<S>(first * f));
    // A bias step at s.
    Mat C, D;
    series.at(x, C, D);
    C = before.R * C;
    D = before.R * D;
    responses.append(sqrt(weight) * noise.gyro_walk, D, -first, C);
    responses.append(sqrt(weight) * noise.accel_walk, -second, Mat::Zero(), -first);
    Q.template block<3, 3>(R, BG) -= first * (bg2 * weight);
    Q.template block<3, 3>(V, BG) += C * (bg2 * weight);
    Q.template block<3, 3>(P, BG) += D * (bg2 * weight);
    Q.template block<3, 3>(V, BA) -= first * (ba2 * weight);
    Q.template block<3, 3>(P, BA) -= second * (ba2 * weight);
  }
  responses.add_to(Q);
  for (int c = 0; c < 15; ++c) {
    for (int r = c + 1; r < 15; ++r) Q(r, c) = Q(c, r);
  }
}

}  // namespace limb
