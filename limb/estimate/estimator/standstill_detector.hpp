#pragma once

#include <array>

#include "limb/estimate/filter/imu.hpp"

namespace limb {

/// Detects that a robot stands still: over 0.8 s, the means of gyroscope and accelerometer of
/// all quarters are equal to within their white noise, and so is the spread of the samples. Then
/// the mean rate is the bias of the gyroscope. A sway whose rate changes by more than the noise
/// from quarter to quarter is not standstill. No allocation.
class StandstillDetector {
 public:
  static constexpr double kWindow = 0.8;  ///< s

  void reset();
  /// Something moves, or samples are missing: the present window ends.
  void restart() { quarters_ = count_ = 0; }
  /// The next sample. @returns whether a window at rest ends with it; windows do not overlap.
  bool add(double t, const ImuSample& sample, const ImuNoise& noise);
  /// Mean rate of that window.
  const Vector3<double>& rate() const { return rate_; }

 private:
  static constexpr int kQuarters = 4;
  bool is_still(const ImuNoise& noise);

  struct Quarter {
    ImuSample mean;
    double gyro_variance = 0, accel_variance = 0, period = 0;  ///< of samples, mean over the axes
  };
  std::array<Quarter, kQuarters> recent_;
  int quarters_ = 0, next_ = 0, count_ = 0;
  double start_ = 0;
  ImuSample sum_, first_;
  double gyro_squares_ = 0, accel_squares_ = 0;
  Vector3<double> rate_ = Vector3<double>::Zero();
};

}  // namespace limb
