#pragma once

#include <string>
#include <vector>

#include "limb/dynamics/frames.hpp"
#include "limb/sim/random.hpp"
#include "limb/sim/world.hpp"

namespace limb {

/// "elbow", or "root.0" and so on for joints of several freedoms: one for each of the robot's own
/// coordinates, one for each of its velocities.
std::vector<std::string> position_names(const Model<double>& model);
std::vector<std::string> velocity_names(const Model<double>& model);

/// How a sensor differs from the truth. Each of its channels has the same numbers and noise of its
/// own.
struct SensorErrors {
  double noise = 0;       ///< standard deviation of each sample, in the sensor's unit
  double bias = 0;        ///< constant, in the sensor's unit
  double bias_walk = 0;   ///< standard deviation that the bias gains in one second, unit/sqrt(s)
  double resolution = 0;  ///< smallest step of a reading; 0: none
  double range = std::numeric_limits<double>::infinity();  ///< readings end at +-range
  double period = 0;  ///< s between samples; 0: as often as it is asked
  double delay = 0;   ///< s from a sample to its reading
};

/// What sensors are asked about: a state with the rates that belong to it.
struct SensorInput {
  const Model<double>& model;
  const State<double>& state;
  const VectorX<double>& a;              ///< accelerations
  const VectorX<double>& motor_torque;   ///< of all velocities
  const Kinematics<double>& kinematics;  ///< of order acceleration
  const Contacts* contacts = nullptr;    ///< of the step that ended here; null: none
};

/// Something that is measured: names of its channels, and their true values.
class Quantity {
 public:
  virtual ~Quantity() = default;
  virtual std::vector<std::string> channels(const Model<double>& model) const = 0;
  /// Writes the true values. Must not allocate.
  virtual void measure(const SensorInput& input, VectorX<double>& values) const = 0;
};

/// Specific force f = a - g at the origin of a frame, m/s^2, and its angular velocity, rad/s, both
/// in the frame's axes: at rest the accelerometer shows what holds it against the weight, +9.81
/// upwards. Channels NAME.fx fy fz wx wy wz.
class Imu final : public Quantity {
 public:
  enum class Part { accelerometer, gyroscope };
  Imu(FrameId frame, Part part) : frame_(frame), part_(part) {}
  std::vector<std::string> channels(const Model<double>&) const override;
  void measure(const SensorInput& input, VectorX<double>& values) const override;

 private:
  FrameId frame_;
  Part part_;
};

/// Positions or velocities of joints of one freedom, followers included.
class Encoder final : public Quantity {
 public:
  enum class Part { position, velocity };
  /// All joints of one freedom if none are given. @throws Error for others.
  Encoder(const Model<double>& model, Part part, std::vector<std::string> joints = {});
  std::vector<std::string> channels(const Model<double>&) const override { return joints_; }
  void measure(const SensorInput& input, VectorX<double>& values) const override;

 private:
  Part part_;
  std::vector<std::string> joints_;
  std::vector<JointPlace> places_;
};

/// Torques of the motors on the robot's own velocities.
class TorqueSensor final : public Quantity {
 public:
  std::vector<std::string> channels(const Model<double>& model) const override;
  void measure(const SensorInput& input, VectorX<double>& values) const override;
};

/// Whether a foot or link touches: 1, else 0.
class ContactSwitch final : public Quantity {
 public:
  explicit ContactSwitch(FrameId frame) : frame_(frame) {}
  std::vector<std::string> channels(const Model<double>&) const override { return {"touches"}; }
  void measure(const SensorInput& input, VectorX<double>& values) const override;

 private:
  FrameId frame_;
};

/// Contact force on a foot or link and its moment about the frame's origin, in the frame's axes: N,
/// N m. Which contacts count: Contacts::force_on.
class ForceSensor final : public Quantity {
 public:
  explicit ForceSensor(FrameId frame) : frame_(frame) {}
  std::vector<std::string> channels(const Model<double>&) const override {
    return {"fx", "fy", "fz", "nx", "ny", "nz"};
  }
  void measure(const SensorInput& input, VectorX<double>& values) const override;

 private:
  FrameId frame_;
};

/// The truth: q, v and a of the robot's own coordinates.
class GroundTruth final : public Quantity {
 public:
  std::vector<std::string> channels(const Model<double>& model) const override;
  void measure(const SensorInput& input, VectorX<double>& values) const override;
};

/// A sensor: a quantity and its errors. The truth is sampled every period, gets bias and noise, is
/// rounded to the resolution and cut at the range, and is readable a delay later.
class Sensor {
 public:
  Sensor(const Model<double>& model, std::string name, std::unique_ptr<Quantity> quantity,
         const SensorErrors& errors, std::uint64_t seed);

  const std::string& name() const { return name_; }
  const std::vector<std::string>& channels() const { return channels_; }

  /// Time goes on. To be called at least once a period, in order; samples are taken at the first
  /// call at or after each multiple of the period. @returns whether a new reading came.
  bool update(const SensorInput& input);
  /// The newest reading and when it was sampled; nothing before the first: NaN, and time -infinity.
  const VectorX<double>& reading() const { return reading_; }
  double sampled_at() const { return reading_time_; }
  /// The present bias of each channel: for the truth in logs.
  const VectorX<double>& bias() const { return bias_; }

 private:
  void take(const SensorInput& input);

  std::string name_;
  std::unique_ptr<Quantity> quantity_;
  SensorErrors errors_;
  NoiseSource noise_;
  std::vector<std::string> channels_;
  VectorX<double> bias_, reading_, sample_;
  double reading_time_ = -std::numeric_limits<double>::infinity();
  double last_sample_ = -std::numeric_limits<double>::infinity();
  double next_index_ = 0;  ///< of the sample to be taken
  // Samples on their way, a ring of columns.
  MatrixX<double> queue_;
  std::vector<double> times_;
  std::size_t first_ = 0, count_ = 0;
};

}  // namespace limb
