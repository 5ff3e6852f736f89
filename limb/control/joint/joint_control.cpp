#include "limb/control/joint/joint_control.hpp"

#include <Eigen/Eigenvalues>

#include "limb/control/matrix_checks.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/recursive/rnea.hpp"

namespace limb {

JointPd::JointPd(ControlledRobot robot, JointGains gains, Compensation compensation)
    : robot_(std::move(robot)),
      gains_(std::move(gains)),
      compensation_(compensation),
      e_(VectorX<double>::Zero(robot_.size())),
      g_(e_) {
  check_gains("JointPd", robot_.model(), gains_);
}

StepReport JointPd::step(VectorIn<double>& q, VectorIn<double>& v, const JointReference& reference,
                         VectorOut<double> tau) noexcept {
  if (!robot_.fits(q, v, tau) || !reference.fits(robot_.model())) {
    return MotorLimits::reject(Status::wrong_size, tau);
  }
  difference(robot_.model(), q, reference.q, e_);
  tau = gains_.kp.cwiseProduct(e_) + gains_.kd.cwiseProduct(reference.v - v);
  if (compensation_ == Compensation::gravity) {
    gravity(robot_.model(), robot_.work(), q, g_);
    tau += g_;
  }
  return robot_.limits().finish(tau);
}

ComputedTorque::ComputedTorque(ControlledRobot robot, JointGains gains, const JointEffects& effects)
    : robot_(std::move(robot)),
      gains_(std::move(gains)),
      effects_(effects),
      e_(VectorX<double>::Zero(robot_.size())) {
  check_gains("ComputedTorque", robot_.model(), gains_);
  robot_.check_all_driven("ComputedTorque");
}

StepReport ComputedTorque::step(VectorIn<double>& q, VectorIn<double>& v,
                                const JointReference& reference, VectorOut<double> tau) noexcept {
  if (!robot_.fits(q, v, tau) || !reference.fits(robot_.model())) {
    return MotorLimits::reject(Status::wrong_size, tau);
  }
  difference(robot_.model(), q, reference.q, e_);
  e_ = reference.a + gains_.kp.cwiseProduct(e_) + gains_.kd.cwiseProduct(reference.v - v);
  rnea(robot_.model(), robot_.work(), q, v, e_, tau, effects_);
  return robot_.limits().finish(tau);
}

JointImpedance::JointImpedance(ControlledRobot robot, Setup setup)
    : robot_(std::move(robot)),
      setup_(std::move(setup)),
      kinematics_(robot_.model()),
      scratch_(robot_.model()),
      C_(MatrixX<double>::Zero(robot_.size(), robot_.size())),
      e_(VectorX<double>::Zero(robot_.size())),
      de_(e_) {
  check_semidefinite("JointImpedance", "stiffness", setup_.stiffness, robot_.size());
  check_semidefinite("JointImpedance", "damping", setup_.damping, robot_.size());
}

StepReport JointImpedance::step(VectorIn<double>& q, VectorIn<double>& v,
                                const JointReference& reference, VectorOut<double> tau) noexcept {
  const Model<double>& model = robot_.model();
  if (!robot_.fits(q, v, tau) || !reference.fits(model)) {
    return MotorLimits::reject(Status::wrong_size, tau);
  }
  difference(model, q, reference.q, e_);
  de_ = reference.v - v;
  forward_kinematics(model, q, v, kinematics_);
  coriolis_matrix(model, kinematics_, scratch_, C_);
  // rnea includes C v; adding C (v_ref - v) gives C v_ref.
  rnea(model, robot_.work(), q, v, reference.a, tau, setup_.effects);
  C_ += setup_.damping;
  tau += C_.lazyProduct(de_);
  tau += setup_.stiffness.lazyProduct(e_);
  return robot_.limits().finish(tau);
}

MatrixX<double> modal_damping(MatrixIn<double>& M, MatrixIn<double>& K, double damping_ratio) {
  check_not_negative("modal_damping", "damping_ratio", damping_ratio);
  check_semidefinite("modal_damping", "K", K, M.rows());
  check_definite("modal_damping", "M", M, M.rows());
  const Eigen::SelfAdjointEigenSolver<MatrixX<double>> mass(M);
  const MatrixX<double> root = mass.operatorSqrt(), inverse = mass.operatorInverseSqrt();
  const MatrixX<double> modes = inverse * K * inverse;
  const Eigen::SelfAdjointEigenSolver<MatrixX<double>> stiffness(
      MatrixX<double>((modes + modes.transpose()) / 2));
  const VectorX<double> w = stiffness.eigenvalues().cwiseMax(0).cwiseSqrt();
  const MatrixX<double> V = root * stiffness.eigenvectors();
  return 2 * damping_ratio * V * w.asDiagonal() * V.transpose();
}

}  // namespace limb
