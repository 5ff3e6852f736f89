#pragma once

#include "limb/control/controlled_robot.hpp"
#include "limb/control/joint_reference.hpp"
#include "limb/dynamics/kinematics.hpp"
#include "limb/dynamics/lagrange.hpp"

/// Controllers of joints. e is the tangent from q to the reference, difference(q, q_ref).
namespace limb {

/// tau = kp e + kd (v_ref - v), alone or with the torques g(q) that hold the robot's weight.
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

/// tau = M (a_ref + kp e + kd (v_ref - v)) + h: the error of each joint decays as if it were alone,
/// e'' + kd e' + kp e = 0. Gains are of accelerations. [Siciliano 2009, inverse dynamics control]
class ComputedTorque {
 public:
  /// @throws Error for gains of a wrong size or sign, or a robot that has velocities without
  /// motors.
  ComputedTorque(ControlledRobot robot, JointGains gains, const JointEffects& effects = {});

  StepReport step(VectorIn<double>& q, VectorIn<double>& v, const JointReference& reference,
                  VectorOut<double> tau) noexcept;

 private:
  ControlledRobot robot_;
  JointGains gains_;
  JointEffects effects_;
  VectorX<double> e_;
};

/// Springs and dampers between the joints and their reference, the robot's own inertia left as it
/// is: with torques from outside,
///
///   M e'' + (C + D) e' + K e = -tau_ext,    tau = M a_ref + C v_ref + g + K e + D e'
///
/// and the drives' own damping and friction compensated. M' - 2 C is skew, so the energy
/// e'^T M e' / 2 + e^T K e / 2 never grows by itself. [Ott 2008, Cartesian impedance control]
class JointImpedance {
 public:
  struct Setup {
    MatrixX<double> stiffness;  ///< K, n x n, symmetric, no direction negative
    MatrixX<double> damping;    ///< D, the same
    JointEffects effects = {};
  };
  /// @throws Error for matrices of a wrong size, not symmetric, or with a negative direction.
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

/// D with which M x'' + D x' + K x = 0 has this damping ratio in each of its modes:
/// D = 2 ratio M^1/2 (M^-1/2 K M^-1/2)^1/2 M^1/2. Allocates.
/// @throws Error if M is not positive definite, K has a negative direction, or sizes differ.
MatrixX<double> modal_damping(MatrixIn<double>& M, MatrixIn<double>& K, double damping_ratio);

}  // namespace limb
