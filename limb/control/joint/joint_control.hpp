#pragma once

#include "limb/control/controlled_robot.hpp"
#include "limb/control/joint/joint_reference.hpp"
#include "limb/dynamics/kinematics/forward_kinematics.hpp"
#include "limb/dynamics/lagrange/christoffel.hpp"

/// Joint-space controllers. e is the tangent vector from q to the reference, difference(q, q_ref).
namespace limb {

/// tau = kp e + kd (v_ref - v), without or with gravity compensation g(q).
/// [Takegaki 1981, PD with gravity compensation]
class JointPd {
 public:
  enum class Compensation { none, gravity };
  /// @throws Error for gains of a wrong size or sign.
  JointPd(ControlledRobot robot, JointGains gains, Compensation compensation);

  StepReport step(VectorIn<double>& q, VectorIn<double>& v, const JointReference& reference,
                  VectorOut<double> tau) noexcept;

 private:
  ControlledRobot robot_;
  JointGains gains_;
  Compensation compensation_;
  VectorX<double> e_, g_;
};

/// tau = M (a_ref + kp e + kd (v_ref - v)) + h: the error dynamics of the joints are decoupled,
/// e'' + kd e' + kp e = 0. The gains are acceleration gains.
/// [Siciliano 2009, inverse dynamics control]
class ComputedTorque {
 public:
  /// @throws Error for gains of a wrong size or sign, or a robot with unactuated velocities.
  ComputedTorque(ControlledRobot robot, JointGains gains, const JointEffects& effects = {});

  StepReport step(VectorIn<double>& q, VectorIn<double>& v, const JointReference& reference,
                  VectorOut<double> tau) noexcept;

 private:
  ControlledRobot robot_;
  JointGains gains_;
  JointEffects effects_;
  VectorX<double> e_;
};

/// Joint impedance: springs and dampers between the joints and their reference, with the natural
/// inertia of the robot. With external torques tau_ext,
///
///   M e'' + (C + D) e' + K e = -tau_ext,    tau = M a_ref + C v_ref + g + K e + D e'
///
/// where damping and friction of the drives are compensated. M' - 2 C is skew, so the energy
/// e'^T M e' / 2 + e^T K e / 2 does not grow without external torques.
/// [Ott 2008, Cartesian impedance control]
class JointImpedance {
 public:
  struct Setup {
    MatrixX<double> stiffness;  ///< K, n x n, symmetric positive semidefinite
    MatrixX<double> damping;    ///< D, the same
    JointEffects effects = {};
  };
  /// @throws Error for a matrix that has a wrong size or is not symmetric positive semidefinite.
  JointImpedance(ControlledRobot robot, Setup setup);

  StepReport step(VectorIn<double>& q, VectorIn<double>& v, const JointReference& reference,
                  VectorOut<double> tau) noexcept;

 private:
  ControlledRobot robot_;
  Setup setup_;
  Kinematics<double> kinematics_;
  LagrangeScratch<double> scratch_;
  MatrixX<double> C_;
  VectorX<double> e_, de_;
};

/// The D for which M x'' + D x' + K x = 0 has this damping ratio in each of its modes:
/// D = 2 ratio M^1/2 (M^-1/2 K M^-1/2)^1/2 M^1/2. Allocates.
/// @throws Error if M is not positive definite, K is not positive semidefinite, or sizes differ.
MatrixX<double> modal_damping(MatrixIn<double>& M, MatrixIn<double>& K, double damping_ratio);

}  // namespace limb
