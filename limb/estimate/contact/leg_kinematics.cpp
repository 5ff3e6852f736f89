#include "limb/estimate/contact/leg_kinematics.hpp"

#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/estimate/filter/filter_state.hpp"

namespace limb {
namespace {

constexpr const char* kCall = "LegKinematics";

const Model<double>& check_floating(const Model<double>& model) {
  if (model.body_count() < 2 || model.bodies()[1].joint.type() != JointType::free) {
    throw Error(
        std::string(kCall) +
        ": the robot's root is not free (load it with a free base: Base::free, --base free)");
  }
  return model;
}

}  // namespace

LegKinematics::LegKinematics(const Model<double>& model, std::span<const std::string> feet,
                             const std::string& imu)
    : model_(check_floating(model)),
      kinematics_(model_),
      J_(3, model_.nv()),
      q_(model_.nq()),
      v_(VectorX<double>::Zero(model_.nv())) {
  if (feet.empty() || feet.size() > kMaxFeet) {
    fail(kCall, "feet", std::to_string(feet.size()) + " names", "1 to 8");
  }
  if (!imu.empty()) {
    const Frame<double>& frame = model_.frame(model_.find_frame(imu));
    if (frame.body.value() != 1) {
      fail(kCall, "imu",
           "'" + imu + "', which moves with joint '" + model_.body(frame.body).name + "'",
           "a frame that is fixed to the base");
    }
    X_BS_ = frame.X_BF;
  }
  std::vector<bool> used_q(static_cast<std::size_t>(model_.nq())),
      used_v(static_cast<std::size_t>(model_.nv()));
  const auto& rows = model_.coupling().rows();
  for (const std::string& name : feet) {
    Foot foot;
    foot.frame = model_.find_frame(name);
    foot.leg.assign(used_v.size(), false);
    int body = model_.frame(foot.frame).body.value();
    while (body > 1) {
      const auto& row = rows[static_cast<std::size_t>(body - 1)];
      for (const auto& term : row.terms) {
        foot.leg[static_cast<std::size_t>(term.y)] = used_v[static_cast<std::size_t>(term.y)] =
            true;
      }
      for (int k = 0; k < row.nq && row.yq >= 0; ++k) {
        used_q[static_cast<std::size_t>(row.yq + k)] = true;
      }
      body = model_.bodies()[static_cast<std::size_t>(body)].parent.value();
    }
    for (std::size_t y = 0; y < foot.leg.size(); ++y) {
      if (foot.leg[y]) foot.columns.push_back(static_cast<int>(y));
    }
    if (body != 1 || foot.columns.empty()) {
      fail(kCall, "foot '" + name + "'",
           body == 1 ? "fixed to the base" : "not connected to the base",
           "a frame connected to the base by at least one joint");
    }
    foot.J.setZero(3, model_.nv());
    foot.p_SF.setZero();
    foot.v_SF.setZero();
    feet_.push_back(std::move(foot));
  }
  // The leading joints of coupled joints are used, too.
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].yq < 0) continue;
    for (const auto& term : rows[i].terms) {
      if (!used_v[static_cast<std::size_t>(term.y)]) continue;
      for (int k = 0; k < rows[i].nq; ++k) used_q[static_cast<std::size_t>(rows[i].yq + k)] = true;
    }
  }
  for (std::size_t i = 0; i < used_q.size(); ++i) {
    if (used_q[i]) positions_.push_back(static_cast<int>(i));
  }
  for (std::size_t i = 0; i < used_v.size(); ++i) {
    if (used_v[i]) velocities_.push_back(static_cast<int>(i));
  }
  neutral(model_, q_);
  const VectorX<double> q = q_, v = v_;
  update(q, v);
}

Status LegKinematics::update(VectorIn<double>& q, VectorIn<double>& v) {
  check_position(kCall, "q", model_, q);
  check_velocity(kCall, "v", model_, v);
  for (const int i : positions_) {
    if (!std::isfinite(q[i])) return Status::not_finite;
  }
  for (const int i : velocities_) {
    if (!std::isfinite(v[i])) return Status::not_finite;
  }
  for (const int i : positions_) q_[i] = q[i];
  for (const int i : velocities_) v_[i] = v[i];
  // The base is at the origin of the world, so that the axes of the world are those of B.
  forward_kinematics(model_, q_, kinematics_);
  const Matrix3<double> R_SB = X_BS_.R.transpose();
  for (Foot& foot : feet_) {
    const Vector3<double> p_BF = frame_pose(model_, kinematics_, foot.frame).p;
    foot.p_SF = R_SB * (p_BF - X_BS_.p);
    point_jacobian(model_, kinematics_, foot.frame, Vector3<double>::Zero(), J_);
    foot.v_SF.setZero();
    for (const int y : foot.columns) {
      foot.J.col(y) = R_SB * J_.col(y);
      foot.v_SF += foot.J.col(y) * v_[y];
    }
  }
  return Status::ok;
}

Matrix3<double> LegKinematics::noise(int foot, double encoder, double error) const {
  const Foot& f = at(foot);
  Matrix3<double> N = Matrix3<double>::Zero();
  for (const int y : f.columns) N += f.J.col(y) * f.J.col(y).transpose();
  N *= encoder * encoder;
  N.diagonal().array() += error * error;
  return N;
}

}  // namespace limb
