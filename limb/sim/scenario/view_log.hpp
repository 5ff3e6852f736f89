#pragma once

#include <vector>

#include "limb/dynamics/kinematics/forward_kinematics.hpp"
#include "limb/sim/log/log_writer.hpp"
#include "limb/sim/scenario/scenario.hpp"

namespace limb {

/// Topics from which viewers draw the robot: `tf` (poses of all links), `joint_states`, and with
/// contact `scene`, its forces as arrows. The robot's weight is an arrow of 0.5 m.
class ViewLog {
 public:
  explicit ViewLog(const Scenario& scenario) : ViewLog(scenario.model) {}
  /// A robot that is not simulated: `tf` and `joint_states`.
  explicit ViewLog(const Model<double>& model);

  static std::vector<LogTopic> topics(const Scenario& scenario);
  static std::vector<LogTopic> topics(const Model<double>& model);
  /// At most 30 times per second of simulated time. @param first  index of the first topic.
  void write(const World& world, const RobotState<double>& state, std::size_t first,
             LogWriter& log);
  /// The same without torques and contacts.
  void write(const Model<double>& model, const RobotState<double>& state, std::size_t first,
             LogWriter& log);

 private:
  /// False if the last message is too recent.
  bool is_due(double t);
  /// @param torque  of the motors, nv numbers; null: unknown.
  void write_robot(const Model<double>& model, const RobotState<double>& state,
                   const VectorX<double>* torque, std::size_t first, LogWriter& log);

  Kinematics<double> kinematics_;
  double meters_per_newton_;
  double next_ = 0;
  VectorX<double> poses_, joints_, arrows_;
};

}  // namespace limb
