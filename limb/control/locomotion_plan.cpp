// Feet of Locomotion: which stand, where the others go, and what the horizon sees of them.
#include <algorithm>
#include <cmath>

#include "limb/control/foothold.hpp"
#include "limb/control/locomotion.hpp"
#include "limb/control/swing.hpp"
#include "limb/dynamics/momentum.hpp"
#include "limb/math/so3.hpp"

namespace limb {

Vector3<double> Locomotion::foothold_at(const Leg& leg, double left) const {
  FootholdInput in;
  in.p_WC = body_.mass_center();
  in.v_WC = body_.mass_center_velocity();
  in.yaw = yaw_;
  in.v_wanted = v_command_;
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
  // While a foot still looks for the ground that it should stand on, no other leaves it.
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
      // It has met a step on its way: a bit back, and up from there in the time that is left.
      if (contact[i] && s > 0.2 && s <= 0.5 && leg.air_time > 0.5 * gait_.swing_time()) {
        const Vector3<double> way = leg.to - leg.from;
        leg.from = body_.foot_position(foot) - std::min(1.0, 0.02 / (way.norm() + 1e-9)) * way;
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
    // In the last fifth the foothold stays: a late change would be a jump.
    if (s < 0.8) leg.to = foothold_at(leg, leg.lifted + leg.air_time - t_);
    const SwingPoint way =
        swing_point(leg.from, leg.to, options_.clearance, leg.air_time, s, options_.search_speed);
    const auto& [stiffness, damping] = options_.swing;
    target.acceleration.v = way.a + stiffness * (way.p - body_.foot_position(foot)) +
                            damping * (way.v - body_.foot_velocity(foot));
    target.acceleration.w.setZero();
  }
}

void Locomotion::predict() {
  const auto& [N, h] = std::pair{options_.mpc.steps, options_.mpc.step};
  const Matrix3<double>& R_WB = body_.kinematics().X_WB[1].R;
  MpcProblem& problem = problem_;
  problem.turn = so3::log<double>(R_WB * R_wanted_.transpose());
  problem.p = body_.mass_center();
  problem.v = body_.mass_center_velocity();
  problem.w = R_WB * body_.kinematics().V_WB_B[1].w;
  problem.w_wanted = yaw_rate_ * Vector3<double>::UnitZ();
  // Inertia of the whole robot about its mass centre, as if its joints were locked: the moment of
  // momentum by the turning of the base.
  centroidal_matrix(model_, body_.kinematics(), scratch_, A_G_);
  problem.inertia = A_G_.block<3, 3>(3, 3) * R_WB.transpose();

  const double c = std::cos(yaw_rate_ * h), s = std::sin(yaw_rate_ * h);
  Vector3<double> p = p_wanted_, v = v_command_;
  const int feet = static_cast<int>(legs_.size());
  for (int k = 0; k < N; ++k) {
    p += h * v;
    v = {c * v.x() - s * v.y(), s * v.x() + c * v.y(), 0};
    const auto step = static_cast<std::size_t>(k);
    problem.p_wanted[step] = p;
    problem.v_wanted[step] = v;
    for (int i = 0; i < feet; ++i) {
      const Leg& leg = legs_[static_cast<std::size_t>(i)];
      const auto at = static_cast<std::size_t>(k * feet + i);
      const double ahead = (k + 0.5) * h;
      // A foot in the air comes down when it is meant to; then the gait decides.
      const double down = leg.stands ? 0 : leg.lifted + leg.air_time - t_;
      const Gait::Phase phase = gait_.phase(i, t_ - gait_start_ + ahead);
      const bool first = k == 0;
      problem.stands[at] = first ? leg.stands : ahead >= down && phase.stands;
      // Where it stands: as now, or after a step in the horizon, where the body will then be.
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

}  // namespace limb
