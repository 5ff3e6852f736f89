#pragma once

#include <string>
#include <vector>

#include "cli/log_file.hpp"
#include "limb/estimate/imu.hpp"
#include "limb/estimate/synthetic_walk.hpp"

/// What a log says to an estimator: samples of the IMU, of joints and contacts, and the truth.
namespace limb::cli {

/// Topics by name; empty: found by their fields (docs/estimation.md).
struct SensorTopics {
  std::string accelerometer, gyroscope, positions, velocities, truth;
  std::vector<std::string> contacts;  ///< one for all feet, or one for each
};

struct SensorLog {
  std::vector<double> imu_t;
  std::vector<ImuSample> imu;
  std::vector<double> leg_t;
  std::vector<VectorX<double>> q, v;        ///< of the whole robot, base neutral
  std::vector<std::vector<double>> forces;  ///< at each foot; empty: no contacts in the log
  std::vector<VectorX<double>> tau;         ///< of the motors; empty: none in the log
  std::vector<double> truth_t;
  std::vector<VectorX<double>> q_true, v_true;  ///< base included; empty: none in the log
  std::string notice;                           ///< what was taken for what
};

/// Names of the joints of one freedom: what encoders measure.
std::vector<std::string> encoder_names(const Model<double>& model, bool velocities);

/// @throws Error "call: ..." that says which topic or field is missing, and which there are.
SensorLog read_sensors(const std::string& call, const LogData& log, const Model<double>& model,
                       const std::vector<std::string>& feet, const SensorTopics& topics);

/// A synthetic walk as its sensors show it, as a log of these topics: imu, position, velocity,
/// contact, truth.
void write_walk_log(const std::string& call, const std::string& path, const SyntheticWalk& walk,
                    const WalkErrors& errors, std::uint64_t seed, const std::string& model_name);

}  // namespace limb::cli
