#include "limb/control/locomotion.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "limb/base/check.hpp"
#include "limb/control/whole_body_clock.hpp"
#include "limb/dynamics/manifold.hpp"
#include "limb/math/so3.hpp"

namespace limb {
namespace {

const Model<double>& check_model(const Model<double>& model) {
  if (model.body_count() < 2 || model.bodies()[1].joint.type() != JointType::free) {
    fail("Locomotion", "model", "one whose first joint is no free one", "a robot on a free base",
         "load it with Base::free");
  }
  return model;
}

int check_periods(const LocomotionOptions& o) {
  const char* call = "Locomotion";
  check_positive(call, "control_period", o.control_period);
  check_positive(call, "mpc_period", o.mpc_period);
  check_not_negative(call, "clearance", o.clearance);
  check_not_negative(call, "search_speed", o.search_speed);
  check_not_negative(call, "search_share", o.search_share);
  check_positive(call, "farthest_step", o.farthest_step);
  check_positive(call, "leash", o.leash);
  check_positive(call, "yaw_leash", o.yaw_leash);
  const double every = o.mpc_period / o.control_period;
  if (every < 0.999 || std::abs(every - std::round(every)) > 1e-6) {
    fail(call, "mpc_period", to_text(o.mpc_period),
         "a multiple of the control period, " + to_text(o.control_period));
  }
  return static_cast<int>(std::round(every));
}

}  // namespace

Locomotion::Locomotion(const Model<double>& model, std::vector<Foot> feet,
                       VectorIn<double>& posture, const LocomotionOptions& options)
    : model_(check_model(model)),
      options_(options),
      body_(model, std::move(feet), options.whole_body),
      mpc_(static_cast<int>(body_.feet().size()), model.total_mass(), model.gravity(), options.mpc),
      problem_(static_cast<int>(body_.feet().size()), options.mpc.steps),
      targets_(body_.targets()),
      gait_(Gait::stand(static_cast<int>(body_.feet().size()))),
      posture_(posture),
      scratch_(model),
      mpc_every_(check_periods(options)) {
  check_position("Locomotion", "posture", model, posture);
  q_ = posture;
  v_.setZero(model.velocity_size());
  A_G_.setZero(6, model.velocity_size());
  // Upright: a base that leans in the posture would tilt the feet.
  q_.head<7>() << 0, 0, 0, 0, 0, 0, 1;
  body_.update(q_, v_);
  Vector3<double> middle = Vector3<double>::Zero();
  for (int i = 0; i < static_cast<int>(body_.feet().size()); ++i) {
    Leg leg;
    leg.p_CF = leg.from = leg.to = body_.foot_position(i);
    middle += leg.p_CF;
    legs_.push_back(leg);
  }
  // A mass centre beside the middle of its feet would fall to that side with every step.
  middle /= static_cast<double>(legs_.size());
  for (Leg& leg : legs_) leg.p_CF -= middle;
  height_ = body_.mass_center().z() - middle.z();
  check_positive("Locomotion", "height of the mass centre above the feet", height_);
}

void Locomotion::set_gait(const Gait& gait) {
  gait.check("Locomotion::set_gait", static_cast<int>(legs_.size()));
  gait_ = gait;
  gait_start_ = t_;
}

const VectorX<double>& Locomotion::step(const BaseState& base, VectorIn<double>& joint_q,
                                        VectorIn<double>& joint_v, std::span<const bool> contact,
                                        const VelocityCommand& command) {
  const char* call = "Locomotion::step";
  check_size(call, "joint_q", joint_q.size(), q_.size() - 7, "the joints' own, without the base");
  check_size(call, "joint_v", joint_v.size(), v_.size() - 6, "the joints' own, without the base");
  check_size(call, "contact", static_cast<std::ptrdiff_t>(contact.size()),
             static_cast<std::ptrdiff_t>(legs_.size()));
  Stopwatch total, part;
  report_ = {};
  q_.head<3>() = base.X_WB.p;
  q_.segment<4>(3) = quaternion_from_matrix(base.X_WB.R).xyzw();
  q_.tail(joint_q.size()) = joint_q;
  v_.head<6>() = base.V_WB_B.vector();
  v_.tail(joint_v.size()) = joint_v;
  t_ = static_cast<double>(step_) * options_.control_period;
  body_.update(q_, v_);
  report_.kinematics_us = part.microseconds();

  part.restart();
  plan_body(command);
  plan_feet(contact);
  report_.plan_us = part.microseconds();
  if (step_ % mpc_every_ == 0 || changed_) {
    part.restart();
    predict();
    report_.mpc_us = part.microseconds();
  }
  part.restart();
  write_targets();
  const VectorX<double>& tau = body_.solve(targets_);
  report_.whole_body = body_.report();
  report_.whole_body_us = part.microseconds();
  report_.total_us = total.microseconds();
  ++step_;
  return tau;
}

// Where the body shall be: what the command integrates to, on a leash.
void Locomotion::plan_body(const VelocityCommand& command) {
  const Pose<double>& X_WB = body_.kinematics().X_WB[1];
  yaw_ = std::atan2(X_WB.R(1, 0), X_WB.R(0, 0));
  yaw_rate_ = command.yaw_rate;

  // The ground: where the standing feet are. At the first step all do.
  double sum = 0;
  int count = 0;
  for (std::size_t i = 0; i < legs_.size(); ++i) {
    if (!legs_[i].stands && started_) continue;
    sum += body_.foot_position(static_cast<int>(i)).z();
    ++count;
  }
  if (count > 0) ground_ = sum / count;

  if (!started_) {
    started_ = true;
    p_wanted_ = body_.mass_center();
    yaw_wanted_ = yaw_;
  }
  const double dt = options_.control_period;
  yaw_wanted_ += dt * command.yaw_rate;
  const double ahead = std::remainder(yaw_wanted_ - yaw_, 2 * std::numbers::pi);
  yaw_wanted_ = yaw_ + std::clamp(ahead, -options_.yaw_leash, options_.yaw_leash);
  const double c = std::cos(yaw_wanted_), s = std::sin(yaw_wanted_);
  v_command_ = {c * command.forward - s * command.left, s * command.forward + c * command.left, 0};
  p_wanted_ += dt * v_command_;
  Vector3<double> off = p_wanted_ - body_.mass_center();
  off.z() = 0;
  if (off.norm() > options_.leash) off *= options_.leash / off.norm();
  p_wanted_ = body_.mass_center() + off;
  p_wanted_.z() = ground_ + height_;
  R_wanted_ = so3::exp<double>(yaw_wanted_ * Vector3<double>::UnitZ());
}

void Locomotion::write_targets() {
  // The mass centre follows the prediction from where it was made, and the wanted height.
  const double since = t_ - predicted_at_;
  const Vector3<double> a = mpc_.acceleration();
  const Vector3<double> v = v_predicted_ + since * a;
  const Vector3<double> p = p_predicted_ + since * v_predicted_ + since * since / 2 * a;
  targets_.mass_center = a + options_.mass_center.stiffness * (p - body_.mass_center()) +
                         options_.mass_center.damping * (v - body_.mass_center_velocity());
  const Matrix3<double>& R_WB = body_.kinematics().X_WB[1].R;
  const Vector3<double> w_WB = R_WB * body_.kinematics().V_WB_B[1].w;
  const Vector3<double> dw = mpc_.angular_acceleration();
  targets_.turn = dw + options_.turn.stiffness * so3::log<double>(R_wanted_ * R_WB.transpose()) +
                  options_.turn.damping * (yaw_rate_ * Vector3<double>::UnitZ() - w_WB);
  difference(model_, q_, posture_, targets_.posture);
  targets_.posture = options_.posture.stiffness * targets_.posture - options_.posture.damping * v_;
}

}  // namespace limb
