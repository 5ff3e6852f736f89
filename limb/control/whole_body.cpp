#include "limb/control/whole_body.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "limb/base/check.hpp"
#include "limb/control/whole_body_clock.hpp"
#include "limb/control/whole_body_contact.hpp"
#include "limb/dynamics/crba.hpp"
#include "limb/dynamics/jacobian.hpp"
#include "limb/dynamics/motors.hpp"
#include "limb/dynamics/rnea.hpp"

namespace limb {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

void check_options(const WholeBodyOptions& o) {
  const char* call = "WholeBody";
  check_positive(call, "friction", o.friction);
  if (o.cone_faces < 4 || o.cone_faces % 2 != 0) {
    fail(call, "cone_faces", std::to_string(o.cone_faces), "an even number, 4 or more");
  }
  check_not_negative(call, "max_normal_force", o.max_normal_force);
  check_positive(call, "effort_share", o.effort_share);
  check_not_negative(call, "mass_center_weight", o.mass_center_weight);
  check_not_negative(call, "turn_weight", o.turn_weight);
  check_not_negative(call, "swing_weight", o.swing_weight);
  // These two make the program strictly convex.
  check_positive(call, "posture_weight", o.posture_weight);
  check_positive(call, "force_weight", o.force_weight);
  check_not_negative(call, "contact_damping", o.contact_damping);
  check_not_negative(call, "contact_brake", o.contact_brake);
  check_positive(call, "limit_rate", o.limit_rate);
  check_not_negative(call, "fall_back_stiffness", o.fall_back_stiffness);
  check_not_negative(call, "fall_back_damping", o.fall_back_damping);
}

void check_feet(const Model<double>& model, const std::vector<Foot>& feet) {
  if (feet.empty()) fail("WholeBody", "feet", "empty", "at least one foot");
  if (!model.loops().empty()) {
    fail("WholeBody", "model", "one with loops", "a tree: loops are not part of the program");
  }
  for (const Foot& foot : feet) {
    if (foot.points.empty() || foot.points.size() == 2) {
      fail("WholeBody", "points of a foot", std::to_string(foot.points.size()),
           "one, or three and more that span a sole");
    }
  }
}

}  // namespace

WholeBody::WholeBody(const Model<double>& model, std::vector<Foot> feet,
                     const WholeBodyOptions& options)
    : model_(model),
      feet_(std::move(feet)),
      options_(options),
      n_(model.velocity_size()),
      weight_(model.total_mass() * model.gravity().norm()),
      work_(model),
      kinematics_(model),
      scratch_(model) {
  check_options(options);
  check_feet(model, feet_);
  if (options_.max_normal_force == 0) options_.max_normal_force = 4 * weight_;
  check_positive("WholeBody", "weight of the robot", weight_);
  if (options_.effort.size() > 0) {
    check_velocity("WholeBody", "effort", model, options_.effort);
    check_not_negative("WholeBody", "effort", options_.effort.minCoeff());
  }
  int row = 0;
  for (int i = 0; i < n_; ++i) {
    if (!is_driven(model, i)) undriven_.push_back(i);
  }
  row = static_cast<int>(undriven_.size());
  for (const Foot& foot : feet_) {
    const auto place = AnyFrame<double>(foot.frame).on("WholeBody", model);  // throws if none
    const Pose<double> X_FQ{Matrix3<double>::Identity(), foot.points.front()};
    frames_.emplace_back(BodyId(static_cast<int>(place.body)),
                         foot.is_sole() ? place.X_BF : place.X_BF * X_FQ);
    const int rows = foot.is_sole() ? 6 : 3;
    places_.push_back({points_, row, rows});
    row += rows;
    points_ += static_cast<int>(foot.points.size());
  }
  for (const auto& body : model.bodies()) {
    if (body.parent.value() < 0 || &body == &model.bodies().front()) continue;
    const auto index = static_cast<std::size_t>(&body - &model.bodies().front()) - 1;
    const auto& coupling = model.coupling().rows()[index];
    if (coupling.yq < 0) continue;  // it follows another, whose motor is asked
    for (std::size_t k = 0; k < coupling.terms.size(); ++k) {
      const int i = coupling.terms[k].y;
      if (!is_driven(model, i)) continue;
      const DofLimits<double>& limits = body.limits[k];
      const double effort =
          options_.effort.size() > 0 ? options_.effort[i] : limits.effort.value_or(kNone);
      joints_.push_back({i, coupling.nq == 1 ? coupling.yq : -1, options_.effort_share * effort,
                         limits.lower.value_or(-kNone), limits.upper.value_or(kNone),
                         limits.velocity.value_or(kNone)});
    }
  }
  for (int k = 0; k < options_.cone_faces; ++k) {
    const double angle = 2 * std::numbers::pi * k / options_.cone_faces;
    directions_.emplace_back(std::cos(angle), std::sin(angle), 0);
  }

  q_.setZero(model.position_size());
  hold_ = q_;
  for (auto* x : {&v_, &h_, &a_, &tau_, &gravity_}) x->setZero(n_);
  M_.setZero(n_, n_);
  J_com_.setZero(3, n_);
  J_base_.setZero(6, n_);
  f_.setZero(3, points_);
  J_feet_.assign(feet_.size(), J_base_);
  J_points_.assign(static_cast<std::size_t>(points_), J_com_);
  V_feet_.resize(feet_.size());
  bias_feet_.resize(feet_.size());
  p_points_.resize(static_cast<std::size_t>(points_));
  x_.setZero(n_ + 3 * points_);
  make_levels();
}

WholeBodyTargets WholeBody::targets() const {
  WholeBodyTargets result;
  result.feet.resize(feet_.size());
  result.posture.setZero(n_);
  return result;
}

void WholeBody::update(VectorIn<double>& q, VectorIn<double>& v) {
  check_position("WholeBody::update", "q", model_, q);
  check_velocity("WholeBody::update", "v", model_, v);
  q_ = q;
  v_ = v;
  forward_kinematics(model_, q_, v_, kinematics_);
  crba(model_, work_, q_, M_);
  // Coulomb friction is left to the feedback: its sign at rest is anyone's guess.
  bias(model_, work_, q_, v_, h_, JointEffects{true, true, false});
  p_WC_ = limb::center_of_mass(model_, kinematics_);
  v_WC_ = center_of_mass_velocity(model_, kinematics_);
  center_of_mass_jacobian(model_, kinematics_, scratch_, J_com_);
  bias_com_ = center_of_mass_jacobian_rate_times_v(model_, kinematics_, scratch_);
  constexpr auto kAxes = FrameAxes::local_world_aligned;
  frame_jacobian(model_, kinematics_, BodyId(1), kAxes, J_base_);
  bias_base_ = frame_jacobian_rate_times_v(model_, kinematics_, BodyId(1), kAxes);
  std::size_t point = 0;
  for (std::size_t i = 0; i < feet_.size(); ++i) {
    frame_jacobian(model_, kinematics_, frames_[i], kAxes, J_feet_[i]);
    bias_feet_[i] = frame_jacobian_rate_times_v(model_, kinematics_, frames_[i], kAxes);
    V_feet_[i] = frame_velocity(model_, kinematics_, frames_[i], kAxes);
    const FrameId frame = feet_[i].frame;
    const Pose<double> X_WF = frame_pose(model_, kinematics_, frame);
    for (const Vector3<double>& p_FQ : feet_[i].points) {
      point_jacobian(model_, kinematics_, frame, p_FQ, J_points_[point]);
      p_points_[point++] = X_WF * p_FQ;
    }
  }
}

Vector3<double> WholeBody::foot_position(int foot) const {
  return frame_pose(model_, kinematics_, frames_[static_cast<std::size_t>(foot)]).p;
}
Vector3<double> WholeBody::foot_velocity(int foot) const {
  return V_feet_[static_cast<std::size_t>(foot)].v;
}
Vector3<double> WholeBody::foot_force(int foot) const {
  const auto i = static_cast<std::size_t>(foot);
  return f_.middleCols(places_[i].first_point, static_cast<int>(feet_[i].points.size()))
      .rowwise()
      .sum();
}

void WholeBody::effort_shares(Eigen::Ref<VectorX<double>> shares) const {
  shares.setZero();
  for (const Joint& joint : joints_) {
    if (joint.effort > 0) shares[joint.velocity] = tau_[joint.velocity] / joint.effort;
  }
}

const VectorX<double>& WholeBody::solve(const WholeBodyTargets& targets) noexcept {
  Stopwatch watch;
  report_ = {};
  if (targets.feet.size() != feet_.size() || targets.posture.size() != n_) {
    report_.status = QpStatus::not_finite;  // no step throws: targets() has the right sizes
    fall_back(this->targets());
    return tau_;
  }
  for (Level& level : levels_) {
    watch.restart();
    Qp& qp = level.program;
    write_tasks(targets, level, qp);
    write_dynamics(qp);
    write_feet(targets, qp);
    write_limits(qp);
    write_kept(targets, level, qp);
    report_.setup_us += watch.microseconds();

    watch.restart();
    report_.status = qp.solve();
    report_.solve_us += watch.microseconds();
    report_.iterations += qp.iterations();
    const QpResiduals residuals = qp.residuals();
    // What one level has found serves where the next one fails.
    if (!serves(qp, report_.status)) {
      if (report_.levels == 0) report_.residuals = residuals;
      break;
    }
    report_.residuals = residuals;
    x_ = qp.x();
    ++report_.levels;
  }
  judge(targets);
  return tau_;
}

// A solution that was stopped in time serves if it keeps the constraints to a thousandth of what
// they are about: the weight.
bool WholeBody::serves(const Qp& qp, QpStatus status) const {
  return status == QpStatus::solved || (status == QpStatus::iteration_limit &&
                                        qp.residuals().primal < 1e-3 && qp.x().allFinite());
}

void WholeBody::judge(const WholeBodyTargets& targets) {
  if (report_.levels == 0) {
    fall_back(targets);
    return;
  }
  holding_ = false;
  a_ = x_.head(n_);
  for (int k = 0; k < points_; ++k) f_.col(k) = weight_ * x_.segment<3>(n_ + 3 * k);

  // tau = M a + h - J^T f, of the motors.
  gravity_.noalias() = M_ * a_;
  gravity_ += h_;
  for (int k = 0; k < points_; ++k) {
    gravity_.noalias() -= J_points_[static_cast<std::size_t>(k)].transpose() * f_.col(k);
  }
  tau_.setZero();
  for (const Joint& joint : joints_) {
    const double tau = gravity_[joint.velocity];
    report_.over_limit = std::max(report_.over_limit, std::abs(tau) - joint.effort);
    tau_[joint.velocity] = std::clamp(tau, -joint.effort, joint.effort);
  }
  const double slope = options_.friction * std::cos(std::numbers::pi / options_.cone_faces);
  for (std::size_t i = 0; i < feet_.size(); ++i) {
    if (!targets.feet[i].stands) continue;
    const auto R = contact_axes(targets.feet[i].normal);
    for (std::size_t k = 0; k < feet_[i].points.size(); ++k) {
      const Vector3<double> f =
          R.transpose() * f_.col(places_[i].first_point + static_cast<int>(k));
      report_.outside_cone = std::max(report_.outside_cone, -f.z());
      for (const Vector3<double>& d : directions_) {
        report_.outside_cone = std::max(report_.outside_cone, d.dot(f) - slope * f.z());
      }
    }
  }
}

}  // namespace limb
