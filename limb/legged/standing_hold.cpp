#include "limb/legged/standing_hold.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "limb/base/check.hpp"
#include "limb/dynamics/kinematics/center_of_mass.hpp"
#include "limb/dynamics/kinematics/forward_kinematics.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/recursive/rnea.hpp"

namespace limb {

StandingHold::StandingHold(const LeggedRobot& robot, const HoldGains& gains)
    : model_(robot.model), feet_(robot.points()), work_(model_) {
  check_positive("StandingHold", "stiffness", gains.stiffness);
  check_not_negative("StandingHold", "damping_time", gains.damping_time);
  const double weight = model_.total_mass() * model_.gravity().norm();
  check_positive("StandingHold", "rate", gains.rate);
  const double stiffness = gains.stiffness * weight * robot.height();
  stiffness_.setConstant(model_.nv() - 6, stiffness);
  damping_.setConstant(model_.nv() - 6, gains.damping_time * stiffness);
  if (const auto held = robot.held_velocities(); !held.empty()) {
    MatrixX<double> M(model_.nv(), model_.nv());
    crba(model_, work_, robot.q, M);
    // The inertia of a joint while the others yield, 1 / (M^-1)_ii. M_ii may be far larger, for
    // example for the shoulder of a stretched arm, and damping by it unstable: M^-1 times the
    // damping has no eigenvalue above its trace, here 2 rate per joint.
    const MatrixX<double> inverse = MatrixX<double>(M(held, held)).inverse();
    for (std::size_t k = 0; k < held.size(); ++k) {
      const auto i = static_cast<Eigen::Index>(k);
      const double inertia = 1 / inverse(i, i);
      stiffness_[held[k] - 6] = gains.rate * gains.rate * inertia;
      damping_[held[k] - 6] = 2 * gains.rate * inertia;
    }
  }
  effort_ = VectorX<double>::Constant(model_.nv(), std::numeric_limits<double>::infinity());
  for (const Body<double>& body : model_.bodies()) {
    if (body.joint.nv() != 1 || body.limits.empty()) continue;
    effort_[body.v_start] = body.limits[0].effort.value_or(effort_[body.v_start]);
  }
  feed_forward_ = tau_ = VectorX<double>::Zero(model_.nv());
  set_target(robot.q.tail(robot.q.size() - 7));
}

void StandingHold::set_target(VectorIn<double>& joint_q) {
  check_size("StandingHold::set_target", "joint_q", joint_q.size(), model_.nq() - 7,
             "joints only, without the base");
  q_target_ = joint_q;
  VectorX<double> q = model_.neutral();
  q.tail(joint_q.size()) = joint_q;
  Kinematics<double> kinematics(model_);
  forward_kinematics(model_, q, kinematics);
  gravity(model_, work_, q, feed_forward_);
  // The smallest vertical forces at the feet whose sum is the weight and whose moment about the
  // mass centre is zero.
  const Vector3<double> p_WC = center_of_mass(model_, kinematics);
  const auto n = static_cast<Eigen::Index>(feet_.size());
  MatrixX<double> A(3, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const Vector3<double> r =
        frame_pose(model_, kinematics, feet_[static_cast<std::size_t>(i)].frame).p - p_WC;
    A.col(i) << 1, r.x(), r.y();
  }
  const Vector3<double> load(model_.total_mass() * model_.gravity().norm(), 0, 0);
  Matrix3<double> AAt = A * A.transpose();
  AAt.diagonal().array() += 1e-9;  // least squares if the feet are on a line
  const VectorX<double> forces = A.transpose() * AAt.ldlt().solve(load);
  Matrix6X<double> J(6, model_.nv());
  for (Eigen::Index i = 0; i < n; ++i) {
    frame_jacobian(model_, kinematics, feet_[static_cast<std::size_t>(i)].frame,
                   FrameAxes::local_world_aligned, J);
    feed_forward_ -= forces[i] * J.row(2).transpose();
  }
}

const VectorX<double>& StandingHold::step(VectorIn<double>& joint_q, VectorIn<double>& joint_v) {
  const char* call = "StandingHold::step";
  check_size(call, "joint_q", joint_q.size(), q_target_.size(), "joints only, without the base");
  check_size(call, "joint_v", joint_v.size(), tau_.size() - 6, "joints only, without the base");
  const auto n = joint_v.size();
  tau_.tail(n) = feed_forward_.tail(n) + stiffness_.cwiseProduct(q_target_ - joint_q) -
                 damping_.cwiseProduct(joint_v);
  tau_ = tau_.cwiseMax(-effort_).cwiseMin(effort_);
  tau_.head<6>().setZero();
  return tau_;
}

}  // namespace limb
