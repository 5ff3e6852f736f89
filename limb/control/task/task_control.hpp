#pragma once

#include "limb/control/task/frame_task.hpp"

/// Task-space controllers of a frame. If the task has fewer directions than the robot has joints, a
/// posture is controlled in the null space of the task. Near-singular directions are damped
/// (OperationalOptions::threshold), so that torques stay bounded.
namespace limb {

/// Operational-space control: decoupled error dynamics in each direction of the task,
///
///   x'' = a_ref + kp e + kd e',    tau = J^T Lambda (x'' - dJ/dt v - J a_0) + M a_0 + h
///
/// with a_0 the accelerations of the posture. [Khatib 1987, operational space]
class OperationalSpaceControl {
 public:
  struct Setup {
    FrameTaskSetup task;
    double frequency = 2, damping_ratio = 1;  ///< Hz: kp = w^2, kd = 2 ratio w
    /// m/s^2: bound on |kp e|, for references far away or out of reach.
    double max_feedback_acceleration = 50;
    PostureOptions posture;
  };
  /// @throws Error for invalid parameters, unactuated velocities, or closed loops.
  OperationalSpaceControl(ControlledRobot robot, const Setup& setup);

  StepReport step(VectorIn<double>& q, VectorIn<double>& v, const FrameReference& reference,
                  VectorOut<double> tau) noexcept;
  /// The task at the last step.
  const FrameTask& task() const { return task_; }

 private:
  ControlledRobot robot_;
  FrameTask task_;
  PostureLaw posture_;
  double kp_, kd_, max_feedback_acceleration_;
};

/// A spring and damper between the frame and its reference, in the axes of the task, with the
/// natural inertia of the robot. With the wrench F_ext of the environment on the frame,
///
///   Lambda e'' + D e' + K e = -F_ext
///
/// [Hogan 1985, impedance control]. For rotations, e is the rotation vector to the reference; if
/// all three are controlled, the moment is the gradient of e^T K e / 2, also for large rotations.
class CartesianImpedance {
 public:
  struct Setup {
    FrameTaskSetup task;
    MatrixX<double> stiffness;  ///< K, N/m and N m/rad, rows of the task
    /// D of the same size; empty: D = ratio (A B + B A), A^2 = Lambda, B^2 = K, at each step.
    /// [Albu-Schaffer 2003, factorization design]
    MatrixX<double> damping;
    double damping_ratio = 0.7;
    PostureOptions posture;
  };
  /// @throws Error for invalid parameters or matrices, unactuated velocities, or closed loops.
  CartesianImpedance(ControlledRobot robot, Setup setup);

  StepReport step(VectorIn<double>& q, VectorIn<double>& v, const FrameReference& reference,
                  VectorOut<double> tau) noexcept;
  const FrameTask& task() const { return task_; }

 private:
  using Small = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 6>;  // no allocation
  void design_damping() noexcept;

  ControlledRobot robot_;
  FrameTask task_;
  PostureLaw posture_;
  Small K_, root_K_, D_;
  double damping_ratio_;  ///< negative: D is given
  bool all_turns_;
};

}  // namespace limb
