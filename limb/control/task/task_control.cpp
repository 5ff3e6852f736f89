#include "limb/control/task/task_control.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <numbers>

#include "limb/control/matrix_checks.hpp"
#include "limb/dynamics/factor/mass_factor.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/math/so3.hpp"

namespace limb {

namespace {

double stiffness_of(const char* call, double frequency) {
  check_positive(call, "frequency", frequency);
  return std::pow(2 * std::numbers::pi * frequency, 2);
}
double damping_of(const char* call, double frequency, double ratio) {
  check_not_negative(call, "damping_ratio", ratio);
  return 4 * std::numbers::pi * frequency * ratio;
}

/// Requirements of every model-based task-space controller.
void check_robot(const char* call, const ControlledRobot& robot) {
  robot.check_all_driven(call);
  robot.check_tree(call);
}

}  // namespace

OperationalSpaceControl::OperationalSpaceControl(ControlledRobot robot, const Setup& setup)
    : robot_(std::move(robot)),
      task_("OperationalSpaceControl", robot_.model(), setup.task),
      posture_("OperationalSpaceControl", robot_.model(), setup.posture),
      kp_(stiffness_of("OperationalSpaceControl", setup.frequency)),
      kd_(damping_of("OperationalSpaceControl", setup.frequency, setup.damping_ratio)),
      max_feedback_acceleration_(setup.max_feedback_acceleration) {
  check_positive("OperationalSpaceControl", "max_feedback_acceleration",
                 setup.max_feedback_acceleration);
  check_robot("OperationalSpaceControl", robot_);
}

StepReport OperationalSpaceControl::step(VectorIn<double>& q, VectorIn<double>& v,
                                         const FrameReference& reference,
                                         VectorOut<double> tau) noexcept {
  const Model<double>& model = robot_.model();
  if (!robot_.fits(q, v, tau)) return MotorLimits::reject(Status::wrong_size, tau);
  if (!q.allFinite() || !v.allFinite() || !reference.is_finite()) {
    return MotorLimits::reject(Status::not_finite, tau);
  }
  task_.update_kinematics(model, q, v, reference);
  if (task_.update_dynamics(model, robot_.work(), q, v) != Status::ok) {
    return MotorLimits::reject(Status::singular, tau);
  }
  const VectorX<double>& a_0 = posture_.acceleration(model, q, v);
  rnea(model, robot_.work(), q, v, a_0, tau, task_.setup().effects);
  task_.add_feedback(kp_, kd_, max_feedback_acceleration_, task_.a_ref);
  task_.a_ref -= task_.dJ_v;
  task_.a_ref -= task_.J.lazyProduct(a_0);
  task_.scratch = task_.space.Lambda.lazyProduct(task_.a_ref);
  task_.add_force(task_.scratch, tau);
  return robot_.limits().finish(tau);
}

CartesianImpedance::CartesianImpedance(ControlledRobot robot, Setup setup)
    : robot_(std::move(robot)),
      task_("CartesianImpedance", robot_.model(), setup.task),
      posture_("CartesianImpedance", robot_.model(), setup.posture),
      damping_ratio_(setup.damping.size() > 0 ? -1 : setup.damping_ratio),
      all_turns_(setup.task.rows[3] && setup.task.rows[4] && setup.task.rows[5]) {
  constexpr const char* kCall = "CartesianImpedance";
  check_robot(kCall, robot_);
  const int rows = task_.rows();
  check_semidefinite(kCall, "stiffness", setup.stiffness, rows);
  K_ = setup.stiffness;
  const Eigen::SelfAdjointEigenSolver<MatrixX<double>> solver(setup.stiffness);
  root_K_ = solver.eigenvectors() * solver.eigenvalues().cwiseMax(0).cwiseSqrt().asDiagonal() *
            solver.eigenvectors().transpose();
  D_ = Small::Zero(rows, rows);
  if (setup.damping.size() > 0) {
    check_semidefinite(kCall, "damping", setup.damping, rows);
    D_ = setup.damping;
  } else {
    check_not_negative(kCall, "damping_ratio", setup.damping_ratio);
  }
}

void CartesianImpedance::design_damping() noexcept {
  const Small Lambda = task_.space.Lambda;
  const Eigen::SelfAdjointEigenSolver<Small> solver(Lambda);
  const Small V = solver.eigenvectors();
  const Small A = V.lazyProduct(Small(solver.eigenvalues().cwiseMax(0).cwiseSqrt().asDiagonal()))
                      .lazyProduct(V.transpose());
  D_ = damping_ratio_ * (Small(A.lazyProduct(root_K_)) + Small(root_K_.lazyProduct(A)));
}

StepReport CartesianImpedance::step(VectorIn<double>& q, VectorIn<double>& v,
                                    const FrameReference& reference,
                                    VectorOut<double> tau) noexcept {
  const Model<double>& model = robot_.model();
  if (!robot_.fits(q, v, tau)) return MotorLimits::reject(Status::wrong_size, tau);
  if (!q.allFinite() || !v.allFinite() || !reference.is_finite()) {
    return MotorLimits::reject(Status::not_finite, tau);
  }
  task_.update_kinematics(model, q, v, reference);
  if (task_.update_dynamics(model, robot_.work(), q, v) != Status::ok) {
    return MotorLimits::reject(Status::singular, tau);
  }
  if (damping_ratio_ >= 0) design_damping();

  // Posture and gravity, then the task: J^T (Lambda (a_ref - dJ/dt v - J a_0) + K e + D e').
  const VectorX<double>& a_0 = posture_.acceleration(model, q, v);
  rnea(model, robot_.work(), q, v, a_0, tau, task_.setup().effects);
  task_.a_ref -= task_.dJ_v;
  task_.a_ref -= task_.J.lazyProduct(a_0);
  task_.scratch = K_.lazyProduct(task_.e);
  if (all_turns_) {
    const Matrix3<double>& R_WT = task_.setup().R_WT;
    const Matrix3<double> G =
        so3::left_jacobian_inverse<double>(R_WT.transpose() * task_.rotation_error_W);
    const Vector3<double> n = G * task_.scratch.tail<3>();
    task_.scratch.tail<3>() = n;
  }
  task_.scratch += task_.space.Lambda.lazyProduct(task_.a_ref);
  task_.scratch += D_.lazyProduct(task_.de);
  task_.add_force(task_.scratch, tau);
  return robot_.limits().finish(tau);
}

}  // namespace limb
