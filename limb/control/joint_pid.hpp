#pragma once

#include "limb/control/joint_control.hpp"

namespace limb {

/// tau = kp e + kd (v_ref - v) + I, with I' = ki e for each velocity, and g(q) where asked for.
///
/// A motor at its limit must not wind its integral up. Conditional integration holds I while the
/// torque is cut and ki e would push it further beyond; back-calculation lets I follow what was
/// given, I' = ki e + (cut - asked) / tracking_time. [Astrom 2006, integrator windup]
class JointPid {
 public:
  enum class AntiWindup { none, conditional, back_calculation };
  struct Setup {
    JointGains gains;                ///< of torques
    VectorX<double> ki = {};         ///< N m/(rad s) or N/(m s) of each velocity
    double period = 1e-3;            ///< s, between two steps
    VectorX<double> largest_I = {};  ///< N m or N; empty: the motors' limits
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
  /// Integrals become zero.
  void reset() noexcept { I_.setZero(); }

 private:
  ControlledRobot robot_;
  Setup setup_;
  VectorX<double> e_, g_, I_, asked_;
};

}  // namespace limb
