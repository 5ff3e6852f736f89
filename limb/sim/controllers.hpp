#pragma once

#include "limb/sim/simulation.hpp"

/// A few controllers to begin with. Each drives the velocities that have motors and leaves the
/// others alone.
namespace limb {

struct ControllerSetup {
  enum class Kind {
    none,             ///< motors are idle
    open_loop,        ///< torque + amplitude sin(2 pi frequency t)
    pd,               ///< kp (target - q) - kd v
    gravity,          ///< the torques that hold the robot still, and pd
    computed_torque,  ///< M (kp (target - q) - kd v) + h: every joint moves as if it were alone
  };
  Kind kind = Kind::none;
  VectorX<double> torque, amplitude, frequency;  ///< open_loop: of each velocity; N m, N m, Hz
  VectorX<double> target;                        ///< a configuration
  VectorX<double> kp, kd;                        ///< of each velocity
};

/// Gains for one oscillation of `frequency` (Hz) and this damping ratio. For computed_torque of
/// unit inertia; for the others of the inertia that each joint has in the configuration q.
void set_gains(const Model<double>& model, VectorIn<double>& q, double frequency,
               double damping_ratio, ControllerSetup& setup);

/// @throws Error for vectors of wrong sizes, negative gains, or computed_torque for a robot that
/// has velocities without motors.
Controller make_controller(const Model<double>& model, const ControllerSetup& setup);

}  // namespace limb
