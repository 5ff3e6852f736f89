#pragma once

#include <limits>
#include <vector>

#include "limb/sim/equation.hpp"

namespace limb {

/// A motor with its gear, drive electronics and their delay. What is commanded is a torque on the
/// joint's side of the gear, N m or N; what arrives there is, in this order, delayed, smoothed by a
/// first-order lag, and limited.
struct Actuator {
  int velocity = 0;  ///< which of the robot's own velocities it drives
  /// On the joint's side; infinite: no limit.
  double torque_limit = std::numeric_limits<double>::infinity();
  double gear = 1;  ///< motor turns for each turn of the joint
  /// The motor's torque-speed line, on its own side of the gear: torque at rest, speed without
  /// load. The torque it can give falls with the speed; infinite: it does not.
  double stall_torque = std::numeric_limits<double>::infinity();
  double no_load_speed = std::numeric_limits<double>::infinity();
  double time_constant = 0;  ///< s, of the lag; 0: none
  double delay = 0;          ///< s
};

/// One actuator for each driven velocity of the model, ideal but for the joint's effort limit.
std::vector<Actuator> ideal_actuators(const Model<double>& model);

class Actuators {
 public:
  /// @throws Error for a velocity that the model has not or two actuators on one, negative numbers.
  Actuators(const Model<double>& model, std::vector<Actuator> actuators);

  /// Numbers that the lags add to the state.
  int lags() const { return lags_; }
  /// How far apart commands come, s: room for those that are delayed is made here.
  void set_command_period(double period);
  /// @throws Error (computation failed, with the time) if a torque is not finite, or is for a
  /// velocity without an actuator.
  void command(double t, VectorIn<double>& tau);
  /// A step begins: what was commanded a delay ago holds to its end.
  void hold(double t);
  /// The next time at which a delayed command arrives.
  double next_jump(double t) const;

  /// Torques on all of the robot's velocities, and the rates of the lags. Does not allocate.
  void evaluate(const State<double>& s, VectorX<double>& tau, VectorX<double>& dx) const;

 private:
  const Model<double>* model_;  ///< outlives this
  std::vector<Actuator> actuators_;
  std::vector<int> lag_of_;  ///< place in x, or -1
  int lags_ = 0;
  double longest_delay_ = 0;
  VectorX<double> held_;       ///< of each actuator
  MatrixX<double> commands_;   ///< a ring of columns
  std::vector<double> times_;  ///< of each column; NaN: none
  std::size_t next_ = 0;
};

}  // namespace limb
