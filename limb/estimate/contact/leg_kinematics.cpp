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
      J_imu_(6, model_.nv()),
      q_(model_.nq()),
      v_(VectorX<double>::Zero(model_.nv())) {
  prepare(feet, imu);
}

LegKinematics::LegKinematics(const Model<double>& model, std::span<const std::string> feet,
                             const Pose<double>& X_BS)
    : LegKinematics(model, feet) {
  X_BS_ = X_BS;
  neutral(model_, q_);
  const VectorX<double> q = q_, v = v_;
  update(q, v);
}

void LegKinematics::prepare(std::span<const std::string> feet, const std::string& imu) {
  if (feet.empty() || feet.size() > kMaxFeet) {
    fail(kCall, "feet", std::to_string(feet.size()) + " names", "1 to 8");
  }
  if (!imu.empty()) {
    imu_frame_ = model_.find_frame(imu);
    const Frame<double>& frame = model_.frame(imu_frame_);
    imu_body_ = frame.body.value();
    X_BS_ = frame.X_BF;
  }
  std::vector<bool> used_q(static_cast<std::size_t>(model_.nq())),
      used_v(static_cast<std::size_t>(model_.nv()));
  const auto& rows = model_.coupling().rows();
  // Marks the velocities between the base and a body. Returns the root of the chain.
  const auto mark = [&](int body, std::vector<bool>& chain) {
    while (body > 1) {
      const auto& row = rows[static_cast<std::size_t>(body - 1)];
      for (const auto& term : row.terms) {
        chain[static_cast<std::size_t>(term.y)] = used_v[static_cast<std::size_t>(term.y)] = true;
      }
      for (int k = 0; k < row.nq && row.yq >= 0; ++k) {
        used_q[static_cast<std::size_t>(row.yq + k)] = true;
      }
      body = model_.bodies()[static_cast<std::size_t>(body)].parent.value();
    }
    return body;
  };
  std::vector<bool> imu_chain(used_v.size(), false);
  if (mark(imu_body_, imu_chain) != 1) {
    fail(kCall, "imu", "'" + imu + "', which is not connected to the base", "a frame of the robot");
  }
  for (std::size_t y = 0; y < imu_chain.size(); ++y) {
    if (imu_chain[y]) imu_columns_.push_back(static_cast<int>(y));
  }
  for (const std::string& name : feet) {
    Foot foot;
    foot.frame = model_.find_frame(name);
    foot.leg.assign(used_v.size(), false);
    const int body = mark(model_.frame(foot.frame).body.value(), foot.leg);
    // Joints above both the sensor and the foot do not move one relative to the other, but a column
    // of zeros does no harm.
    for (std::size_t y = 0; y < foot.leg.size(); ++y) {
      foot.leg[y] = foot.leg[y] || imu_chain[y];
      if (foot.leg[y]) foot.columns.push_back(static_cast<int>(y));
    }
    if (body != 1 || foot.columns.empty()) {
      fail(kCall, "foot '" + name + "'",
           body == 1 ? "fixed to the base" : "not connected to the base",
           "a frame connected to the base by at least one joint");
    }
    foot.J.setZero(3, model_.nv());
    foot.p_SF.setZero();
    foot.R_SF.setIdentity();
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
  if (imu_moves()) {
    X_BS_ = frame_pose(model_, kinematics_, imu_frame_);
    frame_jacobian(model_, kinematics_, imu_frame_, FrameAxes::local_world_aligned, J_imu_);
  }
  const Matrix3<double> R_SB = X_BS_.R.transpose();
  if (imu_moves()) {
    Vector6<double> V = Vector6<double>::Zero();
    for (const int y : imu_columns_) V += J_imu_.col(y) * v_[y];
    V_BS_S_ = {R_SB * V.head<3>(), R_SB * V.tail<3>()};
  }
  for (Foot& foot : feet_) {
    const Pose<double> X_BF = frame_pose(model_, kinematics_, foot.frame);
    const Vector3<double> p_SF_B = X_BF.p - X_BS_.p;
    foot.p_SF = R_SB * p_SF_B;
    foot.R_SF = R_SB * X_BF.R;
    point_jacobian(model_, kinematics_, foot.frame, Vector3<double>::Zero(), J_);
    if (imu_moves()) {
      // Relative to S: less the velocity of the point of the sensor's body that is at the foot.
      for (const int y : imu_columns_) {
        const Vector3<double> w = J_imu_.col(y).tail<3>();
        J_.col(y) -= J_imu_.col(y).head<3>() + w.cross(p_SF_B);
      }
    }
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
