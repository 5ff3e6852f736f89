#pragma once

#include "limb/legged/legged_controller.hpp"
#include "limb/sim/sensors.hpp"

namespace limb {

/// How the sensors of a simulated legged robot differ from the truth. Defaults: a common MEMS unit
/// and encoders of a small robot.
struct LeggedNoise {
  ImuNoise imu;
  double gyro_bias = 0.01;     ///< rad/s, deviation of a bias that is drawn once
  double accel_bias = 0.03;    ///< m/s^2, likewise
  double encoder = 1e-3;       ///< rad, of each sample
  double encoder_rate = 0.05;  ///< rad/s
  double foot_force = 0.003;   ///< of the robot's weight, each component
};

/// All sensors of a legged robot in a simulation: IMU, encoders, and a force sensor in each foot.
class LeggedSensors {
 public:
  /// @param imu_period  s between two samples. @throws Error for numbers out of range, or joints of
  /// several freedoms beside the base's.
  LeggedSensors(const LeggedRobot& robot, const LeggedNoise& noise, double imu_period,
                std::uint64_t seed);

  /// The state now, and the mean acceleration since the last sample: what an IMU integrates.
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
