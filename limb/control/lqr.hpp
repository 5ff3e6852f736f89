#pragma once

#include "limb/control/controlled_robot.hpp"
#include "limb/control/riccati.hpp"

namespace limb {

/// A robot near an equilibrium: with x = (difference(q_0, q), v) and u = motor torques - tau_0,
///
///   x' = A x + B u
///
/// 2 n states, one input for each velocity with a motor.
struct LinearizedRobot {
  VectorX<double> q;        ///< q_0
  VectorX<double> tau;      ///< tau_0, the torques that hold it there
  MatrixX<double> A, B;     ///< from aba_derivatives
  std::vector<int> motors;  ///< velocity of each input
};
/// At rest in q. Coulomb friction is left out: it has no slope at rest.
/// @throws Error if q is no configuration; of kind computation_failed if it is no equilibrium:
/// velocities without a motor would need a torque; or if the mass matrix is singular there.
LinearizedRobot linearize(const Model<double>& model, VectorIn<double>& q,
                          const JointEffects& effects = {true, true, false});

/// The same with inputs that are held for a period: x_next = A x + B u, exactly.
struct SampledSystem {
  MatrixX<double> A, B;
  /// Integrals of the cost x^T Q x + u^T R u over a period: x^T Q x + 2 x^T S u + u^T R u.
  MatrixX<double> Q, S, R;
};
/// By matrix exponentials [Van Loan 1978, integrals involving the matrix exponential].
/// @throws Error for wrong sizes or a period that is not positive.
SampledSystem sample_and_hold(MatrixIn<double>& A, MatrixIn<double>& B, MatrixIn<double>& Q,
                              MatrixIn<double>& R, double period);

/// The linear feedback about an equilibrium that costs least, u = -K x, by the Riccati equation.
class Lqr {
 public:
  struct Setup {
    VectorX<double> q;  ///< the equilibrium
    MatrixX<double> Q;  ///< 2 n x 2 n, cost of x
    MatrixX<double> R;  ///< motors x motors, cost of u
    double period = 0;  ///< s; 0: continuous time, else torques are held so long
    JointEffects effects = {true, true, false};
  };
  /// @throws Error as linearize and solve_riccati; joints are named that no motor moves.
  Lqr(ControlledRobot robot, const Setup& setup);

  /// tau = tau_0 - K (difference(q_0, q) - difference(q_0, q_ref), v - v_ref): about the reference,
  /// which must stay near the equilibrium.
  StepReport step(VectorIn<double>& q, VectorIn<double>& v, VectorIn<double>& q_ref,
                  VectorIn<double>& v_ref, VectorOut<double> tau) noexcept;
  /// About the equilibrium itself.
  StepReport step(VectorIn<double>& q, VectorIn<double>& v, VectorOut<double> tau) noexcept;

  const LinearizedRobot& system() const { return system_; }
  const RiccatiSolution& solution() const { return solution_; }
  /// x^T X x: what is still to be paid, and a Lyapunov function of the linear system.
  double cost_to_go(VectorIn<double>& q, VectorIn<double>& v) noexcept;

 private:
  ControlledRobot robot_;
  LinearizedRobot system_;
  RiccatiSolution solution_;
  VectorX<double> x_, shift_, zero_;
};

}  // namespace limb
