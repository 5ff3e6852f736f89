#pragma once

#include <string>
#include <vector>

#include "limb/dynamics/kinematics/frames.hpp"
#include "limb/math/noise_generator.hpp"
#include "limb/sim/world/world.hpp"

namespace limb {

/// Names of the coordinates and of the velocities of a robot: "elbow", or "root.0" and so on for
/// joints with several degrees of freedom.
std::vector<std::string> position_names(const Model<double>& model);
std::vector<std::string> velocity_names(const Model<double>& model);

/// Errors of a sensor. All channels have the same parameters and independent noise.
struct SensorErrors {
  double noise = 0;       ///< standard deviation of each sample, in the unit of the sensor
  double bias = 0;        ///< constant, in the unit of the sensor
  double bias_walk = 0;   ///< random walk of the bias: standard deviation after 1 s, unit/sqrt(s)
  double resolution = 0;  ///< quantization step; 0: none
  double range = std::numeric_limits<double>::infinity();  ///< readings saturate at +-range
  double period = 0;  ///< s between samples; 0: at every update()
  double delay = 0;   ///< s from a sample to its reading
};

/// Input of sensors: a state with its accelerations and torques.
struct SensorInput {
  const Model<double>& model;
  const RobotState<double>& state;
  const VectorX<double>& a;              ///< accelerations
  const VectorX<double>& motor_torque;   ///< on all velocities
  const Kinematics<double>& kinematics;  ///< of order acceleration
  const Contacts* contacts = nullptr;    ///< of the step that ended here; null: none
};

/// A measured quantity: names of its channels, and their true values.
class MeasuredQuantity {
 public:
  virtual ~MeasuredQuantity() = default;
  virtual std::vector<std::string> channels(const Model<double>& model) const = 0;
  /// Writes the true values. Must not allocate.
  virtual void measure(const SensorInput& input, VectorX<double>& values) const = 0;
};

/// Specific force f = a - g at the origin of a frame, m/s^2, and its angular velocity, rad/s, both
/// in the frame's axes: at rest the accelerometer measures -g, +9.81 upward. Channels NAME.fx fy fz
/// wx wy wz.
class Imu final : public MeasuredQuantity {
 public:
  enum class Part { accelerometer, gyroscope };
  Imu(FrameId frame, Part part) : frame_(frame), part_(part) {}
  std::vector<std::string> channels(const Model<double>&) const override;
  void measure(const SensorInput& input, VectorX<double>& values) const override;

 private:
  FrameId frame_;
  Part part_;
};

/// Positions or velocities of joints with one degree of freedom, including followers of couplings.
class Encoder final : public MeasuredQuantity {
 public:
  enum class Part { position, velocity };
  /// Default: all joints with one degree of freedom. @throws Error for other joints.
  Encoder(const Model<double>& model, Part part, std::vector<std::string> joints = {});
  std::vector<std::string> channels(const Model<double>&) const override { return joints_; }
  void measure(const SensorInput& input, VectorX<double>& values) const override;

 private:
  Part part_;
  std::vector<std::string> joints_;
  std::vector<JointCoordinate> coordinates_;
};

/// Motor torques on the velocities of the robot.
class TorqueSensor final : public MeasuredQuantity {
 public:
  std::vector<std::string> channels(const Model<double>& model) const override;
  void measure(const SensorInput& input, VectorX<double>& values) const override;
};

/// 1 if a foot or link is in contact, else 0.
class ContactSwitch final : public MeasuredQuantity {
 public:
  explicit ContactSwitch(FrameId frame) : frame_(frame) {}
  std::vector<std::string> channels(const Model<double>&) const override { return {"touches"}; }
  void measure(const SensorInput& input, VectorX<double>& values) const override;

 private:
  FrameId frame_;
};

/// Contact force on a foot or link and its moment about the origin of the frame, in its axes: N,
/// N m (see Contacts::force_on).
class ForceSensor final : public MeasuredQuantity {
 public:
  explicit ForceSensor(FrameId frame) : frame_(frame) {}
  std::vector<std::string> channels(const Model<double>&) const override {
    return {"fx", "fy", "fz", "nx", "ny", "nz"};
  }
  void measure(const SensorInput& input, VectorX<double>& values) const override;

 private:
  FrameId frame_;
};

/// True q, v and a of the robot.
class GroundTruth final : public MeasuredQuantity {
 public:
  std::vector<std::string> channels(const Model<double>& model) const override;
  void measure(const SensorInput& input, VectorX<double>& values) const override;
};

/// A sensor: a quantity with errors. The true value is sampled every period, gets bias and noise,
/// is quantized and saturated, and is available after the delay.
class Sensor {
 public:
  Sensor(const Model<double>& model, std::string name, std::unique_ptr<MeasuredQuantity> quantity,
         const SensorErrors& errors, std::uint64_t seed);

  const std::string& name() const { return name_; }
  const std::vector<std::string>& channels() const { return channels_; }

  /// Advances the time. To be called at least once per period, in order of time; samples are taken
  /// at the first call at or after each multiple of the period. @returns whether there is a new
  /// reading.
  bool update(const SensorInput& input);
  /// The newest reading and its sample time; before the first one NaN and -infinity.
  const VectorX<double>& reading() const { return reading_; }
  double sampled_at() const { return reading_time_; }
  /// The present bias of each channel.
  const VectorX<double>& bias() const { return bias_; }

 private:
  void sample(const SensorInput& input);

  std::string name_;
  std::unique_ptr<MeasuredQuantity> quantity_;
  SensorErrors errors_;
  NoiseGenerator noise_;
  std::vector<std::string> channels_;
  VectorX<double> bias_, reading_, sample_;
  double reading_time_ = -std::numeric_limits<double>::infinity();
  double last_sample_ = -std::numeric_limits<double>::infinity();
  double next_index_ = 0;  ///< of the next sample
  // Delayed samples: ring buffer of columns.
  MatrixX<double> queue_;
  std::vector<double> times_;
  std::size_t first_ = 0, count_ = 0;
};

}  // namespace limb
