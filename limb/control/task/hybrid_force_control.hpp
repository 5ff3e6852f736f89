#pragma once

#include "limb/control/task/frame_task.hpp"

namespace limb {

/// Hybrid force/motion control: motion along some directions of a task, force along the others
/// [Raibert 1981, hybrid control]. The effect of the contact force on the motion is compensated
/// with the measured force, so that the motion is that of OperationalSpaceControl, in contact as in
/// free space; the motion task has zero acceleration along the force directions:
///
///   tau = h + N^T M a_0 + J^T Lambda ((x_m'', 0) - dJ/dt v)
///           + J_f^T f - J_m^T Lambda_m J_m M^-1 J_f^T (f - f_now)
///   f = f_ref + kp (f_ref - f_now) + I - kd x_f',    I' = ki (f_ref - f_now)
///
/// J, Lambda and the null-space projector N belong to both tasks together. Without contact the
/// frame approaches the surface with the velocity f_ref (1 + kp) / kd, and the integral I is
/// stopped.
class HybridForceControl {
 public:
  struct Setup {
    FrameTaskSetup task;  ///< its rows are the motion directions
    /// Force directions, none of them a row of the task.
    std::array<bool, 6> force_rows = {false, false, true, false, false, false};
    double frequency = 2, damping_ratio = 1;  ///< of the motion
    double max_feedback_acceleration = 50;    ///< m/s^2, as OperationalSpaceControl
    double force_kp = 0.5;
    double force_ki = 20;           ///< 1/s
    double force_kd = 50;           ///< N s/m or N m s/rad
    double largest_integral = 100;  ///< N or N m
    /// Fraction of f_ref below which there is no contact: I is stopped.
    double contact_threshold = 0.05;
    double period = 1e-3;  ///< s, between two steps
    PostureOptions posture;
  };
  /// @throws Error for invalid parameters, no force direction, a direction of both kinds,
  /// unactuated velocities, or closed loops.
  HybridForceControl(ControlledRobot robot, const Setup& setup);

  /// @param f_ref  force and moment that the robot should exert, in the axes of the task at the
  ///               origin of the frame; rows of motion are ignored.
  /// @param F_F    measured wrench of the environment on the frame, at its origin, in its axes.
  StepReport step(VectorIn<double>& q, VectorIn<double>& v, const FrameReference& reference,
                  const Vector6<double>& f_ref, const Force<double>& F_F,
                  VectorOut<double> tau) noexcept;
  void reset() noexcept { integral_.setZero(); }
  const FrameTask& task() const { return motion_; }
  /// Integrals of the force errors, N or N m.
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
