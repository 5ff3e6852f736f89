#pragma once

#include "limb/control/joint/joint_control.hpp"

namespace limb {

/// tau = kp e + kd (v_ref - v) + I, with I' = ki e for each velocity, optionally with g(q).
///
/// Anti-windup for saturated motors: conditional integration stops I while the torque is saturated
/// and ki e would increase the saturation; back-calculation lets I track the applied torque,
/// I' = ki e + (applied - commanded) / tracking_time. [Astrom 2006, integrator windup]
class JointPid {
 public:
  enum class AntiWindup { none, conditional, back_calculation };
  struct Setup {
    JointGains gains;                ///< torque gains
    VectorX<double> ki = {};         ///< N m/(rad s) or N/(m s), per velocity
    double period = 1e-3;            ///< s, between two steps
    VectorX<double> largest_I = {};  ///< N m or N; empty: the limits of the motors
    AntiWindup anti_windup = AntiWindup::conditional;
    double tracking_time = 0.1;  ///< s, of back-calculation
    JointPd::Compensation compensation = JointPd::Compensation::none;
  };
  /// @throws Error for wrong sizes, negative gains, a period or tracking time that is not positive.
  JointPid(ControlledRobot robot, Setup setup);

  StepReport step(VectorIn<double>& q, VectorIn<double>& v, const JointReference& reference,
                  VectorOut<double> tau) noexcept;
  /// The integrals, N m or N.
  const VectorX<double>& integral() const { return I_; }
  /// Sets the integrals to zero.
  void reset() noexcept { I_.setZero(); }

 private:
  ControlledRobot robot_;
  Setup setup_;
  VectorX<double> e_, g_, I_, tau_unlimited_;
};

}  // namespace limb
