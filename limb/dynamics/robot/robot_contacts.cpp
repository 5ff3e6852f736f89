// Robot: contacts, loops and actuation.
#include <cmath>

#include "limb/dynamics/robot/robot.hpp"
#include "limb/dynamics/robot/robot_cache.hpp"

namespace limb {

void Robot::add_contact(std::string_view frame, ContactKind kind, ContactAxes axes) {
  Contact<double> contact{cache_->frame("Robot::add_contact", frame)};
  contact.kind = kind;
  contact.axes = axes;
  cache_->contacts.push_back(contact);
  try {
    cache_->make_constraints();
  } catch (...) {
    cache_->contacts.pop_back();
    cache_->make_constraints();
    throw;
  }
}
void Robot::clear_contacts() {
  cache_->contacts.clear();
  cache_->make_constraints();
}

const ConstrainedMotion& Robot::constrained_forward_dynamics(VectorIn<double>& tau) const {
  Cache& c = *cache_;
  c.check_v("Robot::constrained_forward_dynamics", "tau", tau);
  return c.get(c.motion, c.motion_tau, tau, Cache::kExternal, [&](ConstrainedMotion& motion) {
    motion.report = limb::constrained_forward_dynamics(*c.model, *c.set, *c.constraint_work, c.q,
                                                       c.v, c.motion_tau, c.external, motion.a,
                                                       motion.f, {c.effects});
    if (!motion.report.ok()) {
      c.fail_singular("Robot::constrained_forward_dynamics", motion.report.velocity);
    }
  });
}
const ConstrainedTorques& Robot::constrained_inverse_dynamics(VectorIn<double>& a) const {
  Cache& c = *cache_;
  c.check_v("Robot::constrained_inverse_dynamics", "a", a);
  return c.get(c.torques, c.torques_a, a, Cache::kExternal, [&](ConstrainedTorques& torques) {
    torques.report = limb::constrained_inverse_dynamics(*c.model, *c.set, *c.constraint_work, c.q,
                                                        c.v, c.torques_a, c.external, torques.tau,
                                                        torques.f, {c.effects});
  });
}
const ImpactResult& Robot::impact(double restitution) const {
  Cache& c = *cache_;
  if (restitution != c.restitution[0]) c.impact.version = Cache::kNever;
  c.restitution[0] = restitution;
  return c.get(c.impact, Cache::kExternal, [&](ImpactResult& result) {
    result.report = limb::impact(*c.model, *c.set, *c.constraint_work, c.q, c.v, c.restitution,
                                 result.v, result.impulse, {c.effects});
    if (!result.report.ok()) c.fail_singular("Robot::impact", result.report.velocity);
  });
}

const OperationalSpace<double>& Robot::operational_space(std::string_view frame,
                                                         FrameAxes axes) const {
  Cache& c = *cache_;
  const FrameId id = c.frame("Robot::operational_space", frame);
  const Matrix6X<double>& J = jacobian(frame, axes);
  const Vector6<double> dJ_v = jacobian_rate_times_v(frame, axes).vector();
  return *c.get(c.task, c.task_view, {id.value(), axes}, Cache::kExternal,
                [&](std::optional<OperationalSpace<double>>& task) {
                  if (!task) task.emplace(*c.model, 6);
                  const FactorReport report =
                      c.is_constrained()
                          ? limb::operational_space(*c.model, *c.set, *c.constraint_work, c.q, c.v,
                                                    J, dJ_v, *task, {c.effects})
                          : limb::operational_space(*c.model, c.work, c.q, c.v, J, dJ_v, *task,
                                                    {c.effects});
                  if (!report.ok()) c.fail_singular("Robot::operational_space", report.velocity);
                });
}

const BaseJointPartition<double>& Robot::base_joint_partition() const {
  Cache& c = *cache_;
  const MatrixX<double>& M = mass_matrix();
  const VectorX<double>& h = bias();
  return c.get(c.partition, Cache::kVelocity, [&](BaseJointPartition<double>& partition) {
    limb::base_joint_partition(*c.model, M, h, partition);
  });
}
MatrixX<double> Robot::selection_matrix() const {
  MatrixX<double> S(motor_count(*cache_->model), cache_->model->nv());
  limb::selection_matrix(*cache_->model, S);
  return S;
}
Underactuation<double> Robot::underactuation() const {
  Cache& c = *cache_;
  return limb::underactuation(*c.model, *c.set, *c.constraint_work, c.q);
}

}  // namespace limb
