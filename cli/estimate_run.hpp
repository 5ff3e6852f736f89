#pragma once

#include "cli/sensor_log.hpp"
#include "limb/estimate/estimator/base_estimator.hpp"
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
  EstimateSeries series;
  bool has_truth = false;
  double ready_at = 0, seconds = 0, distance = 0;
  Vector3<double> rms_position, rms_velocity, rms_rotation;
  double end_position = 0, end_height = 0, end_yaw = 0;  ///< change of the error since the start
  double nees = 0, nis = 0;
  ChiSquareBand nees_band;
  double microseconds = 0;  ///< computing time per IMU sample
  EstimatorDiagnostics diagnostics;
};

/// Runs the estimator on a log. @throws Error if the log lacks a required topic, or (computation
/// failed) if the robot never stands still, so that the estimate cannot start.
EstimateSummary run_estimate(const std::string& call, const SensorLog& log,
                             const Model<double>& model, const std::vector<std::string>& feet,
                             const std::string& imu, EstimatorOptions options,
                             ContactSource contacts);

}  // namespace limb::cli
