#pragma once

#include <array>
#include <memory>

#include "limb/control/joint/joint_pid.hpp"
#include "limb/sim/world/legged_controllers.hpp"
#include "limb/sim/world/simulation.hpp"

/// The controllers of limb/control in a simulation, from one setup. Each drives only the velocities
/// that have motors.
namespace limb {

struct ControllerSetup {
  enum class Kind {
    none,                 ///< zero torque
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
  VectorX<double> torque, amplitude, frequency;  ///< open_loop: per velocity; N m, N m, Hz
  VectorX<double> target;                        ///< a configuration
  VectorX<double> kp, kd, ki;                    ///< per velocity
  /// Start of the reference, which moves to the target within move_time (s) with minimum jerk;
  /// empty or 0: the reference is the target.
  VectorX<double> start;
  double move_time = 0;
  double period = 1e-3;          ///< s, between two calls, for integral terms
  VectorX<double> torque_limit;  ///< empty: the model's
  JointPid::AntiWindup anti_windup = JointPid::AntiWindup::conditional;

  /// For controllers of a frame. The target of the frame is its pose in the target configuration,
  /// moved by `offset` (m, world axes).
  struct Frame {
    FrameId frame;
    Vector3<double> offset = Vector3<double>::Zero();
    Matrix3<double> R_WT = Matrix3<double>::Identity();  ///< axes of all quantities below
    std::array<bool, 6> rows = {true, true, true, true, true, true};
    Vector6<double> stiffness = Vector6<double>::Constant(300);  ///< N/m, N m/rad
    double damping_ratio = 0.7;
    double frequency = 2;          ///< Hz, operational_space and hybrid_force
    double posture_frequency = 1;  ///< Hz
    std::array<bool, 6> force_rows = {false, false, false, false, false, false};
    Vector6<double> force = Vector6<double>::Zero();  ///< N, N m exerted by the robot
    double force_kp = 0.5, force_ki = 20, force_kd = 50;
  } task;

  /// lqr: costs of the position, velocity and torque of each velocity.
  VectorX<double> position_cost, velocity_cost, torque_cost;

  LeggedSetup legged;  ///< balance and locomotion
};

/// What a controller of a frame controlled in its last step.
struct FrameTaskRecord {
  Vector3<double> target = Vector3<double>::Zero();  ///< m, of the frame's origin, world axes
  Vector3<double> position = Vector3<double>::Zero();
  double rotation_error = 0;  ///< rad
  /// hybrid_force: N, N m exerted by the robot at the origin of the frame, in the axes of the task.
  Vector6<double> force_target = Vector6<double>::Zero(), force = Vector6<double>::Zero();
};

/// Statistics of a controller over a run, and what its last step controlled.
struct ControllerStatistics {
  long periods = 0;                        ///< controller steps
  long saturated = 0;                      ///< steps with a motor at its limit
  std::shared_ptr<QpStatistics> programs;  ///< balance and locomotion
  VectorX<double> reference;  ///< joint controllers and lqr: reference configuration, else empty
  FrameTaskRecord task;       ///< controllers of a frame
};

/// Whether a kind controls a frame.
bool controls_frame(ControllerSetup::Kind kind);
/// Whether a kind solves quadratic programs for a legged robot.
bool is_legged(ControllerSetup::Kind kind);

/// Sets gains for a natural frequency (Hz) and damping ratio: for computed_torque with unit
/// inertia, for the others with the inertia of each joint in the configuration q.
void set_gains(const Model<double>& model, VectorIn<double>& q, double frequency,
               double damping_ratio, ControllerSetup& setup);

/// @throws Error for vectors of wrong sizes, negative gains, computed_torque for a robot that
/// has velocities without motors, and as the controllers themselves.
Controller make_controller(const Model<double>& model, const ControllerSetup& setup,
                           std::shared_ptr<ControllerStatistics> statistics = nullptr);

// Used by make_controller.

/// Records a controller step. @throws Error (computation failed, with the time) if it failed.
void record_step(double t, const StepReport& report, ControllerStatistics* statistics);
ControlledRobot controlled_robot(const Model<double>& model, const ControllerSetup& setup);
Controller make_frame_controller(const Model<double>& model, const ControllerSetup& setup,
                                 std::shared_ptr<ControllerStatistics> statistics);

}  // namespace limb
