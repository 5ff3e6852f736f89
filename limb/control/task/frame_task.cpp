#include "limb/control/task/frame_task.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "limb/dynamics/kinematics/check_state.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/math/so3.hpp"

namespace limb {

int FrameTaskSetup::row_count() const {
  return static_cast<int>(std::count(rows.begin(), rows.end(), true));
}

bool FrameReference::is_finite() const noexcept {
  return X_WF.R.allFinite() && X_WF.p.allFinite() && V.v.allFinite() && V.w.allFinite() &&
         A.v.allFinite() && A.w.allFinite();
}

FrameTask::FrameTask(const char* call, const Model<double>& model, const FrameTaskSetup& setup)
    : J(MatrixX<double>::Zero(setup.row_count(), model.nv())),
      dJ_v(VectorX<double>::Zero(setup.row_count())),
      dx(dJ_v),
      e(dJ_v),
      de(dJ_v),
      a_ref(dJ_v),
      scratch(dJ_v),
      space(model, setup.row_count()),
      setup_(setup),
      kinematics_(model),
      J_W_(Matrix6X<double>::Zero(6, model.nv())),
      J_scaled_(J),
      scale_(VectorX<double>::Ones(setup.row_count())),
      dJ_v_scaled_(dJ_v) {
  const int frames = static_cast<int>(model.frames().size());
  if (setup.frame.value() < 0 || setup.frame.value() >= frames) {
    fail(call, "frame", std::to_string(setup.frame.value()),
         "one of the " + std::to_string(frames) + " frames of the model");
  }
  if (setup.row_count() == 0)
    throw Error(std::string(call) + ": rows has no direction, expected at least one");
  check_rotation(call, "R_WT", setup.R_WT);
  if (!(setup.threshold >= 0 && setup.threshold < 1)) {
    fail(call, "threshold", to_text(setup.threshold), "0 <= threshold < 1");
  }
  check_positive(call, "length", setup.length);
  int row = 0;
  for (int i = 0; i < 6; ++i) {
    if (!setup.rows[static_cast<std::size_t>(i)]) continue;
    if (i >= 3) scale_[row] = setup.length;
    row_[static_cast<std::size_t>(row++)] = i;
  }
}

void FrameTask::update_kinematics(const Model<double>& model, VectorIn<double>& q,
                                  VectorIn<double>& v, const FrameReference& reference) noexcept {
  constexpr FrameAxes kAxes = FrameAxes::local_world_aligned;
  const Matrix3<double>& R_WT = setup_.R_WT;
  forward_kinematics(model, q, v, kinematics_);
  X_WF = frame_pose(model, kinematics_, setup_.frame);
  frame_jacobian(model, kinematics_, setup_.frame, kAxes, J_W_);
  const Motion<double> V = frame_velocity(model, kinematics_, setup_.frame, kAxes);
  const Motion<double> bias = frame_jacobian_rate_times_v(model, kinematics_, setup_.frame, kAxes);
  rotation_error_W = so3::log<double>(reference.X_WF.R * X_WF.R.transpose());

  // All six directions in the axes T, from which the rows are selected.
  const auto in_task_axes = [&](const Vector3<double>& x, const Vector3<double>& y) {
    Vector6<double> both;
    both << R_WT.transpose() * x, R_WT.transpose() * y;
    return both;
  };
  const Vector6<double> error = in_task_axes(reference.X_WF.p - X_WF.p, rotation_error_W);
  const Vector6<double> rate = in_task_axes(V.v, V.w);
  const Vector6<double> rate_desired = in_task_axes(reference.V.v, reference.V.w);
  const Vector6<double> acceleration = in_task_axes(reference.A.v, reference.A.w);
  const Vector6<double> drift = in_task_axes(bias.v, bias.w);
  for (int r = 0; r < rows(); ++r) {
    const int i = row_[static_cast<std::size_t>(r)], block = i < 3 ? 0 : 3;
    e[r] = error[i];
    dx[r] = rate[i];
    de[r] = rate_desired[i] - rate[i];
    a_ref[r] = acceleration[i];
    dJ_v[r] = drift[i];
    for (Eigen::Index c = 0; c < J.cols(); ++c) {
      J(r, c) = R_WT.col(i - block).dot(J_W_.col(c).segment<3>(block));
    }
  }
}

Status FrameTask::update_dynamics(const Model<double>& model, Workspace<double>& work,
                                  VectorIn<double>& q, VectorIn<double>& v) noexcept {
  J_scaled_ = scale_.asDiagonal() * J;
  dJ_v_scaled_ = scale_.cwiseProduct(dJ_v);
  const FactorReport report = operational_space(model, work, q, v, J_scaled_, dJ_v_scaled_, space,
                                                {setup_.effects, setup_.threshold});
  if (!report.ok()) return report.status;
  // Undo the scaling of the rotational rows.
  for (Eigen::Index r = 0; r < scale_.size(); ++r) {
    space.Lambda.row(r) *= scale_[r];
    space.Lambda.col(r) *= scale_[r];
    space.J_bar.col(r) *= scale_[r];
    space.mu[r] *= scale_[r];
    space.rho[r] *= scale_[r];
  }
  return Status::ok;
}

void FrameTask::add_feedback(double kp, double kd, double most, VectorX<double>& a) const noexcept {
  double linear = 0, angular = 0;
  for (int r = 0; r < rows(); ++r) {
    (row_[static_cast<std::size_t>(r)] < 3 ? linear : angular) += kp * e[r] * kp * e[r];
  }
  const auto factor = [](double size, double limit) { return size > limit ? limit / size : 1; };
  const double linear_factor = factor(std::sqrt(linear), most);
  const double angular_factor = factor(std::sqrt(angular), most / setup_.length);
  for (int r = 0; r < rows(); ++r) {
    const double part = row_[static_cast<std::size_t>(r)] < 3 ? linear_factor : angular_factor;
    a[r] += part * kp * e[r] + kd * de[r];
  }
}

void FrameTask::add_force(const VectorX<double>& F, VectorOut<double> tau) const noexcept {
  for (Eigen::Index c = 0; c < J.cols(); ++c) tau[c] += J.col(c).dot(F);
}

PostureLaw::PostureLaw(const char* call, const Model<double>& model, const PostureOptions& posture)
    : q_(posture.q), a_(VectorX<double>::Zero(model.nv())) {
  check_positive(call, "posture.frequency", posture.frequency);
  check_not_negative(call, "posture.damping_ratio", posture.damping_ratio);
  if (q_.size() > 0) check_configuration(call, "posture.q", model, q_);
  const double w = 2 * std::numbers::pi * posture.frequency;
  kp_ = w * w;
  kd_ = 2 * posture.damping_ratio * w;
}

const VectorX<double>& PostureLaw::acceleration(const Model<double>& model, VectorIn<double>& q,
                                                VectorIn<double>& v) noexcept {
  a_.setZero();
  if (q_.size() > 0) {
    difference(model, q, q_, a_);
    a_ *= kp_;
  }
  a_ -= kd_ * v;
  return a_;
}

}  // namespace limb
