#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "limb/estimate/contact/contact_detector.hpp"
#include "limb/estimate/contact/leg_kinematics.hpp"
#include "limb/estimate/estimator/rest_initializer.hpp"
#include "limb/estimate/filter/base_filter.hpp"

/// Estimation of the floating base of a legged robot from its inertial sensor, joints and feet: a
/// filter with the handling of outliers, time stamps, sensor faults and recovery around it.
namespace limb {

/// How feet in contact are used.
enum class Odometry {
  position,  ///< the position of each foot is part of the state
  velocity,  ///< each foot has zero velocity; no state is kept for it
};

struct EstimatorOptions {
  FilterKind filter = FilterKind::invariant;
  Odometry odometry = Odometry::position;
  ImuNoise imu;
  double contact_noise = 2e-3;  ///< m/sqrt(s), random walk of a foot in contact
  double encoder = 1e-3;        ///< rad (m), standard deviation of joint positions
  double encoder_rate = 0.05;   ///< rad/s (m/s), of joint velocities
  double foot_error = 1e-3;     ///< m, of the leg model, including the extent of the feet
  double foot_speed = 0.02;     ///< m/s, of a foot in contact, for Odometry::velocity
  ContactOptions contact;
  /// Innovations beyond this quantile of chi-square are rejected; 1: no gating.
  double gate = 0.999;
  double slip_time = 0.05;  ///< s of rejections after which a foot is added again
  /// Height of flat ground, m; NaN: unknown.
  double ground_height = std::numeric_limits<double>::quiet_NaN();
  double ground_deviation = 0.01;                                ///< m
  double gyro_range = std::numeric_limits<double>::infinity();   ///< rad/s
  double accel_range = std::numeric_limits<double>::infinity();  ///< m/s^2
  double longest_gap = 0.03;  ///< s between IMU samples; longer intervals count as gaps
  double lost_gap = 0.5;      ///< s without IMU samples after which velocity and feet are reset
  double skew = 0.01;         ///< s, largest time offset of joint samples and fixes
  /// m/s: a velocity of larger standard deviation is reset; it has had no measurement
  /// for a long time.
  double lost_speed = 2;
  /// s of rejection of all feet, or of all fixes, after which the state is considered wrong.
  double lost_time = 1;
  InitialOptions initial;
};

/// Counts of received and rejected data since the last reset.
struct EstimatorDiagnostics {
  using Count = std::uint64_t;
  Count imu_samples = 0, imu_not_finite = 0, imu_duplicate = 0, imu_late = 0, imu_saturated = 0;
  Count imu_gaps = 0, imu_lost = 0, clock_set_back = 0, rest_broken = 0;
  Count leg_samples = 0, leg_not_finite = 0, leg_duplicate = 0, leg_late = 0, leg_early = 0;
  Count contacts_made = 0, contacts_broken = 0, contacts_not_finite = 0;
  Count feet_used = 0, feet_rejected = 0, slips = 0;
  Count fixes_used = 0, fixes_rejected = 0;
  Count updates_failed = 0;  ///< the innovation covariance was not positive definite
  /// Resets of an unmeasured velocity; of a state that all feet, or all fixes, contradicted;
  /// reinitializations at rest.
  Count velocity_lost = 0, feet_recovered = 0, fixes_recovered = 0, rest_recovered = 0;
  /// Sums over the feet used: nis_sum / nis_rows measures consistency.
  double nis_sum = 0;
  Count nis_rows = 0;

  struct Named {
    const char* name;
    Count count;
  };
  /// All counts by name, in this order.
  std::vector<Named> counts() const;
};

/// Estimate of the floating base B.
struct BaseEstimate {
  double t = 0;
  Pose<double> X_WB;
  Motion<double> V_WB_B;                  ///< the free joint's velocity
  Vector3<double> v_WB;                   ///< the same in world axes
  Vector3<double> gyro_bias, accel_bias;  ///< of the sensor, in its axes
  /// Covariance of errors p_WB + e (world axes), R_WB exp(e), v_WB + e (world axes).
  Eigen::Matrix<double, 9, 9> covariance;
};

/// Takes time-stamped samples and provides estimates. Every function except the constructor is for
/// control loops: no allocation, and exceptions only for arguments of a wrong size.
class BaseEstimator {
 public:
  /// @throws Error for an invalid robot, name or option.
  BaseEstimator(const Model<double>& model, const std::vector<std::string>& feet,
                const std::string& imu = {}, const EstimatorOptions& options = {});

  /// A sample of the IMU. Until the robot has been at rest for InitialOptions::rest, samples are
  /// used for the initial state. @returns ok if it was used, not_finite or rejected.
  Status imu(double t, const ImuSample& sample);
  /// Joint positions and velocities, as configuration and velocity of the robot; the base entries
  /// are ignored.
  /// @param forces  normal force at each foot, N; for switches 0 or any value above
  ///                ContactOptions::make_force. NaN: no change.
  /// @returns ok if it was used, not_finite, rejected, or not_ready before there is an estimate.
  Status legs(double t, VectorIn<double>& q, VectorIn<double>& v, std::span<const double> forces);
  /// The point at p_BQ on the base was measured at p_WQ. @returns as legs().
  Status position_fix(double t, const Vector3<double>& p_WQ, const Vector3<double>& p_BQ,
                      const Matrix3<double>& noise_W);
  /// The x axis of the base was measured at this angle about z, rad. @returns as legs().
  Status yaw_fix(double t, double yaw, double deviation);

  /// Starts from a known state of the sensor. @throws Error as BaseFilter::reset.
  void initialize(double t, const FilterState& state, const Matrix15& covariance);
  /// Starts again and waits for rest; counts are reset.
  void reset();

  /// Whether there is an estimate.
  bool ready() const { return ready_; }
  double time() const { return t_; }
  BaseEstimate estimate() const;
  /// Writes the base entries of a configuration and velocity of the robot.
  void write_base(VectorOut<double> q, VectorOut<double> v) const;
  const BaseFilter& filter() const { return *filter_; }
  const LegKinematics& leg_kinematics() const { return legs_; }
  const EstimatorDiagnostics& diagnostics() const { return diagnostics_; }
  /// Whether a foot is in contact; normalized innovation squared of its last measurement, NaN
  /// before the first, and whether that was used.
  struct FootStatus {
    bool stands = false, used = false;
    double nis = std::numeric_limits<double>::quiet_NaN();
    double refused_since = std::numeric_limits<double>::quiet_NaN();
  };
  const FootStatus& foot(int i) const { return feet_[static_cast<std::size_t>(i)]; }

 private:
  bool is_synchronized(double t) const;
  void detect_contacts(double t, std::span<const double> forces);
  void add_foot(int foot);
  void update_feet(double t);
  Status apply_fix(const BaseMeasurement& m);
  BaseMeasurement measure_foot(int foot, int slot) const;

  // Recovery of a state that is wrong, or has been without measurements for too long.

  /// Resets the velocity to zero with the standard deviation `speed`, and increases the deviations
  /// of position and tilt.
  void reset_velocity(double speed, double distance, double tilt);
  void start_recovery();
  /// A late sample. If late samples arrive in order for `lost_gap`, the clock is set back to them:
  /// an earlier stamp was wrong. @returns whether the clock was set back to this sample.
  bool handle_late_sample(double t, const ImuSample& sample);
  /// Removes the correlation of position and velocity before the first foot after a long flight.
  void decorrelate_position();
  void monitor(double t, const ImuSample& sample);
  void reinitialize_at_rest();
  /// Corrects position or heading by a fix that contradicts the state; feet are added again.
  void shift_position(const Vector3<double>& shift);
  void rotate_heading(double yaw, double deviation);
  /// Records a rejected or used measurement. @returns whether all were rejected for too long.
  bool rejected_too_long(double t, bool refused, double& since) const;
  BaseMeasurement position_measurement(const Vector3<double>& p_WQ, const Vector3<double>& p_BQ,
                                       const Matrix3<double>& noise_W) const;

  EstimatorOptions options_;
  LegKinematics legs_;
  std::unique_ptr<BaseFilter> filter_;
  RestInitializer rest_;
  std::vector<ContactDetector> detectors_;
  std::vector<FootStatus> feet_;
  std::array<double, 4> gates_;  ///< for 1, 2, 3 rows
  EstimatorDiagnostics diagnostics_;
  bool ready_ = false, has_imu_ = false, lost_ = false;
  double t_ = 0, t_legs_ = 0, t_monitor_ = 0;
  double t_late_ = 0, first_late_ = 0;  ///< of late samples in order, last and first
  double feet_rejected_since_ = 0, positions_rejected_since_ = 0, yaws_rejected_since_ = 0;
  ImuSample last_;
};

}  // namespace limb
