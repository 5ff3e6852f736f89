#pragma once

#include "limb/dynamics/lagrange/torque_budget.hpp"
#include "limb/sim/log/log_writer.hpp"
#include "limb/sim/scenario/scenario.hpp"

namespace limb {

/// Writes the torque budget of a run, the topic `budget`, if the scenario asks for it: for each
/// velocity the terms inertial, centrifugal, coriolis, gravity, damping, friction, armature and
/// external, whose sum is the torque of the motors. `external` is what the motors supply against
/// all other forces: contacts, pushes, springs, stops, and the difference of a smooth friction from
/// Coulomb's.
class BudgetLog {
 public:
  explicit BudgetLog(const Scenario& scenario);
  std::vector<LogTopic> topics() const;
  /// @param a      accelerations at this state.
  /// @param motor  torques of the motors.
  void write(const RobotState<double>& state, const VectorX<double>& a,
             const VectorX<double>& motor, std::size_t topic, LogWriter& log);

 private:
  const Model<double>& model_;
  LogTopic topic_;  ///< without fields: nothing is logged
  Kinematics<double> kinematics_;
  TorqueBudgetScratch<double> scratch_;
  TorqueBudget<double> budget_;
  VectorX<double> values_;
};

}  // namespace limb
