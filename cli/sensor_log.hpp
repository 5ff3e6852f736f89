#pragma once

#include <string>
#include <vector>

#include "cli/log_file.hpp"
#include "limb/estimate/estimator/base_estimator.hpp"
#include "limb/model/core/model.hpp"

/// Measurements of a log for the estimator: IMU, joints, contacts, and the truth.
namespace limb::cli {

/// Names of topics; empty names are found by their fields (docs/estimation.md).
struct SensorTopics {
  std::string accelerometer, gyroscope, positions, velocities, truth;
  std::vector<std::string> contacts;  ///< one for all feet, or one per foot
  /// Several IMUs on the base: their frames, which are also the names of their topics.
  std::vector<std::string> imus = {};
  double fix_delay = 0;  ///< s from the measurement of a fix to its stamp
};

/// An external measurement.
struct Fix {
  enum class Kind { position, yaw, orientation, velocity, body_velocity };
  double t = 0;
  Kind kind{};
  Vector3<double> value = Vector3<double>::Zero();  ///< m, m/s; yaw in x
  Matrix3<double> R_WB = Matrix3<double>::Identity();
  double deviation = 0;  ///< m, m/s, rad
};

struct SensorLog {
  std::vector<double> imu_t;
  std::vector<ImuSample> imu;
  std::vector<double> leg_t;
  std::vector<VectorX<double>> q, v;          ///< of the whole robot, with a neutral base
  std::vector<std::vector<FootSample>> feet;  ///< measured directly; empty if not in the log
  std::vector<std::vector<double>> forces;    ///< per foot; empty if the log has no contacts
  std::vector<VectorX<double>> tau;           ///< motor torques; empty if not in the log
  std::vector<Fix> fixes;                     ///< in order of the log
  std::vector<double> truth_t;
  std::vector<VectorX<double>> q_true, v_true;  ///< with the base; empty if not in the log
  std::string notice;                           ///< which topics are used
};

/// Names of the joints with one degree of freedom, which encoders measure.
std::vector<std::string> encoder_names(const Model<double>& model, bool velocities);

/// The mean of several IMUs that are fixed to the base is that of one at the mean of their
/// positions, in axes of the first. @throws Error if joints move one of them.
Pose<double> mean_imu(const std::string& call, const Model<double>& model,
                      const std::vector<std::string>& frames);

/// Finds the topics and reads them. Joints that are not between base, IMU and feet are not needed.
/// @throws Error "call: ..." that names the missing topic or field, and the existing ones.
SensorLog read_sensors(const std::string& call, const LogData& log, const LegKinematics& legs,
                       const SensorTopics& topics);

}  // namespace limb::cli
