#pragma once

#include "limb/control/controlled_robot.hpp"
#include "limb/control/lqr/riccati.hpp"

namespace limb {

/// Linearization of a robot about an equilibrium: with x = (difference(q_0, q), v) and u = motor
/// torques - tau_0,
///
///   x' = A x + B u
///
/// 2 n states, one input per actuated velocity.
struct LinearizedRobot {
  VectorX<double> q;        ///< q_0
  VectorX<double> tau;      ///< tau_0, the torques at the equilibrium
  MatrixX<double> A, B;     ///< from aba_derivatives
  std::vector<int> motors;  ///< index of the velocity of each input
};
/// Linearizes at rest in q. Coulomb friction is left out: it has no derivative at rest.
/// @throws Error if q is not a configuration; of kind computation_failed if q is not an equilibrium
/// (an unactuated velocity would need a torque) or if the mass matrix is singular there.
LinearizedRobot linearize(const Model<double>& model, VectorIn<double>& q,
                          const JointEffects& effects = {true, true, false});

/// Zero-order-hold discretization: x_next = A x + B u, exact for inputs held for a period.
struct SampledSystem {
  MatrixX<double> A, B;
  /// Integrals of the cost x^T Q x + u^T R u over a period: x^T Q x + 2 x^T S u + u^T R u.
  MatrixX<double> Q, S, R;
};
/// Discretizes by matrix exponentials [Van Loan 1978, integrals involving the matrix exponential].
/// @throws Error for wrong sizes or a period that is not positive.
SampledSystem sample_and_hold(MatrixIn<double>& A, MatrixIn<double>& B, MatrixIn<double>& Q,
                              MatrixIn<double>& R, double period);

/// Linear-quadratic regulator about an equilibrium: u = -K x with K from the Riccati equation.
class Lqr {
 public:
  struct Setup {
    VectorX<double> q;  ///< the equilibrium
    MatrixX<double> Q;  ///< 2 n x 2 n, cost of x
    MatrixX<double> R;  ///< motors x motors, cost of u
    double period = 0;  ///< s; 0: continuous time, otherwise torques are held for a period
    JointEffects effects = {true, true, false};
  };
  /// @throws Error as linearize and solve_riccati; the message names an uncontrollable joint.
  Lqr(ControlledRobot robot, const Setup& setup);

  /// tau = tau_0 - K (difference(q_0, q) - difference(q_0, q_ref), v - v_ref): tracks a reference,
  /// which must stay near the equilibrium.
  StepReport step(VectorIn<double>& q, VectorIn<double>& v, VectorIn<double>& q_ref,
                  VectorIn<double>& v_ref, VectorOut<double> tau) noexcept;
  /// Regulates to the equilibrium.
  StepReport step(VectorIn<double>& q, VectorIn<double>& v, VectorOut<double> tau) noexcept;

  const LinearizedRobot& system() const { return system_; }
  const RiccatiSolution& solution() const { return solution_; }
  /// x^T X x, X the solution of the Riccati equation: the remaining cost, and a Lyapunov
  /// function of the linear system.
  double cost_to_go(VectorIn<double>& q, VectorIn<double>& v) noexcept;

 private:
  ControlledRobot robot_;
  LinearizedRobot system_;
  RiccatiSolution solution_;
  VectorX<double> x_, shift_, zero_;
};

}  // namespace limb
