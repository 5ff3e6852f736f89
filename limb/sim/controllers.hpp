#pragma once

#include <array>
#include <memory>

#include "limb/control/joint_pid.hpp"
#include "limb/sim/legged_controllers.hpp"
#include "limb/sim/simulation.hpp"

/// The controllers of limb/control, made of one setup and put into a simulation. Each drives the
/// velocities that have motors and leaves the others alone.
namespace limb {

struct ControllerSetup {
  enum class Kind {
    none,                 ///< motors are idle
    open_loop,            ///< torque + amplitude sin(2 pi frequency t)
    pd,                   ///< JointPd
    gravity,              ///< JointPd with gravity compensation
    computed_torque,      ///< ComputedTorque
    pid,                  ///< JointPid
    joint_impedance,      ///< JointImpedance, stiffness kp, damping kd
    cartesian_impedance,  ///< CartesianImpedance of a frame
    operational_space,    ///< OperationalSpaceControl of a frame
    hybrid_force,         ///< HybridForceControl of a frame
    lqr,                  ///< Lqr about the target
    balance,              ///< Balance on all feet, about the target
    locomotion,           ///< Locomotion, the target as posture
  };
  Kind kind = Kind::none;
  VectorX<double> torque, amplitude, frequency;  ///< open_loop: of each velocity; N m, N m, Hz
  VectorX<double> target;                        ///< a configuration
  VectorX<double> kp, kd, ki;                    ///< of each velocity
  /// Where the reference begins, for the time move_time (s) until it is at the target, by least
  /// jerk; empty or 0: it is there from the begin.
  VectorX<double> start;
  double move_time = 0;
  double period = 1e-3;          ///< s, between two calls, for what integrates
  VectorX<double> torque_limit;  ///< empty: the model's
  JointPid::AntiWindup anti_windup = JointPid::AntiWindup::conditional;

  /// Of the controllers of a frame. Its target is where the target configuration has it, moved by
  /// `offset` (m, world axes).
  struct Frame {
    FrameId frame;
    Vector3<double> offset = Vector3<double>::Zero();
    Matrix3<double> R_WT = Matrix3<double>::Identity();  ///< axes of all that follows
    std::array<bool, 6> rows = {true, true, true, true, true, true};
    Vector6<double> stiffness = Vector6<double>::Constant(300);  ///< N/m, N m/rad
    double damping_ratio = 0.7;
    double frequency = 2;          ///< Hz, operational_space and hybrid_force
    double posture_frequency = 1;  ///< Hz
    std::array<bool, 6> force_rows = {false, false, false, false, false, false};
    Vector6<double> force = Vector6<double>::Zero();  ///< N, N m that the robot shall exert
    double force_kp = 0.5, force_ki = 20, force_kd = 50;
  } task;

  /// Of lqr: costs of each velocity's position and velocity, and of its motor.
  VectorX<double> position_cost, velocity_cost, torque_cost;

  LeggedSetup legged;  ///< of balance and locomotion
};

/// What controllers tell of a run.
struct ControllerWatch {
  long periods = 0;                        ///< steps that were made
  long saturated = 0;                      ///< of these, with a motor at its limit
  std::shared_ptr<ProgramWatch> programs;  ///< of balance and locomotion
};

/// Whether a kind controls a frame.
bool controls_frame(ControllerSetup::Kind kind);
/// Whether it solves quadratic programs for a robot on its feet.
bool is_legged(ControllerSetup::Kind kind);

/// Gains for one oscillation of `frequency` (Hz) and this damping ratio. For computed_torque of
/// unit inertia; for the others of the inertia that each joint has in the configuration q.
void set_gains(const Model<double>& model, VectorIn<double>& q, double frequency,
               double damping_ratio, ControllerSetup& setup);

/// @throws Error for vectors of wrong sizes, negative gains, computed_torque for a robot that
/// has velocities without motors, and as the controllers themselves.
Controller make_controller(const Model<double>& model, const ControllerSetup& setup,
                           std::shared_ptr<ControllerWatch> watch = nullptr);

// For make_controller.

/// Ends a run whose controller has no answer; counts where motors are at their limits.
void watch_step(double t, const StepReport& report, ControllerWatch* watch);
ControlledRobot controlled_robot(const Model<double>& model, const ControllerSetup& setup);
Controller make_frame_controller(const Model<double>& model, const ControllerSetup& setup,
                                 std::shared_ptr<ControllerWatch> watch);

}  // namespace limb
