#include "limb/control/task/hybrid_force_control.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "limb/dynamics/factor/mass_factor.hpp"
#include "limb/dynamics/recursive/rnea.hpp"

namespace limb {
namespace {

constexpr const char* kCall = "HybridForceControl";

FrameTaskSetup force_task(const HybridForceControl::Setup& setup) {
  FrameTaskSetup task = setup.task;
  task.rows = setup.force_rows;
  for (std::size_t i = 0; i < 6; ++i) {
    if (setup.task.rows[i] && setup.force_rows[i]) {
      fail(kCall, "direction " + std::to_string(i), "controlled in motion and in force",
           "one of the two");
    }
  }
  if (task.row_count() == 0)
    throw Error(std::string(kCall) + ": force_rows has no direction, expected at least one");
  return task;
}

FrameTaskSetup whole_task(const HybridForceControl::Setup& setup) {
  FrameTaskSetup task = setup.task;
  for (std::size_t i = 0; i < 6; ++i) task.rows[i] = task.rows[i] || setup.force_rows[i];
  return task;
}

}  // namespace

HybridForceControl::HybridForceControl(ControlledRobot robot, const Setup& setup)
    : robot_(std::move(robot)),
      motion_(kCall, robot_.model(), setup.task),
      force_(kCall, robot_.model(), force_task(setup)),
      all_(kCall, robot_.model(), whole_task(setup)),
      posture_(kCall, robot_.model(), setup.posture),
      setup_(setup),
      f_(VectorX<double>::Zero(force_.rows())),
      error_(f_),
      surplus_(f_),
      integral_(f_),
      a_(VectorX<double>::Zero(robot_.size())) {
  robot_.check_all_driven(kCall);
  robot_.check_tree(kCall);
  check_positive(kCall, "frequency", setup.frequency);
  check_not_negative(kCall, "damping_ratio", setup.damping_ratio);
  check_positive(kCall, "max_feedback_acceleration", setup.max_feedback_acceleration);
  check_not_negative(kCall, "force_kp", setup.force_kp);
  check_not_negative(kCall, "force_ki", setup.force_ki);
  check_not_negative(kCall, "force_kd", setup.force_kd);
  check_not_negative(kCall, "largest_integral", setup.largest_integral);
  check_not_negative(kCall, "contact_threshold", setup.contact_threshold);
  check_positive(kCall, "period", setup.period);
  const double w = 2 * std::numbers::pi * setup.frequency;
  kp_ = w * w;
  kd_ = 2 * setup.damping_ratio * w;
}

StepReport HybridForceControl::step(VectorIn<double>& q, VectorIn<double>& v,
                                    const FrameReference& reference, const Vector6<double>& f_ref,
                                    const Force<double>& F_F, VectorOut<double> tau) noexcept {
  const Model<double>& model = robot_.model();
  if (!robot_.fits(q, v, tau)) return MotorLimits::reject(Status::wrong_size, tau);
  if (!q.allFinite() || !v.allFinite() || !reference.is_finite() || !f_ref.allFinite() ||
      !F_F.f.allFinite() || !F_F.n.allFinite()) {
    return MotorLimits::reject(Status::not_finite, tau);
  }
  motion_.update_kinematics(model, q, v, reference);
  force_.update_kinematics(model, q, v, reference);
  all_.update_kinematics(model, q, v, reference);
  if (motion_.update_dynamics(model, robot_.work(), q, v) != Status::ok ||
      all_.update_dynamics(model, robot_.work(), q, v) != Status::ok) {
    return MotorLimits::reject(Status::singular, tau);
  }

  // The force loop. The exerted force is the opposite of the measured one.
  const Matrix3<double> R_TF = setup_.task.R_WT.transpose() * force_.X_WF.R;
  Vector6<double> exerted;
  exerted << R_TF * -F_F.f, R_TF * -F_F.n;
  int row = 0;
  for (int i = 0; i < 6; ++i) {
    if (!setup_.force_rows[static_cast<std::size_t>(i)]) continue;
    const double error = f_ref[i] - exerted[i];
    const bool contact = std::abs(exerted[i]) >= setup_.contact_threshold * std::abs(f_ref[i]);
    f_[row] =
        f_ref[i] + setup_.force_kp * error + integral_[row] - setup_.force_kd * force_.dx[row];
    surplus_[row] = f_[row] - exerted[i];
    error_[row] = contact ? error : 0;
    ++row;
  }

  // Gravity and posture; the whole task with zero acceleration along the force.
  const VectorX<double>& a_0 = posture_.acceleration(model, q, v);
  rnea(model, robot_.work(), q, v, a_0, tau, setup_.task.effects);
  motion_.add_feedback(kp_, kd_, setup_.max_feedback_acceleration, motion_.a_ref);
  int moving = 0, at = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    if (setup_.task.rows[i]) all_.a_ref[at++] = motion_.a_ref[moving++];
    if (setup_.force_rows[i]) all_.a_ref[at++] = 0;
  }
  all_.a_ref -= all_.dJ_v;
  all_.a_ref -= all_.J.lazyProduct(a_0);
  all_.scratch = all_.space.Lambda.lazyProduct(all_.a_ref);
  all_.add_force(all_.scratch, tau);

  // The force, minus the effect of its unbalanced part on the motion.
  force_.add_force(f_, tau);
  a_.setZero();
  force_.add_force(surplus_, a_);
  solve_mass(motion_.space.factor, a_, a_);
  motion_.a_ref = -motion_.J.lazyProduct(a_);
  motion_.scratch = motion_.space.Lambda.lazyProduct(motion_.a_ref);
  motion_.add_force(motion_.scratch, tau);
  const StepReport report = robot_.limits().finish(tau);
  // Anti-windup: no integration while a motor is saturated.
  if (report.ok() && report.saturated == 0) {
    const double most = setup_.largest_integral;
    for (Eigen::Index i = 0; i < integral_.size(); ++i) {
      integral_[i] =
          std::clamp(integral_[i] + setup_.period * setup_.force_ki * error_[i], -most, most);
    }
  }
  return report;
}

}  // namespace limb
