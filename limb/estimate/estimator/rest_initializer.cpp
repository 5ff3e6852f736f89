#include "limb/estimate/estimator/rest_initializer.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "limb/base/check.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;

/// Updates mean and sum of squared deviations with one sample. [Welford 1962]
void add_sample(const Vec& x, int count, Vec& mean, Vec& squares) {
  const Vec before = x - mean;
  mean += before / count;
  squares += before.cwiseProduct(x - mean);
}

}  // namespace

RestInitializer::RestInitializer(const InitialOptions& options, const ImuNoise& noise,
                                 const Vec& gravity_W, const Pose<double>& X_BS, bool measure)
    : options_(options),
      noise_(noise),
      given_(noise),
      measure_(measure),
      gravity_W_(gravity_W),
      X_BS_(X_BS) {
  constexpr const char* kCall = "RestInitializer";
  check_noise(kCall, noise);
  check_not_negative(kCall, "rest", options.rest);
  check_finite(kCall, "yaw", options.yaw);
  check_not_negative(kCall, "yaw_deviation", options.yaw_deviation);
  check_not_negative(kCall, "position_deviation", options.position_deviation);
  check_not_negative(kCall, "velocity_deviation", options.velocity_deviation);
  check_not_negative(kCall, "accel_bias_deviation", options.accel_bias_deviation);
  check_not_negative(kCall, "gyro_bias_deviation", options.gyro_bias_deviation);
  check_positive(kCall, "gyro_spread", options.gyro_spread);
  check_positive(kCall, "accel_spread", options.accel_spread);
  check_positive(kCall, "largest_gyro_bias", options.largest_gyro_bias);
  check_positive(kCall, "gyro_change", options.gyro_change);
  check_positive(kCall, "accel_change", options.accel_change);
  if (!(gravity_W.norm() > 1e-3)) {
    fail(kCall, "gravity", to_text(gravity_W.norm()) + " m/s^2",
         "a nonzero gravity, which defines the vertical");
  }
  reset();
}

void RestInitializer::reset() {
  count_ = restarts_ = 0;
  mean_ = squares_ = {};
}

Status RestInitializer::add(double t, const ImuSample& sample) {
  if (!std::isfinite(t) || !sample.gyro.allFinite() || !sample.accel.allFinite()) {
    return Status::not_finite;
  }
  if (count_ == 0) {
    start_ = t;
    first_count_ = 0;
    mean_ = squares_ = {};
    cluster_ = {};
    cluster_start_ = t;
    cluster_count_ = clusters_ = 0;
    gyro_differences_ = accel_differences_ = 0;
  }
  ++count_;
  if (measure_) add_to_cluster(t, sample);
  add_sample(sample.gyro, count_, mean_.gyro, squares_.gyro);
  add_sample(sample.accel, count_, mean_.accel, squares_.accel);
  constexpr int kMinSamples = 20;
  if (count_ < kMinSamples) return Status::not_ready;
  const Vec gyro = (squares_.gyro / count_).cwiseSqrt(),
            accel = (squares_.accel / count_).cwiseSqrt();
  const double g = gravity_W_.norm();
  const bool still =
      gyro.maxCoeff() < options_.gyro_spread && accel.maxCoeff() < options_.accel_spread &&
      mean_.gyro.norm() < options_.largest_gyro_bias && std::abs(mean_.accel.norm() - g) < 0.1 * g;
  const double time = t - start_;
  if (time <= options_.rest / 2) {
    first_ = mean_;
    first_count_ = count_;
  }
  const bool done = still && time >= options_.rest;
  if (!still || (done && !halves_agree())) {
    ++restarts_;
    count_ = 0;
    return Status::not_ready;
  }
  if (!done) return Status::not_ready;
  if (measure_) measure_noise();
  finish(std::max(time, 1e-3));
  return Status::ok;
}

void RestInitializer::add_to_cluster(double t, const ImuSample& sample) {
  const double time = t - cluster_start_;
  if (time >= kCluster * (1 - 1e-6) && cluster_count_ > 0) {
    const ImuSample mean{cluster_.gyro / cluster_count_, cluster_.accel / cluster_count_};
    if (clusters_++ > 0) {
      gyro_differences_ += time * (mean.gyro - last_cluster_.gyro).squaredNorm() / 3;
      accel_differences_ += time * (mean.accel - last_cluster_.accel).squaredNorm() / 3;
    }
    last_cluster_ = mean;
    cluster_ = {};
    cluster_count_ = 0;
    cluster_start_ = t;
  }
  cluster_.gyro += sample.gyro;
  cluster_.accel += sample.accel;
  ++cluster_count_;
}

void RestInitializer::measure_noise() {
  // Allan variance s^2 = <difference^2> / 2, and density^2 = s^2 cluster [IEEE 952]. The given one
  // counts as five differences.
  constexpr double kPrior = 5, kLeast = 0.5;
  const int count = clusters_ - 1;
  if (count < 1) return;
  const auto density = [&](double given, double sum) {
    const double square = (kPrior * given * given + sum / 2) / (kPrior + count);
    return std::max(kLeast * given, std::sqrt(square));
  };
  noise_.gyro = density(given_.gyro, gyro_differences_);
  noise_.accel = density(given_.accel, accel_differences_);
}

bool RestInitializer::halves_agree() const {
  const int second = count_ - first_count_;
  if (first_count_ == 0 || second == 0 || options_.rest <= 0) return true;
  // second = mean + (mean - first) first_count / second_count
  const double ratio = static_cast<double>(count_) / second;
  constexpr double kDeviations = 5;
  const double noise = kDeviations * std::sqrt(4 / options_.rest);
  return (ratio * (mean_.gyro - first_.gyro)).norm() < options_.gyro_change + noise * noise_.gyro &&
         (ratio * (mean_.accel - first_.accel)).norm() <
             options_.accel_change + noise * noise_.accel;
}

void RestInitializer::finish(double time) {
  const double g = gravity_W_.norm();
  const Vec up_W = -gravity_W_ / g, up_S = mean_.accel.normalized();
  // The shortest rotation that makes the specific force vertical, then the yaw of the base's x
  // axis.
  Mat R = Eigen::Quaterniond::FromTwoVectors(up_S, up_W).toRotationMatrix();
  const Vec x = R * X_BS_.R.transpose().col(0), east = Vec::UnitX() - up_W * up_W.x();
  const double now = std::atan2(up_W.dot(east.cross(x)), east.dot(x));
  R = renormalize<double>(so3::exp<double>(up_W * (options_.yaw - now)) * R);
  state_ = {};
  state_.R_WS = R;
  state_.p_WS = options_.p_WB + R * (X_BS_.R.transpose() * X_BS_.p);
  state_.gyro_bias = mean_.gyro;

  const auto square = [](double s) { return s * s; };
  // An error e of the specific force, bias or noise, causes a tilt up x e / g: tilt and bias are
  // correlated.
  const Mat tilt = skew<double>(up_S) / g;
  const double bias = square(options_.accel_bias_deviation);
  const double mean_accel = square(noise_.accel) / time;
  P_.setZero();
  P_.block<3, 3>(ErrorIndex::position, ErrorIndex::position) =
      square(options_.position_deviation) * Mat::Identity();
  P_.block<3, 3>(ErrorIndex::rotation, ErrorIndex::rotation) =
      (bias + mean_accel) * tilt * tilt.transpose() +
      square(options_.yaw_deviation) * up_S * up_S.transpose();
  P_.block<3, 3>(ErrorIndex::velocity, ErrorIndex::velocity) =
      square(options_.velocity_deviation) * Mat::Identity();
  P_.block<3, 3>(ErrorIndex::gyro_bias, ErrorIndex::gyro_bias) =
      (square(noise_.gyro) / time + square(options_.gyro_bias_deviation)) * Mat::Identity();
  P_.block<3, 3>(ErrorIndex::accel_bias, ErrorIndex::accel_bias) = bias * Mat::Identity();
  P_.block<3, 3>(ErrorIndex::rotation, ErrorIndex::accel_bias) = bias * tilt;
  P_.block<3, 3>(ErrorIndex::accel_bias, ErrorIndex::rotation) = bias * tilt.transpose();
}

}  // namespace limb
