#pragma once

#include "limb/base/status.hpp"
#include "limb/estimate/filter/filter_state.hpp"

namespace limb {

/// Prior knowledge and options of the initial state.
struct InitialOptions {
  double rest = 1;                       ///< s, duration of the rest that is averaged
  double yaw = 0, yaw_deviation = 1e-3;  ///< rad, of the base's x axis
  Vector3<double> p_WB = Vector3<double>::Zero();
  double position_deviation = 1e-3;    ///< m
  double velocity_deviation = 1e-2;    ///< m/s, at rest
  double accel_bias_deviation = 0.05;  ///< m/s^2: at rest not distinguishable from a tilt
  double gyro_bias_deviation = 1e-4;   ///< rad/s, in addition to that of the average
  /// Rest requires a smaller spread of the samples, and a mean rate below the largest bias.
  double gyro_spread = 0.1, accel_spread = 1.5;  ///< rad/s, m/s^2
  double largest_gyro_bias = 0.2;                ///< rad/s
  /// Rest also requires that the means of both halves differ by less than this plus their noise;
  /// otherwise a slow sway would look like a bias.
  double gyro_change = 0.02, accel_change = 0.1;  ///< rad/s, m/s^2
};

/// Initial state and covariance from rest: the mean rate is the gyroscope bias, and the mean
/// specific force points up. Motion restarts the average.
class RestInitializer {
 public:
  /// @param X_BS  pose of the sensor on the base.
  /// @param measure  whether the white noise is measured, too, with the given one as prior.
  /// @throws Error for invalid options.
  RestInitializer(const InitialOptions& options, const ImuNoise& noise,
                  const Vector3<double>& gravity_W, const Pose<double>& X_BS = {},
                  bool measure = false);

  /// Adds a sample, in order of time. @returns ok once the state is available, until
  /// then not_ready; not_finite. No allocation.
  Status add(double t, const ImuSample& sample);
  void reset();
  /// Changes the pose of the sensor on the base, if joints move it.
  void set_mount(const Pose<double>& X_BS) { X_BS_ = X_BS; }
  int restarts() const { return restarts_; }  ///< caused by motion, since reset

  const FilterState& state() const { return state_; }
  /// Covariance of the common errors (BaseFilter::common_covariance).
  const Matrix15& covariance() const { return P_; }
  /// The noise of the sensor: as given, or measured once the state is available. The densities are
  /// those of the Allan variance over kCluster seconds, at least half of the given ones: a robot at
  /// rest has less vibration than one that walks.
  const ImuNoise& noise() const { return noise_; }
  static constexpr double kCluster = 0.05;

 private:
  bool halves_agree() const;
  void finish(double time);
  void add_to_cluster(double t, const ImuSample& sample);
  void measure_noise();

  InitialOptions options_;
  ImuNoise noise_, given_;
  bool measure_;
  Vector3<double> gravity_W_;
  Pose<double> X_BS_;
  int count_ = 0, restarts_ = 0;
  double start_ = 0;
  ImuSample mean_, squares_;  ///< sums of squared deviations from the mean
  ImuSample first_;           ///< mean of the first half
  int first_count_ = 0;
  // Means over clusters of samples, and sums of squared differences of successive ones.
  ImuSample cluster_, last_cluster_;
  double cluster_start_ = 0, gyro_differences_ = 0, accel_differences_ = 0;
  int cluster_count_ = 0, clusters_ = 0;
  FilterState state_;
  Matrix15 P_;
};

}  // namespace limb
