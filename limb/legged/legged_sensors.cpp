#include "limb/legged/legged_sensors.hpp"

#include <cmath>

#include "limb/base/check.hpp"

namespace limb {
namespace {

FrameId imu_frame(const LeggedRobot& robot) {
  return robot.model.find_frame(robot.imu.empty() ? robot.model.bodies()[1].link : robot.imu);
}

/// White noise of this density, sampled every `period`, and a random walk of the bias.
SensorErrors imu_errors(double density, double walk, double period) {
  check_positive("LeggedSensors", "imu_period", period);
  SensorErrors errors;
  errors.noise = density / std::sqrt(period);
  errors.bias_walk = walk;
  return errors;
}

SensorErrors white_noise(double deviation) {
  SensorErrors errors;
  errors.noise = deviation;
  return errors;
}

Vector3<double> draw_bias(double deviation, std::uint64_t seed) {
  check_not_negative("LeggedSensors", "bias", deviation);
  NoiseGenerator noise(seed);
  Vector3<double> x;
  for (auto& c : x) c = deviation * noise.normal();
  return x;
}

}  // namespace

LeggedSensors::LeggedSensors(const LeggedRobot& robot, const LeggedNoise& noise, double period,
                             std::uint64_t seed)
    : gyro_(robot.model, "gyroscope", std::make_unique<Imu>(imu_frame(robot), Imu::Part::gyroscope),
            imu_errors(noise.imu.gyro, noise.imu.gyro_walk, period), derived_seed(seed, 0)),
      accel_(robot.model, "accelerometer",
             std::make_unique<Imu>(imu_frame(robot), Imu::Part::accelerometer),
             imu_errors(noise.imu.accel, noise.imu.accel_walk, period), derived_seed(seed, 1)),
      position_(robot.model, "position",
                std::make_unique<Encoder>(robot.model, Encoder::Part::position),
                white_noise(noise.encoder), derived_seed(seed, 2)),
      velocity_(robot.model, "velocity",
                std::make_unique<Encoder>(robot.model, Encoder::Part::velocity),
                white_noise(noise.encoder_rate), derived_seed(seed, 3)),
      gyro_bias_(draw_bias(noise.gyro_bias, derived_seed(seed, 4))),
      accel_bias_(draw_bias(noise.accel_bias, derived_seed(seed, 5))) {
  const auto joints = static_cast<std::ptrdiff_t>(position_.channels().size());
  if (joints != robot.model.nq() - 7 || joints != robot.model.nv() - 6) {
    fail("LeggedSensors", "robot '" + robot.model.name() + "'",
         "one with coupled joints or joints with several degrees of freedom",
         "joints with one degree of freedom each");
  }
  const double weight = robot.model.total_mass() * robot.model.gravity().norm();
  for (std::size_t i = 0; i < robot.feet.size(); ++i) {
    feet_.emplace_back(robot.model, robot.feet[i],
                       std::make_unique<ForceSensor>(robot.model.find_frame(robot.feet[i])),
                       white_noise(noise.foot_force * weight), derived_seed(seed, 6 + i));
  }
  legs_.foot_force.assign(robot.feet.size(), 0);
}

const ImuSample& LeggedSensors::read_imu(const SensorInput& input) {
  gyro_.update(input);
  accel_.update(input);
  imu_.gyro = gyro_.reading() + gyro_bias_;
  imu_.accel = accel_.reading() + accel_bias_;
  return imu_;
}

const LegReadings& LeggedSensors::read_legs(const SensorInput& input) {
  position_.update(input);
  velocity_.update(input);
  legs_.joint_q = position_.reading();
  legs_.joint_v = velocity_.reading();
  for (std::size_t i = 0; i < feet_.size(); ++i) {
    feet_[i].update(input);
    legs_.foot_force[i] = feet_[i].reading().head<3>().norm();
  }
  return legs_;
}

}  // namespace limb
