#pragma once

#include <limits>
#include <vector>

#include "limb/sim/integrate/equation.hpp"

namespace limb {

/// A motor with gear, drive electronics and delay. The command is a torque on the joint side of the
/// gear, N m or N; the actual torque is the command delayed, filtered by a first-order lag, and
/// limited, in this order.
struct Actuator {
  int velocity = 0;  ///< index of the velocity that it drives
  /// On the joint side; infinite: no limit.
  double torque_limit = std::numeric_limits<double>::infinity();
  double gear = 1;  ///< gear ratio: motor speed over joint speed
  /// Torque-speed line of the motor, on the motor side of the gear: stall torque and no-load speed.
  /// The available torque decreases linearly with speed; infinite: constant.
  double stall_torque = std::numeric_limits<double>::infinity();
  double no_load_speed = std::numeric_limits<double>::infinity();
  double time_constant = 0;  ///< s, of the lag; 0: no lag
  double delay = 0;          ///< s
};

/// One actuator per actuated velocity of the model, ideal except for the joint's effort limit.
std::vector<Actuator> ideal_actuators(const Model<double>& model);

class Actuators {
 public:
  /// @throws Error for an unknown velocity, two actuators on one velocity, or negative parameters.
  Actuators(const Model<double>& model, std::vector<Actuator> actuators);

  /// Whether torques depend on the velocities in the present state (torque-speed lines).
  bool depend_on_velocity() const { return depend_on_velocity_; }
  /// Number of states of the lags.
  int lags() const { return lags_; }
  /// Period of the commands, s; allocates the buffer of delayed commands.
  void set_command_period(double period);
  /// @throws Error (computation failed, with the time) if a torque is not finite, or nonzero on a
  /// velocity without actuator.
  void command(double t, VectorIn<double>& tau);
  /// Called at the start of a step: the command of a delay ago is held to its end.
  void begin_step(double t);
  /// The next time at which a delayed command arrives.
  double next_jump(double t) const;

  /// Torques on all velocities, and the rates of the lags. Does not allocate.
  void evaluate(const RobotState<double>& s, VectorX<double>& tau, VectorX<double>& dx) const;

 private:
  const Model<double>* model_;  ///< outlives this
  std::vector<Actuator> actuators_;
  std::vector<int> lag_of_;  ///< index in x, or -1
  int lags_ = 0;
  bool depend_on_velocity_ = false;
  double longest_delay_ = 0;
  VectorX<double> held_;       ///< command of each actuator
  MatrixX<double> commands_;   ///< ring buffer of columns
  std::vector<double> times_;  ///< of each column; NaN: unused
  std::size_t next_ = 0;
};

}  // namespace limb
