#include "limb/control/locomotion/locomotion.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "limb/base/check.hpp"
#include "limb/control/locomotion/foothold.hpp"
#include "limb/control/locomotion/swing.hpp"
#include "limb/control/whole_body/stopwatch.hpp"
#include "limb/dynamics/kinematics/centroidal_momentum.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/math/so3.hpp"

namespace limb {
namespace {

const Model<double>& check_model(const Model<double>& model) {
  if (model.body_count() < 2 || model.bodies()[1].joint.type() != JointType::free) {
    fail("Locomotion", "model", "one whose first joint is not free", "a robot on a free base",
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
  check_positive(call, "max_position_lead", o.max_position_lead);
  check_positive(call, "max_yaw_lead", o.max_yaw_lead);
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
  v_.setZero(model.nv());
  A_G_.setZero(6, model.nv());
  // Upright: a tilted base in the posture would rotate the nominal stance.
  q_.head<7>() << 0, 0, 0, 0, 0, 0, 1;
  body_.update(q_, v_);
  Vector3<double> middle = Vector3<double>::Zero();
  for (int i = 0; i < static_cast<int>(body_.feet().size()); ++i) {
    Leg leg;
    leg.p_CF = leg.from = leg.to = body_.foot_position(i);
    middle += leg.p_CF;
    legs_.push_back(leg);
  }
  // A nominal stance that is not centred below the mass centre would make it drift.
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
  check_size(call, "joint_q", joint_q.size(), q_.size() - 7, "joints only, without the base");
  check_size(call, "joint_v", joint_v.size(), v_.size() - 6, "joints only, without the base");
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

// Desired motion of the body: the integral of the command, clamped to the actual motion.
void Locomotion::plan_body(const VelocityCommand& command) {
  const Pose<double>& X_WB = body_.kinematics().X_WB[1];
  yaw_ = std::atan2(X_WB.R(1, 0), X_WB.R(0, 0));
  yaw_rate_ = command.yaw_rate;

  // Ground height: the mean of the stance feet. In the first step all feet are in stance.
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
    p_desired_ = body_.mass_center();
    yaw_desired_ = yaw_;
  }
  const double dt = options_.control_period;
  yaw_desired_ += dt * command.yaw_rate;
  const double ahead = std::remainder(yaw_desired_ - yaw_, 2 * std::numbers::pi);
  yaw_desired_ = yaw_ + std::clamp(ahead, -options_.max_yaw_lead, options_.max_yaw_lead);
  const double c = std::cos(yaw_desired_), s = std::sin(yaw_desired_);
  v_command_ = {c * command.forward - s * command.left, s * command.forward + c * command.left, 0};
  p_desired_ += dt * v_command_;
  Vector3<double> off = p_desired_ - body_.mass_center();
  off.z() = 0;
  if (off.norm() > options_.max_position_lead) off *= options_.max_position_lead / off.norm();
  p_desired_ = body_.mass_center() + off;
  p_desired_.z() = ground_ + height_;
  R_desired_ = so3::exp<double>(yaw_desired_ * Vector3<double>::UnitZ());
}

Vector3<double> Locomotion::foothold_at(const Leg& leg, double left) const {
  FootholdInput in;
  in.p_WC = body_.mass_center();
  in.v_WC = body_.mass_center_velocity();
  in.yaw = yaw_;
  in.v_desired = v_command_;
  in.yaw_rate = yaw_rate_;
  in.p_CF = leg.p_CF;
  in.left = std::max(0.0, left);
  in.stance_time = gait_.stance_time();
  in.height = height_;
  in.ground = ground_;
  in.gravity = model_.gravity().norm();
  in.gain = options_.foothold_gain;
  in.farthest = options_.farthest_step;
  return foothold(in);
}

void Locomotion::plan_feet(std::span<const bool> contact) {
  changed_ = false;
  // No foot lifts off while another one is late and still searching for the ground.
  bool late = false;
  for (std::size_t i = 0; i < legs_.size(); ++i) {
    late = late || (!legs_[i].stands && !contact[i] && t_ > legs_[i].lifted + legs_[i].air_time);
  }
  for (std::size_t i = 0; i < legs_.size(); ++i) {
    Leg& leg = legs_[i];
    const bool stood = leg.stands;
    const int foot = static_cast<int>(i);
    auto& target = targets_.feet[i];
    const Gait::Phase phase = gait_.phase(foot, t_ - gait_start_);
    if (leg.stands && !late && !phase.stands && phase.progress < 0.5) {
      leg.stands = false;
      leg.lifted = t_;
      leg.air_time = phase.left;
      leg.from = body_.foot_position(foot);
    }
    if (!leg.stands) {
      const double s = (t_ - leg.lifted) / leg.air_time;
      // Early contact with an obstacle: restart the swing from slightly behind, in the time left.
      if (contact[i] && s > 0.2 && s <= 0.5 && leg.air_time > 0.5 * gait_.swing_time()) {
        const Vector3<double> step = leg.to - leg.from;
        leg.from = body_.foot_position(foot) - std::min(1.0, 0.02 / (step.norm() + 1e-9)) * step;
        leg.air_time -= t_ - leg.lifted;
        leg.lifted = t_;
      }
      const bool touched = contact[i] && s > 0.5, given_up = s >= 1 + options_.search_share;
      if (touched || given_up) leg.stands = true;
    }
    target.stands = leg.stands;
    changed_ = changed_ || leg.stands != stood;
    if (leg.stands) {
      leg.to = body_.foot_position(foot);
      continue;
    }
    const double s = (t_ - leg.lifted) / leg.air_time;
    // The foothold is fixed in the last fifth of the swing, to avoid a jump of the trajectory.
    if (s < 0.8) leg.to = foothold_at(leg, leg.lifted + leg.air_time - t_);
    const SwingPoint swing =
        swing_point(leg.from, leg.to, options_.clearance, leg.air_time, s, options_.search_speed);
    const auto& [stiffness, damping] = options_.swing;
    target.acceleration.v = swing.a + stiffness * (swing.p - body_.foot_position(foot)) +
                            damping * (swing.v - body_.foot_velocity(foot));
    target.acceleration.w.setZero();
  }
}

void Locomotion::predict() {
  const auto& [N, h] = std::pair{options_.mpc.steps, options_.mpc.step};
  const Matrix3<double>& R_WB = body_.kinematics().X_WB[1].R;
  MpcProblem& problem = problem_;
  problem.turn = so3::log<double>(R_WB * R_desired_.transpose());
  problem.p = body_.mass_center();
  problem.v = body_.mass_center_velocity();
  problem.w = R_WB * body_.kinematics().V_WB_B[1].w;
  problem.w_desired = yaw_rate_ * Vector3<double>::UnitZ();
  // Composite inertia of the robot about its mass centre, with locked joints: the angular momentum
  // per angular velocity of the base.
  centroidal_matrix(model_, body_.kinematics(), scratch_, A_G_);
  problem.inertia = A_G_.block<3, 3>(3, 3) * R_WB.transpose();

  const double c = std::cos(yaw_rate_ * h), s = std::sin(yaw_rate_ * h);
  Vector3<double> p = p_desired_, v = v_command_;
  const int feet = static_cast<int>(legs_.size());
  for (int k = 0; k < N; ++k) {
    p += h * v;
    v = {c * v.x() - s * v.y(), s * v.x() + c * v.y(), 0};
    const auto step = static_cast<std::size_t>(k);
    problem.p_desired[step] = p;
    problem.v_desired[step] = v;
    for (int i = 0; i < feet; ++i) {
      const Leg& leg = legs_[static_cast<std::size_t>(i)];
      const auto at = static_cast<std::size_t>(k * feet + i);
      const double ahead = (k + 0.5) * h;
      // A swing foot touches down as planned; after that the gait decides.
      const double down = leg.stands ? 0 : leg.lifted + leg.air_time - t_;
      const Gait::Phase phase = gait_.phase(i, t_ - gait_start_ + ahead);
      const bool first = k == 0;
      problem.stands[at] = first ? leg.stands : ahead >= down && phase.stands;
      // Position: the present one, or after a step within the horizon the predicted foothold.
      const bool same = leg.stands && gait_.phase(i, t_ - gait_start_).left > ahead;
      problem.feet[at] = same ? body_.foot_position(i) : leg.to;
      if (leg.stands && !same) {
        const double stance_left = gait_.phase(i, t_ - gait_start_).left;
        problem.feet[at] = foothold_at(leg, stance_left + gait_.swing_time());
      }
    }
  }
  report_.mpc_ran = true;
  report_.mpc_status = mpc_.solve(problem);
  report_.mpc_residuals = mpc_.residuals();
  report_.mpc_iterations = mpc_.iterations();
  predicted_at_ = t_;
  p_predicted_ = problem.p;
  v_predicted_ = problem.v;
  for (std::size_t i = 0; i < legs_.size(); ++i) targets_.feet[i].force = mpc_.forces()[i];
}

void Locomotion::write_targets() {
  // The mass centre follows the prediction of the MPC since its last run.
  const double since = t_ - predicted_at_;
  const Vector3<double> a = mpc_.acceleration();
  const Vector3<double> v = v_predicted_ + since * a;
  const Vector3<double> p = p_predicted_ + since * v_predicted_ + since * since / 2 * a;
  targets_.mass_center = a + options_.mass_center.stiffness * (p - body_.mass_center()) +
                         options_.mass_center.damping * (v - body_.mass_center_velocity());
  const Matrix3<double>& R_WB = body_.kinematics().X_WB[1].R;
  const Vector3<double> w_WB = R_WB * body_.kinematics().V_WB_B[1].w;
  const Vector3<double> dw = mpc_.angular_acceleration();
  targets_.turn = dw + options_.turn.stiffness * so3::log<double>(R_desired_ * R_WB.transpose()) +
                  options_.turn.damping * (yaw_rate_ * Vector3<double>::UnitZ() - w_WB);
  difference(model_, q_, posture_, targets_.posture);
  targets_.posture = options_.posture.stiffness * targets_.posture - options_.posture.damping * v_;
}

}  // namespace limb
