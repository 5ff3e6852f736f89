#pragma once

#include "limb/control/frame_task.hpp"

/// Controllers of a frame. The task may have fewer directions than the robot has joints: a posture
/// takes what is left, by forces that the task does not feel. Directions that the robot can hardly
/// move are damped (OperationalOptions::threshold), so that torques stay bounded.
namespace limb {

/// The frame moves as if alone, each direction by itself:
///
///   x'' = a_ref + kp e + kd e',    tau = J^T Lambda (x'' - dJ/dt v - J a_0) + M a_0 + h
///
/// with a_0 the accelerations of the posture. [Khatib 1987, operational space]
class OperationalSpaceControl {
 public:
  struct Setup {
    FrameTaskSetup task;
    double frequency = 2, damping_ratio = 1;  ///< Hz: kp = w^2, kd = 2 ratio w
    /// m/s^2: kp e is no larger, so that a reference out of reach does not tear at the robot.
    double largest_pull = 50;
    Posture posture;
  };
  /// @throws Error for bad numbers, velocities without motors, or closed loops.
  OperationalSpaceControl(ControlledRobot robot, const Setup& setup);

  StepReport step(VectorIn<double>& q, VectorIn<double>& v, const FrameReference& reference,
                  VectorOut<double> tau) noexcept;
  /// What the last step saw of the task.
  const FrameTask& task() const { return task_; }

 private:
  ControlledRobot robot_;
  FrameTask task_;
  PostureLaw posture_;
  double kp_, kd_, largest_pull_;
};

/// A spring and damper between the frame and its reference, in the axes of the task; the robot's
/// own inertia stays as it is. With the wrench F_ext of the environment on the frame,
///
///   Lambda e'' + D e' + K e = -F_ext
///
/// [Hogan 1985, impedance control]. Turns: e is the rotation vector to the reference, and where all
/// three turns are controlled the moment is the gradient of e^T K e / 2, also for large ones.
class CartesianImpedance {
 public:
  struct Setup {
    FrameTaskSetup task;
    MatrixX<double> stiffness;  ///< K, N/m and N m/rad, of the rows of the task
    /// D of the same size; empty: D = ratio (A B + B A), A^2 = Lambda, B^2 = K, at each step.
    /// [Albu-Schaffer 2003, factorization design]
    MatrixX<double> damping;
    double damping_ratio = 0.7;
    Posture posture;
  };
  /// @throws Error for bad numbers or matrices, velocities without motors, or closed loops.
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

/// Motion along some directions of a task, force along the others [Raibert 1981, hybrid control].
/// What the force does to the motion is taken out by what is measured of it, so the motion is that
/// of OperationalSpaceControl, on the wall as in free space; and the motion asks for no
/// acceleration along the force:
///
///   tau = h + N^T M a_0 + J^T Lambda ((x_m'', 0) - dJ/dt v)
///           + J_f^T f - J_m^T Lambda_m J_m M^-1 J_f^T (f - f_now)
///   f = f_ref + kp (f_ref - f_now) + I - kd x_f',    I' = ki (f_ref - f_now)
///
/// J, Lambda and N are of both together; N leaves the posture a_0 what neither feels. Before there
/// is a wall the frame goes to meet one with f_ref (1 + kp) / kd, and I waits.
class HybridForceControl {
 public:
  struct Setup {
    FrameTaskSetup task;  ///< its rows are those of motion
    /// Directions of force, none of them a row of the task.
    std::array<bool, 6> force_rows = {false, false, true, false, false, false};
    double frequency = 2, damping_ratio = 1;  ///< of the motion
    double largest_pull = 50;                 ///< m/s^2, as OperationalSpaceControl
    double force_kp = 0.5;
    double force_ki = 20;           ///< 1/s
    double force_kd = 50;           ///< N s/m or N m s/rad
    double largest_integral = 100;  ///< N or N m
    /// I stands still while less than this part of f_ref is felt: there is no wall yet.
    double contact_part = 0.05;
    double period = 1e-3;  ///< s, between two steps
    Posture posture;
  };
  /// @throws Error for bad numbers, no direction of force, one that is of both kinds, velocities
  /// without motors, or closed loops.
  HybridForceControl(ControlledRobot robot, const Setup& setup);

  /// @param f_ref  force and moment that the robot shall exert, in the axes of the task at the
  ///               frame's origin; rows of motion are not looked at.
  /// @param F_F    measured: the wrench of the environment on the frame, at its origin, in its own
  ///               axes.
  StepReport step(VectorIn<double>& q, VectorIn<double>& v, const FrameReference& reference,
                  const Vector6<double>& f_ref, const Force<double>& F_F,
                  VectorOut<double> tau) noexcept;
  void reset() noexcept { integral_.setZero(); }
  const FrameTask& task() const { return motion_; }
  /// Integrals of the directions of force, N or N m.
  const VectorX<double>& integral() const { return integral_; }

 private:
  ControlledRobot robot_;
  FrameTask motion_, force_, all_;
  PostureLaw posture_;
  Setup setup_;
  VectorX<double> f_, error_, surplus_, integral_, a_;
  double kp_, kd_;
};

}  // namespace limb
