#pragma once

#include <string>
#include <vector>

#include "cli/log_file.hpp"
#include "limb/estimate/filter/imu.hpp"
#include "limb/model/core/model.hpp"

/// Measurements of a log for the estimator: IMU, joints, contacts, and the truth.
namespace limb::cli {

/// Names of topics; empty names are found by their fields (docs/estimation.md).
struct SensorTopics {
  std::string accelerometer, gyroscope, positions, velocities, truth;
  std::vector<std::string> contacts;  ///< one for all feet, or one per foot
};

struct SensorLog {
  std::vector<double> imu_t;
  std::vector<ImuSample> imu;
  std::vector<double> leg_t;
  std::vector<VectorX<double>> q, v;        ///< of the whole robot, with a neutral base
  std::vector<std::vector<double>> forces;  ///< per foot; empty if the log has no contacts
  std::vector<VectorX<double>> tau;         ///< motor torques; empty if not in the log
  std::vector<double> truth_t;
  std::vector<VectorX<double>> q_true, v_true;  ///< with the base; empty if not in the log
  std::string notice;                           ///< which topics are used
};

/// Names of the joints with one degree of freedom, which encoders measure.
std::vector<std::string> encoder_names(const Model<double>& model, bool velocities);

/// Finds the topics and reads them.
/// @throws Error "call: ..." that names the missing topic or field, and the existing ones.
SensorLog read_sensors(const std::string& call, const LogData& log, const Model<double>& model,
                       const std::vector<std::string>& feet, const SensorTopics& topics);

}  // namespace limb::cli
