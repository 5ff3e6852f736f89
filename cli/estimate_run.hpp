#pragma once

#include "cli/sensor_log.hpp"
#include "limb/estimate/base_estimator.hpp"
#include "limb/estimate/chi_square.hpp"

namespace limb::cli {

/// Where contacts come from.
enum class ContactSource { log, torque, always };

/// Numbers over time: what charts are made of. Errors are estimate minus truth, p and v in world
/// axes, rotation in those of the base; NaN where there is no truth.
struct EstimateSeries {
  std::vector<double> t;
  std::vector<std::vector<double>> value, error, sigma;  ///< p, rotation (rpy), v: nine each
  std::vector<std::vector<double>> truth;                ///< p, rpy, v
  std::vector<std::vector<double>> bias, bias_sigma;     ///< gyroscope, accelerometer: six
  std::vector<std::vector<double>> contact, nis;         ///< of each foot
  std::vector<double> nees;                              ///< of the nine
};

struct EstimateSummary {
  EstimateSeries series;
  bool has_truth = false;
  double ready_at = 0, seconds = 0, distance = 0;
  Vector3<double> rms_position, rms_velocity, rms_rotation;
  double end_position = 0, end_height = 0, end_yaw = 0;  ///< errors gained since the begin
  double nees = 0, nis = 0;
  Band nees_band;
  double microseconds = 0;  ///< of computing, for each sample of the IMU
  EstimatorDiagnostics diagnostics;
};

/// Replays a log. @throws Error if the log does not hold what is needed, or (computation failed) if
/// there is never a moment of rest to begin from.
EstimateSummary run_estimate(const std::string& call, const SensorLog& log,
                             const Model<double>& model, const std::vector<std::string>& feet,
                             const std::string& imu, EstimatorOptions options,
                             ContactSource contacts);

}  // namespace limb::cli
