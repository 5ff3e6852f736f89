#pragma once

#include "limb/control/step_report.hpp"
#include "limb/dynamics/workspace.hpp"

namespace limb {

/// The largest torque of each of the robot's own velocities: zero where there is no motor, infinite
/// where the model names no effort limit.
class MotorLimits {
 public:
  /// As the model says.
  explicit MotorLimits(const Model<double>& model);
  /// Others, N m or N; where there is no motor, zero all the same.
  /// @throws Error for a wrong size, a negative number or one that is not a number.
  MotorLimits(const Model<double>& model, VectorIn<double>& largest);

  const VectorX<double>& largest() const { return largest_; }
  /// The first velocity without a motor, or -1.
  int first_without_motor() const { return first_without_motor_; }
  /// Cuts torques to the limits. @returns how many it cut; those without a motor do not count.
  int apply(VectorOut<double> tau) const noexcept;
  /// The end of a step: torques within the limits; all zero if one is not finite.
  StepReport finish(VectorOut<double> tau) const noexcept;
  /// The end of a step that cannot be made: all torques zero.
  static StepReport refuse(StepReport::Problem problem, VectorOut<double> tau) noexcept;

 private:
  VectorX<double> largest_;
  std::vector<bool> driven_;
  int first_without_motor_ = -1;
};

/// What all controllers hold: a copy of the robot, room to compute in, limits of the motors.
class ControlledRobot {
 public:
  explicit ControlledRobot(const Model<double>& model)
      : ControlledRobot(model, MotorLimits(model)) {}
  ControlledRobot(const Model<double>& model, MotorLimits limits);

  const Model<double>& model() const { return model_; }
  Workspace<double>& work() { return work_; }
  const MotorLimits& limits() const { return limits_; }
  int size() const { return model_.velocity_size(); }
  bool fits(VectorIn<double>& q, VectorIn<double>& v, VectorIn<double>& tau) const noexcept {
    return q.size() == model_.position_size() && v.size() == size() && tau.size() == size();
  }
  /// @throws Error "call: ..." if there is a velocity without a motor.
  void check_all_driven(const char* call) const;
  /// @throws Error "call: ..." if the robot has closed loops.
  void check_tree(const char* call) const;

 private:
  Model<double> model_;
  Workspace<double> work_;
  MotorLimits limits_;
};

/// A limit of the joint that owns this velocity, effort or velocity; infinite where the model names
/// none.
double dof_limit(const Model<double>& model, int velocity,
                 std::optional<double> DofLimits<double>::*which);

/// The largest torque of the joint that owns this velocity, N m or N, as the model says; infinite
/// where it names none.
double effort_limit(const Model<double>& model, int velocity);

/// "joint 'elbow'", the joint that a velocity belongs to; for messages.
std::string velocity_text(const Model<double>& model, int velocity);

}  // namespace limb
