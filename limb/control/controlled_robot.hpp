#pragma once

#include "limb/control/step_report.hpp"
#include "limb/dynamics/recursive/workspace.hpp"

namespace limb {

/// The largest torque of each velocity of the robot: zero where there is no motor, infinite where
/// the model has no effort limit.
class MotorLimits {
 public:
  /// The effort limits of the model.
  explicit MotorLimits(const Model<double>& model);
  /// Given limits, N m or N; still zero where there is no motor.
  /// @throws Error for a wrong size, a negative value or NaN.
  MotorLimits(const Model<double>& model, VectorIn<double>& largest);

  const VectorX<double>& largest() const { return largest_; }
  /// The first velocity without a motor, or -1.
  int first_without_motor() const { return first_without_motor_; }
  /// Clamps torques to the limits. @returns how many it clamped, not counting velocities without a
  /// motor.
  int apply(VectorOut<double> tau) const noexcept;
  /// Ends a step: clamps the torques, or sets all to zero if one is not finite.
  StepReport finish(VectorOut<double> tau) const noexcept;
  /// Ends a step that cannot be computed: all torques zero.
  static StepReport reject(Status status, VectorOut<double> tau) noexcept;

 private:
  VectorX<double> largest_;
  std::vector<bool> driven_;
  int first_without_motor_ = -1;
};

/// Shared by all controllers: a copy of the model, a workspace and the limits of the motors.
class ControlledRobot {
 public:
  explicit ControlledRobot(const Model<double>& model)
      : ControlledRobot(model, MotorLimits(model)) {}
  ControlledRobot(const Model<double>& model, MotorLimits limits);

  const Model<double>& model() const { return model_; }
  Workspace<double>& work() { return work_; }
  const MotorLimits& limits() const { return limits_; }
  int size() const { return model_.nv(); }
  bool fits(VectorIn<double>& q, VectorIn<double>& v, VectorIn<double>& tau) const noexcept {
    return q.size() == model_.nq() && v.size() == size() && tau.size() == size();
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

/// The effort or velocity limit of the joint that this velocity belongs to; infinite where the
/// model has none.
double dof_limit(const Model<double>& model, int velocity,
                 std::optional<double> DofLimits<double>::*which);

/// The effort limit of the joint that this velocity belongs to, N m or N; infinite where the model
/// has none.
double effort_limit(const Model<double>& model, int velocity);

/// The joint that a velocity belongs to, as "joint 'elbow'"; for messages.
std::string velocity_text(const Model<double>& model, int velocity);

}  // namespace limb
