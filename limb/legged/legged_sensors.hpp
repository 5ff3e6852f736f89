#pragma once

#include "limb/legged/legged_controller.hpp"
#include "limb/sim/world/sensors.hpp"

namespace limb {

/// Sensor errors of a simulated legged robot. Defaults: an IMU on a walking robot and the encoders
/// of a small robot.
struct LeggedNoise {
  ImuNoise imu = kWalkingImu;
  double gyro_bias = 0.01;     ///< rad/s, standard deviation of a constant bias
  double accel_bias = 0.03;    ///< m/s^2, likewise
  double encoder = 1e-3;       ///< rad, per sample
  double encoder_rate = 0.05;  ///< rad/s
  double foot_force = 0.003;   ///< fraction of the weight of the robot, each component
};

/// All sensors of a legged robot in a simulation: IMU, encoders, and a force sensor in each foot.
class LeggedSensors {
 public:
  /// @param imu_period  s between two samples. @throws Error for parameters out of range, or if a
  /// joint other than that of the base has several degrees of freedom.
  LeggedSensors(const LeggedRobot& robot, const LeggedNoise& noise, double imu_period,
                std::uint64_t seed);

  /// @param input  the present state, and the mean acceleration since the last sample.
  const ImuSample& read_imu(const SensorInput& input);
  const LegReadings& read_legs(const SensorInput& input);
  /// The true biases.
  const Vector3<double>& gyro_bias() const { return gyro_bias_; }
  const Vector3<double>& accel_bias() const { return accel_bias_; }

 private:
  Sensor gyro_, accel_, position_, velocity_;
  std::vector<Sensor> feet_;
  Vector3<double> gyro_bias_, accel_bias_;
  ImuSample imu_;
  LegReadings legs_;
};

}  // namespace limb
