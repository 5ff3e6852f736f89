#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "cli/sensor_log.hpp"
#include "limb/estimate/contact/momentum_observer.hpp"
#include "limb/estimate/estimator/base_smoother.hpp"
#include "limb/estimate/estimator/noise_estimate.hpp"
#include "limb/estimate/filter/chi_square.hpp"

namespace limb::cli {

/// Source of the contact states.
enum class ContactSource { log, torque, always };

/// Time series for the charts. Errors are estimate minus truth, p and v in world axes, rotation in
/// base axes; NaN without truth.
struct EstimateSeries {
  std::vector<double> t;
  std::vector<std::vector<double>> value, error, sigma;  ///< p, rotation (rpy), v: nine each
  std::vector<std::vector<double>> truth;                ///< p, rpy, v
  std::vector<std::vector<double>> bias, bias_sigma;     ///< gyroscope, accelerometer: six
  std::vector<std::vector<double>> contact, nis;         ///< per foot
  std::vector<double> nees;                              ///< of p, rotation and v
};

struct EstimateSummary {
  EstimateSeries series;  ///< of long logs, every second, fourth, ... row
  bool has_truth = false, smoothed = false;
  double filter_rms_position = 0;  ///< of the filter, if smoothed: m
  std::uint64_t rows = 0;
  double ready_at = 0, seconds = 0, distance = 0;
  Eigen::Matrix<double, 9, 1> end = Eigen::Matrix<double, 9, 1>::Zero();        ///< p, rpy, v
  Eigen::Matrix<double, 9, 1> end_sigma = Eigen::Matrix<double, 9, 1>::Zero();  ///< deviations
  Vector3<double> rms_position, rms_velocity, rms_rotation;
  double end_position = 0, end_height = 0, end_yaw = 0;  ///< change of the error since the start
  double nees = 0, nis = 0;
  ChiSquareBand nees_band;
  double microseconds = 0;  ///< computing time per IMU sample
  EstimatorDiagnostics diagnostics;
  ConsistencyMonitor::Result verdict;
  double gate = 0;  ///< of the NIS of a foot
  std::vector<FootStatistics> feet;
  std::vector<BaseEstimator::Event> events;  ///< the first kMostEvents
  static constexpr std::size_t kMostEvents = 10000;
  EstimatorOptions options;
};

/// The state at the start of an estimate, if it is given.
struct InitialState {
  Vector3<double> p_WB = Vector3<double>::Zero(), rpy = Vector3<double>::Zero(),
                  v_WB = Vector3<double>::Zero();
};

/// What a log has to say before the estimate: its noise, its rest, and the truth at the start.
class LogSurvey {
 public:
  LogSurvey(const LegKinematics& legs, const EstimatorOptions& options, ContactSource contacts);
  /// The next part. @returns whether it needs more: two minutes are enough.
  bool add(const SensorLog& log);
  NoiseEstimate noise() const { return noise_.result(); }
  bool has_rest() const { return estimator_.ready(); }
  /// Position and yaw of the truth when the robot has been at rest; false if not in the log.
  bool has_truth() const { return has_truth_; }
  const Vector3<double>& p_WB() const { return p_WB_; }
  double yaw() const { return yaw_; }

 private:
  LegKinematics legs_;
  BaseEstimator estimator_;
  NoiseEstimator noise_;
  ContactSource contacts_;
  std::vector<ContactDetector> detectors_;
  std::vector<double> forces_;
  double make_force_, start_;
  bool started_ = false, has_truth_ = false;
  Vector3<double> p_WB_ = Vector3<double>::Zero();
  double yaw_ = 0;
};

/// Runs the estimator on a log that is given in parts.
class EstimateRun {
 public:
  /// @throws Error for invalid options.
  /// @param smooth  fixed-interval smoothing: estimates are made by finish().
  EstimateRun(std::string call, const LegKinematics& legs, const EstimatorOptions& options,
              ContactSource contacts, const std::optional<InitialState>& start = {},
              bool smooth = false);

  /// Called with each estimate: t, value (p, rpy, v), deviations, biases (gyroscope,
  /// accelerometer), contacts.
  struct Row {
    double t;
    Eigen::Matrix<double, 9, 1> value, sigma;
    Eigen::Matrix<double, 6, 1> bias;
    VectorX<double> contact;
  };
  std::function<void(const Row&)> on_row;

  /// The next part. @throws Error if the log lacks a required topic.
  void add(SensorLog log);
  /// @throws Error (computation failed) if the robot never stood still, so that the estimate did
  /// not start.
  EstimateSummary finish();

 private:
  /// The true state of the base at one time, if the log has it, and the feet.
  struct Surroundings {
    double t = 0;
    bool known = false;
    Pose<double> X_WB;
    Vector3<double> v_WB = Vector3<double>::Zero();
    std::vector<double> contact, nis;
  };
  const BaseEstimator& estimator() const { return smoother_ ? smoother_->estimator() : estimator_; }
  /// Gives an input to the estimator or to the smoother.
  template <typename Input>
  auto give(const Input& input) {
    return smoother_ ? input(*smoother_) : input(estimator_);
  }
  void add_leg(const SensorLog& log, std::size_t k);
  void add_fix(const Fix& fix);
  void add_row(double t, const SensorLog& log);
  void use_row(const BaseEstimate& e, const Eigen::Matrix<double, 6, 1>& bias_sigma,
               const Surroundings& around);
  void store(const Surroundings& around);
  Surroundings stored(std::size_t row) const;
  void smooth();
  void thin_out();

  std::string call_;
  EstimatorOptions options_;
  BaseEstimator estimator_;
  std::optional<BaseSmoother> smoother_;
  NumberStore surroundings_{BaseSmoother::kMemory};
  ContactSource contacts_;
  std::optional<InitialState> start_;
  MomentumObserver observer_;
  FootForces foot_forces_;
  EstimateSummary summary_;
  SensorLog left_;  ///< joint samples after the last IMU sample of a part
  std::vector<double> forces_;
  VectorX<double> q_, v_;
  double previous_leg_;
  std::chrono::steady_clock::duration spent_{};
  std::uint64_t imu_samples_ = 0, seen_events_ = 0, truths_ = 0, stride_ = 1;
  Eigen::Matrix<double, 9, 1> squares_ = Eigen::Matrix<double, 9, 1>::Zero(), first_error_,
                              last_error_;
  double nees_sum_ = 0, filter_squares_ = 0;
  std::uint64_t filter_truths_ = 0;
  Vector3<double> last_point_ = Vector3<double>::Zero();
  bool has_point_ = false, point_is_truth_ = false;
  std::size_t truth_row_ = 0;
};

/// The whole log at once.
EstimateSummary run_estimate(const std::string& call, const SensorLog& log,
                             const LegKinematics& legs, const EstimatorOptions& options,
                             ContactSource contacts);

}  // namespace limb::cli
