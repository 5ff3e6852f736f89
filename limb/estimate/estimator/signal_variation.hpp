#pragma once

#include <array>

#include "limb/estimate/filter/imu.hpp"

namespace limb {

/// How much the mean of an IMU's signals over a time T differs from what can be held for them in a
/// gap of that length: the last sample before it, or the mean of those before and after it.
/// Measured in the signals themselves, for some times T, and interpolated. No allocation.
class SignalVariation {
 public:
  void reset();
  /// The next sample, T seconds after the last one; a gap: restart() instead.
  void add(double T, const ImuSample& sample);
  /// The next sample does not follow the last one.
  void restart() { count_ = 0; }

  struct Variance {
    Vector3<double> gyro = Vector3<double>::Zero(), accel = Vector3<double>::Zero();  ///< per axis
    /// The same of the distance, divided by T^2, that half of the time and the difference above do
    /// not explain.
    Vector3<double> moment = Vector3<double>::Zero();
  };
  /// Over a gap of T seconds, of the sample before it, or of the mean of both.
  Variance of_last(double T) const { return at(T, &Lag::last); }
  Variance of_mean(double T) const { return at(T, &Lag::mean); }
  /// Whether there are measurements.
  bool is_known() const;

 private:
  static constexpr std::array<double, 4> kLags = {0.025, 0.05, 0.1, 0.2};  ///< s
  static constexpr double kSpacing = 0.005;                                ///< s, at least
  static constexpr int kEntries = 64;
  struct Lag {
    double weight = 0;
    Variance last, mean;
  };
  struct Entry {
    double t = 0;
    ImuSample integral, value;
    Vector3<double> distance = Vector3<double>::Zero();  ///< the accelerometer integrated twice
  };
  Variance at(double T, Variance Lag::*kind) const;

  std::array<Lag, kLags.size()> lags_;
  std::array<Entry, kEntries> entries_;
  Entry now_;
  int count_ = 0, next_ = 0;
};

}  // namespace limb
