#include "limb/estimate/estimator/noise_estimate.hpp"

#include <algorithm>
#include <cmath>

namespace limb {
namespace {

constexpr double kLag = 0.2;  // s
constexpr std::size_t kMostChanges = 8192;

}  // namespace

NoiseEstimator::NoiseEstimator() {
  clusters_.reserve(64);
  changes_.reserve(kMostChanges);
  for (auto& half : feet_sums_) half.fill(Vector3<double>::Zero());
}

void NoiseEstimator::add_imu(double t, const ImuSample& sample) {
  if (!std::isfinite(t) || !sample.gyro.allFinite() || !sample.accel.allFinite()) return;
  if (open_ && (t < cluster_start_ || t - window_start_ >= kWindow + kCluster)) open_ = false;
  if (!open_) {
    open_ = true;
    window_start_ = cluster_start_ = t;
    samples_ = cluster_samples_ = 0;
    cluster_sum_ = window_sum_ = squares_ = {};
    clusters_.clear();
    gyro_steps_ = accel_steps_ = 0;
    steps_count_ = 0;
    feet_samples_ = {};
    for (auto& half : feet_sums_) half.fill(Vector3<double>::Zero());
  }
  if (t - cluster_start_ >= kCluster) close_cluster();
  if (t - window_start_ >= kWindow) {
    close_window();
    open_ = false;
    add_imu(t, sample);
    return;
  }
  if (samples_ > 0) {
    gyro_steps_ += (sample.gyro - last_.gyro).squaredNorm() / 3;
    accel_steps_ += (sample.accel - last_.accel).squaredNorm() / 3;
    ++steps_count_;
  }
  last_ = sample;
  ++samples_;
  ++cluster_samples_;
  cluster_sum_.gyro += sample.gyro;
  cluster_sum_.accel += sample.accel;
  window_sum_.gyro += sample.gyro;
  window_sum_.accel += sample.accel;
  squares_.gyro += sample.gyro.cwiseAbs2();
  squares_.accel += sample.accel.cwiseAbs2();
}

void NoiseEstimator::close_cluster() {
  if (cluster_samples_ > 0) {
    clusters_.push_back(
        {cluster_sum_.gyro / cluster_samples_, cluster_sum_.accel / cluster_samples_});
  }
  cluster_sum_ = {};
  cluster_samples_ = 0;
  cluster_start_ += kCluster;
}

void NoiseEstimator::close_window() {
  constexpr int kFewest = 20, kClusters = 9;
  // Rest: small spread of the samples and of their means over clusters, a rate that may be a bias,
  // and no motion of the feet.
  constexpr double kGyro = 0.1, kAccel = 1.5, kRate = 0.2, kMotion = 3e-3;
  constexpr double kClusterGyro = 0.015, kClusterAccel = 0.15, kDeviations = 5;
  const double share = kDeviations / std::sqrt(static_cast<double>(samples_) /
                                               static_cast<double>(clusters_.size()));
  if (samples_ < kFewest || static_cast<int>(clusters_.size()) < kClusters) return;
  // White noise of a sample: half of the mean squared difference of two.
  const double gyro_noise = std::sqrt(gyro_steps_ / steps_count_ / 2),
               accel_noise = std::sqrt(accel_steps_ / steps_count_ / 2);
  const double period = kWindow / samples_;
  if (quiet_.size() < kMostChanges) {
    quiet_.push_back({gyro_noise * gyro_noise * period, accel_noise * accel_noise * period});
  }
  const auto spread = [&](const Vector3<double>& sum, const Vector3<double>& squares) {
    const Vector3<double> mean = sum / samples_;
    return std::sqrt(std::max(0.0, (squares / samples_ - mean.cwiseAbs2()).maxCoeff()));
  };
  if (spread(window_sum_.gyro, squares_.gyro) > kGyro ||
      spread(window_sum_.accel, squares_.accel) > kAccel ||
      (window_sum_.gyro / samples_).norm() > kRate) {
    return;
  }
  for (const ImuSample& cluster : clusters_) {
    if ((cluster.gyro - window_sum_.gyro / samples_).norm() > kClusterGyro + share * gyro_noise ||
        (cluster.accel - window_sum_.accel / samples_).norm() >
            kClusterAccel + share * accel_noise) {
      return;
    }
  }
  if (feet_samples_[0] > 0 && feet_samples_[1] > 0) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(feet_); ++i) {
      const Vector3<double> moved =
          feet_sums_[0][i] / feet_samples_[0] - feet_sums_[1][i] / feet_samples_[1];
      if (moved.norm() > kMotion) return;
    }
  }
  for (std::size_t i = 1; i < clusters_.size(); ++i) {
    gyro_sum_ += (clusters_[i].gyro - clusters_[i - 1].gyro).squaredNorm() / 3;
    accel_sum_ += (clusters_[i].accel - clusters_[i - 1].accel).squaredNorm() / 3;
    ++differences_;
  }
  rest_ += kWindow;
}

void NoiseEstimator::add_feet(double t, const LegKinematics& legs,
                              const std::vector<bool>& stands) {
  feet_ = legs.feet();
  const std::size_t half = t - window_start_ < kWindow / 2 ? 0 : 1;
  ++feet_samples_[half];
  for (int i = 0; i < legs.feet(); ++i) {
    feet_sums_[half][static_cast<std::size_t>(i)] += legs.p_SF(i);
    for (int j = 0; j < i; ++j) {
      Pair& pair = pairs_[static_cast<std::size_t>(i * kMaxFeet + j)];
      const double distance = (legs.p_SF(i) - legs.p_SF(j)).norm();
      const bool both = stands[static_cast<std::size_t>(i)] && stands[static_cast<std::size_t>(j)];
      if (!both || !pair.stands || t <= pair.since) {
        pair = {both, distance, t, distance, t};
        continue;
      }
      const double step = distance - pair.last;
      step_sum_ += step * step;
      ++steps_;
      pair.last = distance;
      pair.since = t;
      if (t - pair.anchor_t < kLag) continue;
      const double change = distance - pair.anchor;
      if (t - pair.anchor_t < 2 * kLag) {
        ++lags_;
        if (changes_.size() < kMostChanges) changes_.push_back(change * change);
      }
      pair.anchor = distance;
      pair.anchor_t = t;
    }
  }
}

NoiseEstimate NoiseEstimator::result() const {
  NoiseEstimate r;
  r.rest = rest_;
  if (differences_ > 0) {
    // Allan variance s^2 = <(difference)^2> / 2, and density = s sqrt(cluster).
    const auto density = [&](double sum) {
      return std::sqrt(sum / static_cast<double>(differences_) / 2 * kCluster);
    };
    r.imu.gyro = std::max(kLeastGyro, density(gyro_sum_));
    r.imu.accel = std::max(kLeastAccel, density(accel_sum_));
  }
  if (differences_ == 0 && !quiet_.empty()) {
    const auto fifth = [&](double Quiet::*part) {
      std::vector<double> all;
      for (const Quiet& one : quiet_) all.push_back(one.*part);
      const auto at = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 5);
      std::nth_element(all.begin(), at, all.end());
      return std::sqrt(*at);
    };
    r.imu.gyro = std::max(r.imu.gyro, fifth(&Quiet::gyro));
    r.imu.accel = std::max(r.imu.accel, fifth(&Quiet::accel));
  }
  r.pairs = lags_;
  if (changes_.empty() || steps_ == 0) return r;
  // A median, which single slips do not change; that of a squared normal variable is 0.455.
  std::vector<double> sorted = changes_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  constexpr double kMedian = 0.4549;
  const double slow = *middle / kMedian, fast = step_sum_ / static_cast<double>(steps_);
  // A distance has the noise of two legs: fast = 4 s^2, slow = fast + 2 q^2 lag.
  constexpr double kLeastWalk = 1e-3, kLargestWalk = 2e-2, kLeastError = 1e-3, kLargestError = 1e-2;
  r.contact_noise =
      std::clamp(std::sqrt(std::max(0.0, (slow - fast) / (2 * kLag))), kLeastWalk, kLargestWalk);
  r.foot_error = std::clamp(std::sqrt(fast / 4), kLeastError, kLargestError);
  return r;
}

}  // namespace limb
