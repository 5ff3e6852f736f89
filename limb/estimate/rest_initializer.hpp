#pragma once

#include "limb/estimate/filter_state.hpp"

namespace limb {

/// What is known before the first sample.
struct InitialOptions {
  double rest = 1;                       ///< s of standing still that are averaged
  double yaw = 0, yaw_deviation = 1e-3;  ///< rad, of the base's x axis
  Vector3<double> p_WB = Vector3<double>::Zero();
  double position_deviation = 1e-3;    ///< m
  double velocity_deviation = 1e-2;    ///< m/s, of one that stands still
  double accel_bias_deviation = 0.05;  ///< m/s^2: rest cannot tell it from a tilt
  double gyro_bias_deviation = 1e-4;   ///< rad/s, beside what the average leaves open
  /// Rest is where samples spread by less, and turn slower than a bias can be.
  double gyro_spread = 0.1, accel_spread = 1.5;  ///< rad/s, m/s^2
  double largest_gyro_bias = 0.2;                ///< rad/s
  /// And where the means of both halves differ by no more than this, beside their noise: a slow
  /// sway looks like a bias otherwise.
  double gyro_change = 0.02, accel_change = 0.1;  ///< rad/s, m/s^2
};

/// State and covariance from standing still: the mean rate is the gyroscope's bias, and the mean
/// force points up. Motion begins the average anew.
class RestInitializer {
 public:
  /// @param X_BS  where the sensor is on the base. @throws Error if an option makes no sense.
  RestInitializer(const InitialOptions& options, const ImuNoise& noise,
                  const Vector3<double>& gravity_W, const Pose<double>& X_BS = {});

  /// A sample in order of time. @returns true when there is a state. No allocation.
  bool add(double t, const ImuSample& sample);
  void reset();
  int restarts() const { return restarts_; }  ///< for motion, since reset

  const FilterState& state() const { return state_; }
  /// Of the common errors (BaseFilter::common_covariance).
  const Matrix15& covariance() const { return P_; }

 private:
  bool halves_agree() const;
  void finish(double time);

  InitialOptions options_;
  ImuNoise noise_;
  Vector3<double> gravity_W_;
  Pose<double> X_BS_;
  int count_ = 0, restarts_ = 0;
  double begin_ = 0;
  ImuSample mean_, squares_;  ///< squares of deviations from the mean, summed
  ImuSample first_;           ///< mean of the first half
  int first_count_ = 0;
  FilterState state_;
  Matrix15 P_;
};

}  // namespace limb
