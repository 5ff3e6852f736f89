#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "limb/estimate/contact/contact_detector.hpp"
#include "limb/estimate/contact/leg_kinematics.hpp"
#include "limb/estimate/estimator/consistency_monitor.hpp"
#include "limb/estimate/estimator/foot_noise.hpp"
#include "limb/estimate/estimator/rest_initializer.hpp"
#include "limb/estimate/estimator/sample_clock.hpp"
#include "limb/estimate/estimator/signal_variation.hpp"
#include "limb/estimate/estimator/standstill_detector.hpp"
#include "limb/estimate/filter/base_filter.hpp"

/// Estimation of the floating base of a legged robot from its inertial sensor, joints and feet: a
/// filter with the handling of outliers, time stamps, sensor faults and recovery around it.
namespace limb {

/// How feet in contact are used.
enum class Odometry {
  position,  ///< the position of each foot is part of the state
  velocity,  ///< each foot has zero velocity; no state is kept for it
};

/// What is known about the ground under the feet.
enum class Terrain {
  unknown,  ///< nothing
  flat,     ///< one height: ground_height, or that of the first feet if it is unknown
  steps,    ///< level treads of unknown heights, each of which feet return to
};

struct EstimatorOptions {
  FilterKind filter = FilterKind::invariant;
  Odometry odometry = Odometry::position;
  /// A typical MEMS unit. The random walks are twice to three times those of one at rest; steps
  /// of the biases are found by their innovations.
  ImuNoise imu{2e-4, 2.5e-3, 2.5e-4, 3e-3};
  double contact_noise = 2e-3;  ///< m/sqrt(s), random walk of a foot in contact
  double encoder = 1e-3;        ///< rad (m), standard deviation of joint positions
  double encoder_rate = 0.05;   ///< rad/s (m/s), of joint velocities
  double foot_error = 1e-3;     ///< m, of the leg model, including the extent of the feet
  double foot_speed = 0.02;     ///< m/s, of a foot in contact, for Odometry::velocity
  /// Noise is measured, from these values on: that of the IMU in the initial rest, that of legs and
  /// contacts in the distances between standing feet (FootNoise).
  bool adapt = true;
  ContactOptions contact;
  /// Innovations beyond this quantile of chi-square are rejected; 1: no gating.
  double gate = 0.999;
  double slip_time = 0.05;  ///< s of rejections after which a foot is added again
  /// Height of flat ground, m; NaN: unknown. A height implies flat terrain.
  double ground_height = std::numeric_limits<double>::quiet_NaN();
  double ground_deviation = 0.01;  ///< m
  Terrain terrain = Terrain::unknown;
  double step_height = 0.05;  ///< m, smallest difference of treads, for Terrain::steps
  /// Radius of ball feet, m, whose frames are at the centre of the ball: it rolls, so that its
  /// centre moves while the foot stands.
  double foot_radius = 0;
  /// Length (along x) and width (along y) of flat soles about the frames of the feet, m. Not zero:
  /// a sole in contact keeps its orientation, too. At most two feet.
  double sole_length = 0, sole_width = 0;
  double gyro_range = std::numeric_limits<double>::infinity();   ///< rad/s
  double accel_range = std::numeric_limits<double>::infinity();  ///< m/s^2
  /// s between IMU samples; longer intervals count as gaps, if they exceed three periods.
  double longest_gap = 0.03;
  double lost_gap = 0.5;  ///< s without IMU samples after which velocity and feet are reset
  double skew = 0.01;     ///< s, largest time offset of joint samples and fixes
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
  Count updates_failed = 0;              ///< the innovation covariance was not positive definite
  Count imu_queued = 0, leg_queued = 0;  ///< samples delivered late, after a gap
  Count gaps_bridged = 0;                ///< joint samples used while the IMU was silent
  /// All feet contradicted the prediction, but not each other: the base was widened and updated.
  Count reanchored = 0;
  /// Innovations of several feet had a mean that is not zero: the biases were widened.
  Count biases_widened = 0;
  /// Seconds at rest in which the bias of the gyroscope was measured; steps of it found so.
  Count standstills = 0, bias_steps = 0;
  Count heights_used = 0, heights_rejected = 0, heights_widened = 0;
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

/// What happened, for reports.
enum class EstimatorEvent {
  imu_gap,         ///< size: s
  imu_lost,        ///< size: s
  clock_set_back,  ///< size: s
  slip,            ///< of a foot; size: m
  reanchored,      ///< size: m, largest innovation
  velocity_reset,  ///< size: m/s, its standard deviation before
  feet_recovered,
  fix_recovered,
  rest_recovered,
  biases_widened,  ///< size: normalized mean of innovations
  bias_step,       ///< of the gyroscope, found at rest; size: rad/s
  height_widened,  ///< size: m
};
const char* to_text(EstimatorEvent event);

/// A direct measurement of a foot.
struct FootSample {
  Vector3<double> p_BF = Vector3<double>::Zero();            ///< position in the base
  Matrix3<double> covariance = Matrix3<double>::Identity();  ///< m^2, in axes of the base
  double contact = 0;  ///< probability that it stands, from 0 to 1; NaN: unchanged
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

/// The sensor of an estimate at one time: its pose and velocity on the base, and its measured rate.
struct SensorMount {
  Pose<double> X_BS;
  Motion<double> V_BS_S;
  Vector3<double> gyro;
};

/// The estimate of the base from that of its sensor.
/// @param P  covariance of the common errors of the sensor (BaseFilter::common_covariance).
BaseEstimate base_estimate(double t, const FilterState& x, const FilterMatrix& P,
                           const SensorMount& mount);

/// Takes time-stamped samples and provides estimates. Every function except the constructor is for
/// control loops: no allocation, and exceptions only for arguments of a wrong size.
class BaseEstimator {
 public:
  /// @throws Error for an invalid robot, name or option.
  BaseEstimator(const Model<double>& model, const std::vector<std::string>& feet,
                const std::string& imu = {}, const EstimatorOptions& options = {});
  /// The same with given kinematics, such as those of a virtual sensor.
  BaseEstimator(LegKinematics legs, const EstimatorOptions& options);

  /// A sample of the IMU. Until the robot has been at rest for InitialOptions::rest, samples are
  /// used for the initial state. @returns ok if it was used, not_finite or rejected.
  Status imu(double t, const ImuSample& sample);
  /// Joint positions and velocities, as configuration and velocity of the robot; the base entries
  /// are ignored.
  /// @param forces  normal force at each foot, N; for switches 0 or any value above
  ///                ContactOptions::make_force. NaN: no change.
  /// @returns ok if it was used, not_finite, rejected, or not_ready before there is an estimate.
  Status legs(double t, VectorIn<double>& q, VectorIn<double>& v, std::span<const double> forces);
  /// Positions of the feet measured directly, instead of joints; one per foot. @returns as legs().
  Status feet(double t, std::span<const FootSample> samples);

  // External measurements. `t` is when they were taken, up to kHistory seconds ago: a delayed one
  // is compared with the state of that time, and corrects the present one.
  static constexpr double kHistory = 1;

  /// The point at p_BQ on the base was measured at p_WQ. @returns as legs().
  Status position_fix(double t, const Vector3<double>& p_WQ, const Vector3<double>& p_BQ,
                      const Matrix3<double>& noise_W);
  /// The x axis of the base was measured at this angle about z, rad. @returns as legs().
  Status yaw_fix(double t, double yaw, double deviation);
  /// The orientation of the base was measured, with this deviation about each axis, rad.
  Status orientation_fix(double t, const Matrix3<double>& R_WB, double deviation);
  /// The velocity of the base's origin was measured, in axes of the world or of the base.
  Status velocity_fix(double t, const Vector3<double>& v_WB, const Matrix3<double>& noise,
                      bool in_base_axes);

  /// Starts from a known state of the sensor. @throws Error as BaseFilter::reset.
  void initialize(double t, const FilterState& state, const Matrix15& covariance);
  /// Starts again and waits for rest; counts are reset.
  void reset();

  /// Whether there is an estimate.
  bool ready() const { return ready_; }
  double time() const { return t_; }
  BaseEstimate estimate() const;
  SensorMount mount() const { return {legs_.X_BS(), legs_.V_BS_S(), last_.gyro}; }
  /// Records the operations of the filter, as BaseFilter::record_to.
  void record_to(FilterRecord* record) { filter_->record_to(record); }
  /// Writes the base entries of a configuration and velocity of the robot.
  void write_base(VectorOut<double> q, VectorOut<double> v) const;
  const BaseFilter& filter() const { return *filter_; }
  const LegKinematics& leg_kinematics() const { return legs_; }
  const EstimatorDiagnostics& diagnostics() const { return diagnostics_; }
  /// The noise in use: of the IMU, and of legs and contacts.
  const ImuNoise& imu_noise() const { return imu_noise_; }
  const FootNoise& foot_noise() const { return foot_noise_; }
  /// Whether a foot is in contact; normalized innovation squared of its last measurement, NaN
  /// before the first, and whether that was used.
  struct FootStatus {
    bool stands = false, used = false;
    double nis = std::numeric_limits<double>::quiet_NaN();
    double refused_since = std::numeric_limits<double>::quiet_NaN();
  };
  const FootStatus& foot(int i) const { return feet_[static_cast<std::size_t>(i)]; }
  const FootStatistics& statistics(int i) const { return statistics_[static_cast<std::size_t>(i)]; }
  /// Whether the estimate can be trusted, as far as its measurements show.
  ConsistencyMonitor::Result verdict() const { return monitor_.result(); }

  struct Event {
    double t = 0;
    EstimatorEvent kind{};
    int foot = -1;
    double size = 0;
  };
  /// Number of events since the last reset, and the i-th; the last kEvents are kept.
  static constexpr std::uint64_t kEvents = 64;
  std::uint64_t events() const { return event_count_; }
  const Event& event(std::uint64_t i) const { return events_[i % kEvents]; }

 private:
  /// A measured foot, from the joints or given directly.
  struct Measured {
    Vector3<double> p_SF = Vector3<double>::Zero(), v_SF = Vector3<double>::Zero();
    Matrix3<double> R_SF = Matrix3<double>::Identity();
    Matrix3<double> noise = Matrix3<double>::Identity();       ///< of p_SF
    Matrix3<double> assumed = Matrix3<double>::Identity();     ///< the same by the options
    double lifted = -std::numeric_limits<double>::infinity();  ///< s, when contact was lost
    Vector3<double> rolled = Vector3<double>::Zero();    ///< of a ball since touch-down, world axes
    Matrix3<double> R_WF = Matrix3<double>::Identity();  ///< at the last sample
    double contact_since = 0;
  };
  struct PastState {
    double t = 0;
    FilterState x;
    Vector3<double> gyro;
  };

  bool is_synchronized(double t) const;
  Status check_leg_stamp(double t);
  /// Advances to a joint sample while the IMU is silent. @returns whether it did.
  bool bridge_gap(double t);
  Status use_feet(double t, std::span<const double> forces);
  void detect_contacts(double t, std::span<const double> forces);
  void add_foot(int foot);
  void remove_foot(int foot);
  bool has_slot(int foot) const;
  void measure_terrain(int foot);
  void roll(int foot);
  void update_feet(double t);
  /// All feet were refused with innovations of up to this size, m. Widens the state if the feet are
  /// more credible than the prediction. @returns whether it did.
  bool reanchor(double t, double innovation);
  /// Tests the mean of the innovations, and widens the biases if it is not zero.
  /// @param age  s since the last update. @param common  sum of whitened innovations of the feet.
  void test_innovation_means(double t, double age, const Vector3<double>& common, int feet);
  /// The robot stands still: measures the bias of the gyroscope. A bias that has changed by more
  /// than its random walk explains has made a step at an unknown time since it was known.
  void measure_gyro_bias(double t);
  void recover_from_feet(double t);
  void start_clock(double t);
  /// Whether all standing feet keep their distances from each other.
  bool feet_agree() const;
  bool feet_agree(int i, int j) const;
  /// After a gap: removes the feet that are not where they stood.
  void drop_moved_feet(double t);
  Status apply_fix(const BaseMeasurement& m);
  BaseMeasurement measure_foot(int foot, int point) const;
  /// Number of the slot of a point of a foot, and the point in axes of S.
  int slot_number(int foot, int point) const { return foot * points_ + point; }
  Vector3<double> p_SP(int foot, int point) const;
  /// Noise of the joints over the age that a queued sample may have.
  Matrix3<double> noise_of(int foot) const;
  /// A step in a gap, from `begin` to `end` seconds after the last IMU sample, with the variances
  /// of what is held over the times until then.
  Status predict_gap(const ImuSample& held, double begin, const SignalVariation::Variance& at_begin,
                     double end, const SignalVariation::Variance& at_end);
  /// Measures the noise of legs and contacts. @param stands  whether a foot does, by its number.
  void adapt_noise(double t, const std::array<bool, kMaxFeet>& stands);
  bool is_walking(double t) const;
  void record(double t, EstimatorEvent kind, int foot, double size);
  void remember();
  /// The state at a time in the past, valid until the next call; null if that is not known.
  const PastState* past(double t);

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
  BaseMeasurement position_measurement(const FilterState& x, const Vector3<double>& p_WQ,
                                       const Vector3<double>& p_BQ,
                                       const Matrix3<double>& noise_W) const;
  /// Uncertainty of the present velocity over a delay, m.
  double drift_over(double delay) const;

  EstimatorOptions options_;
  LegKinematics legs_;
  FilterPtr filter_;
  RestInitializer rest_;
  std::vector<ContactDetector> detectors_;
  std::vector<FootStatus> feet_;
  std::vector<Measured> measured_;
  std::vector<FootStatistics> statistics_;
  std::array<double, 4> gates_;  ///< for 1, 2, 3 rows
  int points_ = 1;               ///< of a foot: three on a sole
  EstimatorDiagnostics diagnostics_;
  ConsistencyMonitor monitor_;
  SampleClock imu_clock_, leg_clock_;
  std::array<Event, kEvents> events_;
  std::uint64_t event_count_ = 0;
  static constexpr std::size_t kPast = 128;
  std::vector<PastState> past_;
  PastState then_;  ///< of the last call of past()
  std::size_t past_next_ = 0, past_count_ = 0;
  std::array<double, 32> treads_{};  ///< heights
  int tread_count_ = 0;
  double refused_height_ = 0;
  int heights_refused_ = 0;
  ImuNoise imu_noise_;
  FootNoise foot_noise_;
  SignalVariation variation_;
  StandstillDetector standstill_;
  /// Fading sum of the whitened innovations of all feet, its variance, and that of one update.
  Vector3<double> mean_sum_ = Vector3<double>::Zero();
  double mean_variance_ = 0, mean_level_ = 0;
  double shortest_swing_ = 0;  ///< s, of the last ones; 0 before the first
  bool gap_open_ = false;      ///< no foot has confirmed the state since a gap
  double t_imu_ = 0, t_feet_used_ = 0, t_slips_ = 0, t_biases_ = 0, t_legs_used_ = 0, t_gap_ = 0;
  double t_contacts_ = 0;  ///< last change of a contact
  int joint_slips_ = 0;
  bool ready_ = false, has_imu_ = false, lost_ = false;
  double t_ = 0, t_legs_ = 0, t_monitor_ = 0;
  double t_late_ = 0, first_late_ = 0;  ///< of late samples in order, last and first
  double feet_rejected_since_ = 0, positions_rejected_since_ = 0, yaws_rejected_since_ = 0;
  ImuSample last_;
};

}  // namespace limb
