#include "limb/estimate/estimator/standstill_detector.hpp"

#include <algorithm>
#include <cmath>

namespace limb {

void StandstillDetector::reset() {
  restart();
  next_ = 0;
  rate_.setZero();
}

bool StandstillDetector::add(double t, const ImuSample& sample, const ImuNoise& noise) {
  constexpr double kQuarter = kWindow / kQuarters;
  constexpr int kFewest = 5;
  bool found = false;
  if (count_ > 0 && t - start_ >= kQuarter * (1 - 1e-9)) {
    // Deviations from the first sample, so that nothing cancels.
    const double n = count_;
    const ImuSample mean{sum_.gyro / n, sum_.accel / n};
    Quarter& quarter = recent_[static_cast<std::size_t>(next_)];
    quarter.mean = {first_.gyro + mean.gyro, first_.accel + mean.accel};
    quarter.gyro_variance = gyro_squares_ / n - mean.gyro.squaredNorm() / 3;
    quarter.accel_variance = accel_squares_ / n - mean.accel.squaredNorm() / 3;
    quarter.period = (t - start_) / n;
    next_ = (next_ + 1) % kQuarters;
    quarters_ = count_ < kFewest ? 0 : std::min(quarters_ + 1, kQuarters);
    count_ = 0;
    if (quarters_ == kQuarters && is_still(noise)) {
      found = true;
      quarters_ = 0;
    }
  }
  if (count_ == 0) {
    start_ = t;
    first_ = sample;
    sum_ = {};
    gyro_squares_ = accel_squares_ = 0;
  }
  const Vector3<double> gyro = sample.gyro - first_.gyro, accel = sample.accel - first_.accel;
  sum_.gyro += gyro;
  sum_.accel += accel;
  gyro_squares_ += gyro.squaredNorm() / 3;
  accel_squares_ += accel.squaredNorm() / 3;
  ++count_;
  return found;
}

bool StandstillDetector::is_still(const ImuNoise& noise) {
  // The mean of a quarter has the deviation density / sqrt(quarter); about the mean of all four,
  // 12 numbers of each sensor: beyond three deviations in one of twenty windows.
  constexpr double kDeviations = 3, kSpread = 4;
  const double root = std::sqrt(kWindow / kQuarters);
  ImuSample mean;
  for (const Quarter& one : recent_) {
    mean.gyro += one.mean.gyro / kQuarters;
    mean.accel += one.mean.accel / kQuarters;
  }
  for (const Quarter& one : recent_) {
    // Samples may be low-pass filtered: their variance is at most that of white noise.
    if (!(one.gyro_variance * one.period <= kSpread * noise.gyro * noise.gyro) ||
        !(one.accel_variance * one.period <= kSpread * noise.accel * noise.accel) ||
        !((one.mean.gyro - mean.gyro).cwiseAbs().maxCoeff() <= kDeviations * noise.gyro / root) ||
        !((one.mean.accel - mean.accel).cwiseAbs().maxCoeff() <=
          kDeviations * noise.accel / root)) {
      return false;
    }
  }
  rate_ = mean.gyro;
  return true;
}

}  // namespace limb
