#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "limb/estimate/base_filter.hpp"
#include "limb/estimate/contact_detector.hpp"
#include "limb/estimate/leg_kinematics.hpp"
#include "limb/estimate/rest_initializer.hpp"

/// Where the base of a walking robot is, from its inertial sensor, its joints and its feet: a
/// filter with all that the real world needs around it.
namespace limb {

/// How standing feet are used.
enum class Odometry {
  position,  ///< the place of each foot is part of the state
  velocity,  ///< each foot stands still now; nothing about it is remembered
};

struct EstimatorOptions {
  FilterKind filter = FilterKind::invariant;
  Odometry odometry = Odometry::position;
  ImuNoise imu;
  double contact_noise = 2e-3;  ///< m/sqrt(s), creep of a standing foot
  double encoder = 1e-3;        ///< rad (m), deviation of joint positions
  double encoder_rate = 0.05;   ///< rad/s (m/s), of joint velocities
  double foot_error = 1e-3;     ///< m, of the model's legs and of feet that are no points
  double foot_speed = 0.02;     ///< m/s, of a foot that should stand, for Odometry::velocity
  ContactOptions contact;
  /// Innovations beyond this quantile of chi-square are refused; 1: none are.
  double gate = 0.999;
  double slip_time = 0.05;  ///< s of refusals after which a foot is put down anew
  /// Flat ground at this height, where known: NaN is unknown.
  double ground_height = std::numeric_limits<double>::quiet_NaN();
  double ground_deviation = 0.01;                                ///< m
  double gyro_range = std::numeric_limits<double>::infinity();   ///< rad/s
  double accel_range = std::numeric_limits<double>::infinity();  ///< m/s^2
  double longest_gap = 0.03;  ///< s between IMU samples that is no gap yet
  double lost_gap = 0.5;      ///< s after which velocity and feet are forgotten
  double skew = 0.01;         ///< s that joints and fixes may be off the filter's time
  /// m/s: a velocity that is less certain is forgotten, since then nothing has measured it for
  /// long.
  double lost_speed = 2;
  /// s for which all feet, or all fixes, are refused until it is the state that is taken for wrong.
  double lost_time = 1;
  InitialOptions initial;
};

/// What has come in and what has become of it; counted since the last reset.
struct EstimatorDiagnostics {
  using Count = std::uint64_t;
  Count imu_samples = 0, imu_not_finite = 0, imu_duplicate = 0, imu_late = 0, imu_saturated = 0;
  Count imu_gaps = 0, imu_lost = 0, clock_set_back = 0, rest_broken = 0;
  Count leg_samples = 0, leg_not_finite = 0, leg_duplicate = 0, leg_late = 0, leg_early = 0;
  Count contacts_made = 0, contacts_broken = 0, contacts_not_finite = 0;
  Count feet_used = 0, feet_refused = 0, slips = 0;
  Count fixes_used = 0, fixes_refused = 0;
  Count updates_failed = 0;  ///< an innovation without a positive covariance
  /// A velocity that nothing measured; a state that all feet, or all fixes, spoke against; one that
  /// was lost and was found anew at rest.
  Count velocity_lost = 0, feet_recovered = 0, fixes_recovered = 0, rest_recovered = 0;
  /// Sums over the feet that were used: against their rows, a measure of consistency.
  double nis_sum = 0;
  Count nis_rows = 0;

  struct Named {
    const char* name;
    Count count;
  };
  /// All counts by name, in this order.
  std::vector<Named> counts() const;
};

/// The floating base B in limb's own terms.
struct BaseEstimate {
  double t = 0;
  Pose<double> X_WB;
  Motion<double> V_WB_B;                  ///< the free joint's velocity
  Vector3<double> v_WB;                   ///< the same in world axes
  Vector3<double> gyro_bias, accel_bias;  ///< of the sensor, in its axes
  /// Of errors p_WB + e (world axes), R_WB exp(e), v_WB + e (world axes).
  Eigen::Matrix<double, 9, 9> covariance;
};

/// Samples go in by their stamps, estimates come out. Every function but the constructor is for
/// control loops: no allocation, and nothing thrown but for arguments of a wrong size.
class BaseEstimator {
 public:
  /// @throws Error if the robot, a name or an option is wrong.
  BaseEstimator(const Model<double>& model, const std::vector<std::string>& feet,
                const std::string& imu = {}, const EstimatorOptions& options = {});

  /// A sample of the IMU. Until the robot has stood still for a while (InitialOptions), they go to
  /// the initial state. @returns whether it was used.
  bool imu(double t, const ImuSample& sample);
  /// Joint positions and velocities, in the robot's own coordinates; the base's do not count.
  /// @param forces  at each foot, N, along the ground's normal; of switches 0 or anything above
  ///                ContactOptions::make_force. NaN: as before. @returns whether it was used.
  bool legs(double t, VectorIn<double>& q, VectorIn<double>& v, std::span<const double> forces);
  /// A point of the base, at p_BQ in its axes, was seen there. @returns whether it was used.
  bool position_fix(double t, const Vector3<double>& p_WQ, const Vector3<double>& p_BQ,
                    const Matrix3<double>& noise_W);
  /// The base's x axis was seen at this angle about z, rad.
  bool yaw_fix(double t, double yaw, double deviation);

  /// Begins at a known state of the sensor. @throws Error as BaseFilter::reset.
  void initialize(double t, const FilterState& state, const Matrix15& covariance);
  /// Begins anew, waiting for rest; counts are zero again.
  void reset();

  /// Whether there is an estimate.
  bool ready() const { return ready_; }
  double time() const { return t_; }
  BaseEstimate estimate() const;
  /// Writes the base's part of a configuration and velocity of the robot.
  void write_base(VectorOut<double> q, VectorOut<double> v) const;
  const BaseFilter& filter() const { return *filter_; }
  const LegKinematics& leg_kinematics() const { return legs_; }
  const EstimatorDiagnostics& diagnostics() const { return diagnostics_; }
  /// Whether a foot is taken to stand; normalised innovation squared of its last reading, NaN
  /// before, and whether that was used.
  struct FootStatus {
    bool stands = false, used = false;
    double nis = std::numeric_limits<double>::quiet_NaN();
    double refused_since = std::numeric_limits<double>::quiet_NaN();
  };
  const FootStatus& foot(int i) const { return feet_[static_cast<std::size_t>(i)]; }

 private:
  bool in_step(double t) const;
  void detect(double t, std::span<const double> forces);
  void put_down(int foot);
  void update_feet(double t);
  bool take_fix(const BaseMeasurement& m);
  BaseMeasurement measure(int foot, int slot) const;

  // What to do with a state that is wrong, or has been without measurements for too long.

  /// The velocity is zero or unknown by `speed`; position and tilt are less certain by these.
  void forget(double speed, double way, double tilt);
  void lose();
  /// A late sample. Those that come in order for `lost_gap` are the time, whatever a single stamp
  /// said before. @returns whether this one is the first of them.
  bool set_back(double t, const ImuSample& sample);
  /// Before the first foot after a long flight: position and velocity go on as strangers.
  void part_position();
  void watch(double t, const ImuSample& sample);
  void take_rest();
  /// Another place or heading, of which nothing else was known; feet are put down anew.
  void place_at(const Vector3<double>& shift);
  void turn_by(double yaw, double deviation);
  /// A refused measurement, or a taken one: whether all have been refused for too long.
  bool refused_for_long(double t, bool refused, double& since) const;
  BaseMeasurement position_measurement(const Vector3<double>& p_WQ, const Vector3<double>& p_BQ,
                                       const Matrix3<double>& noise_W) const;

  EstimatorOptions options_;
  LegKinematics legs_;
  std::unique_ptr<BaseFilter> filter_;
  RestInitializer rest_;
  std::vector<ContactDetector> detectors_;
  std::vector<FootStatus> feet_;
  std::array<double, 4> gates_;  ///< of 1, 2, 3 rows
  EstimatorDiagnostics diagnostics_;
  bool ready_ = false, has_imu_ = false, lost_ = false;
  double t_ = 0, t_legs_ = 0, t_watch_ = 0;
  double t_late_ = 0, late_begin_ = 0;  ///< of late samples in order, the last and the first
  double feet_refused_since_ = 0, positions_refused_since_ = 0, yaws_refused_since_ = 0;
  ImuSample last_;
};

}  // namespace limb
