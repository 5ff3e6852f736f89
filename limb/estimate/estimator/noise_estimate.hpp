#pragma once

#include <array>
#include <vector>

#include "limb/estimate/contact/leg_kinematics.hpp"
#include "limb/estimate/filter/filter_state.hpp"
#include "limb/estimate/filter/imu.hpp"

namespace limb {

/// Noise of a robot's sensors, measured in a log.
struct NoiseEstimate {
  /// gyro and accel measured; without rest at least the typical ones. The walks are not measured.
  ImuNoise imu;
  double rest = 0;           ///< s, of rest that was used
  double contact_noise = 0;  ///< m/sqrt(s), if has_contacts()
  double foot_error = 0;     ///< m, if has_contacts()
  long pairs = 0;            ///< differences of distances between standing feet
  bool has_rest() const { return rest > 0; }
  bool has_contacts() const { return pairs >= 50; }
};

/// Measures noise in the signals themselves. At rest, the Allan variance of gyroscope and
/// accelerometer over a twentieth of a second is the density of their white noise [IEEE 952];
/// without rest, differences of successive samples in the quietest fifth of the log bound it; while
/// two feet stand, the change of their distance, which the joints measure alone, is the residual of
/// the kinematics: from sample to sample noise, over a fifth of a second also the random walk of
/// contacts. Memory is bounded.
class NoiseEstimator {
 public:
  NoiseEstimator();
  void add_imu(double t, const ImuSample& sample);
  /// Feet after an update of the kinematics, and which of them stand.
  void add_feet(double t, const LegKinematics& legs, const std::vector<bool>& stands);
  NoiseEstimate result() const;

  /// Lower bounds: a robot at rest has less vibration than one that walks.
  static constexpr double kLeastGyro = 1e-4, kLeastAccel = 1.25e-3;

 private:
  static constexpr double kCluster = 0.05, kWindow = 0.5;  ///< s
  void close_cluster();
  void close_window();

  // The window of 0.5 s, in clusters of 0.05 s.
  double window_start_ = 0, cluster_start_ = 0;
  bool open_ = false;
  int samples_ = 0, cluster_samples_ = 0;
  ImuSample cluster_sum_, window_sum_, squares_;
  ImuSample last_;
  double gyro_steps_ = 0, accel_steps_ = 0;  ///< sums of squared differences of an axis
  int steps_count_ = 0;
  struct Quiet {
    double gyro, accel;  ///< squared densities
  };
  std::vector<Quiet> quiet_;
  std::vector<ImuSample> clusters_;
  /// Sums of the positions of feet over the halves of the window: rest if the means are equal.
  std::array<std::array<Vector3<double>, kMaxFeet>, 2> feet_sums_;
  std::array<int, 2> feet_samples_{};
  int feet_ = 0;
  // Sums over windows at rest.
  double gyro_sum_ = 0, accel_sum_ = 0, rest_ = 0;
  long differences_ = 0;
  // Distances between feet.
  struct Pair {
    bool stands = false;
    double last = 0, since = 0, anchor = 0, anchor_t = 0;
  };
  std::array<Pair, kMaxFeet * kMaxFeet> pairs_;
  std::vector<double> changes_;  ///< squared, over kLag
  double step_sum_ = 0;
  long steps_ = 0, lags_ = 0;
};

}  // namespace limb
