#include "limb/estimate/walk/synthetic_walk.hpp"

#include <fmt/format.h>

#include <Eigen/QR>
#include <algorithm>
#include <array>
#include <cmath>

#include "limb/dynamics/ik/inverse_kinematics.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/estimate/walk/walk_path.hpp"

namespace limb {
namespace {

using Vec = Vector3<double>;
using Mat = Matrix3<double>;
constexpr const char* kCall = "SyntheticWalk";
constexpr FrameAxes kAxes = FrameAxes::local_world_aligned;

void check_options(const WalkOptions& o) {
  for (const auto& [name, value] :
       {std::pair{"rate", o.rate}, {"duration", o.duration}, {"period", o.period}}) {
    check_positive(kCall, name, value);
  }
  for (const auto& [name, value] : {std::pair{"rest", o.rest},
                                    {"speed", o.speed},
                                    {"turning", o.turning},
                                    {"step_height", o.step_height},
                                    {"sway", o.sway},
                                    {"tilt", o.tilt}}) {
    check_not_negative(kCall, name, value);
  }
  if (!(o.duty > 0 && o.duty <= 1)) fail(kCall, "duty", to_text(o.duty), "above 0, at most 1");
  if (!std::isnan(o.crouch) && !(o.crouch > 0 && o.crouch < 1))
    fail(kCall, "crouch", to_text(o.crouch), "between 0 and 1");
  if (o.duration < 2 * o.rest) {
    fail(kCall, "duration", to_text(o.duration) + " s", "at least twice the rest");
  }
  if (o.rate * o.duration > 1e6) {
    fail(kCall, "rate", to_text(o.rate) + " Hz", "at most a million instants in all");
  }
}

/// A foot with an ankle is kept level; for a point foot only the position is controlled.
bool is_level(const LegKinematics& legs, int foot) {
  return std::count(legs.leg(foot).begin(), legs.leg(foot).end(), true) >= 6;
}

FrameGoal<double> goal_of(const LegKinematics& legs, int foot, const Pose<double>& X_WF) {
  if (is_level(legs, foot)) return FrameGoal<double>::pose(legs.frame(foot), X_WF);
  return FrameGoal<double>::position(legs.frame(foot), X_WF.p);
}

std::vector<bool> locked(const LegKinematics& legs) {
  std::vector<bool> all(static_cast<std::size_t>(legs.model().nv()), true);
  for (int i = 0; i < legs.feet(); ++i) {
    for (std::size_t y = 0; y < all.size(); ++y) {
      if (legs.leg(i)[y]) all[y] = false;
    }
  }
  return all;
}

/// Joint velocities for given foot velocities under a moving base, and the displacements that move
/// only one foot.
class FootVelocities {
 public:
  explicit FootVelocities(const LegKinematics& legs)
      : legs_(legs), kinematics_(legs.model()), J_(6, legs.model().nv()) {
    const auto fixed = locked(legs);
    for (std::size_t y = 0; y < fixed.size(); ++y) {
      if (!fixed[y]) free_.push_back(static_cast<int>(y));
    }
  }

  void solve(const std::vector<FootMotion>& feet, WalkInstant& now) {
    forward_kinematics(legs_.model(), now.q, kinematics_);
    int rows = 0;
    for (int i = 0; i < legs_.feet(); ++i) rows += is_level(legs_, i) ? 6 : 3;
    MatrixX<double> A(rows, static_cast<Eigen::Index>(free_.size()));
    VectorX<double> b(rows);
    std::vector<int> first;
    int at = 0;
    for (int i = 0; i < legs_.feet(); ++i) {
      const int n = is_level(legs_, i) ? 6 : 3;
      first.push_back(at);
      frame_jacobian(legs_.model(), kinematics_, legs_.frame(i), kAxes, J_);
      for (std::size_t y = 0; y < free_.size(); ++y) {
        A.block(at, static_cast<Eigen::Index>(y), n, 1) = J_.col(free_[y]).head(n);
      }
      const auto& foot = feet[static_cast<std::size_t>(i)];
      Vector6<double> V_foot;
      V_foot << foot.v_WF, 0, 0, foot.yaw_rate;
      b.segment(at, n) = (V_foot - J_.leftCols<6>() * now.v.head<6>()).head(n);
      at += n;
    }
    const Eigen::CompleteOrthogonalDecomposition<MatrixX<double>> inverse(A);
    const VectorX<double> x = inverse.solve(b);
    for (std::size_t y = 0; y < free_.size(); ++y) {
      now.v[free_[y]] = x[static_cast<Eigen::Index>(y)];
    }
    for (int i = 0; i < legs_.feet(); ++i) {
      MatrixX<double> unit = MatrixX<double>::Zero(rows, 3);
      unit.block<3, 3>(first[static_cast<std::size_t>(i)], 0).setIdentity();
      const MatrixX<double> move = inverse.solve(unit);
      MatrixX<double> all = MatrixX<double>::Zero(now.v.size(), 3);
      for (std::size_t y = 0; y < free_.size(); ++y) {
        all.row(free_[y]) = move.row(static_cast<Eigen::Index>(y));
      }
      now.dq_by_foot.push_back(std::move(all));
    }
  }

 private:
  const LegKinematics& legs_;
  Kinematics<double> kinematics_;
  Matrix6X<double> J_;
  std::vector<int> free_;
};

}  // namespace

VectorX<double> standing_posture(const Model<double>& model, const LegKinematics& legs,
                                 double crouch) {
  VectorX<double> q(model.nq());
  neutral(model, q);
  // Clamp to the limits, which may exclude zero.
  for (std::size_t i = 1; i < model.bodies().size(); ++i) {
    const auto& body = model.bodies()[i];
    const auto& row = model.coupling().rows()[i - 1];
    if (row.yq < 0 || row.nq != 1 || body.limits.empty()) continue;
    const double low = body.limits[0].lower.value_or(-1e9),
                 high = body.limits[0].upper.value_or(1e9);
    q[row.yq] = std::clamp(q[row.yq], low, high);
  }
  Kinematics<double> kinematics(model);
  forward_kinematics(model, q, kinematics);
  double lowest = 0;
  std::vector<Pose<double>> X_BF;
  for (int i = 0; i < legs.feet(); ++i) {
    X_BF.push_back(frame_pose(model, kinematics, legs.frame(i)));
    lowest = std::min(lowest, X_BF.back().p.z());
  }
  std::vector<FrameGoal<double>> goals;
  for (int i = 0; i < legs.feet(); ++i) {
    Pose<double>& X = X_BF[static_cast<std::size_t>(i)];
    X.p.z() = lowest * (1 - crouch);
    goals.push_back(goal_of(legs, i, X));
  }
  IkScratch<double> scratch(model, legs.feet());
  IkOptions<double> options;
  options.locked = locked(legs);
  options.restarts = 0;
  // Straight legs are singular: start from random bent ones.
  NoiseGenerator random(1);
  for (int attempt = 0; attempt < 50; ++attempt) {
    VectorX<double> tangent = VectorX<double>::Zero(model.nv()), start = q, found = q;
    for (Eigen::Index y = 6; y < tangent.size(); ++y) {
      if (options.locked[static_cast<std::size_t>(y)]) continue;
      tangent[y] = attempt == 0 ? 0 : 0.4 * random.normal();
    }
    integrate(model, q, tangent, start);
    try {
      if (inverse_kinematics(model, scratch, goals, start, found, options).ok()) {
        return found;
      }
    } catch (const Error&) {
      // A start outside the limits of a coupled joint: try the next one.
    }
  }
  throw Error("standing_posture: no posture found in which the legs are shortened by " +
              to_text(crouch) + " of their length (give a posture, or another crouch)");
}

SyntheticWalk::SyntheticWalk(const Model<double>& given, const WalkOptions& options)
    : options_(options), legs_(given, options.feet, options.imu) {
  check_options(options_);
  if (legs_.imu_moves()) {
    fail(kCall, "imu", "'" + options_.imu + "', which joints move",
         "a frame that is fixed to the base");
  }
  if (options_.posture.size() > 0 || !std::isnan(options_.crouch)) {
    plan();
    return;
  }
  // Straighter legs reach farther down, bent ones farther sideways: try until all steps are
  // feasible.
  constexpr std::array<double, 6> kCrouches = {0.15, 0.2, 0.25, 0.3, 0.1, 0.12};
  for (const double crouch : kCrouches) {
    try {
      options_.crouch = crouch;
      options_.posture.resize(0);
      instants_.clear();
      plan();
      return;
    } catch (const Error&) {
      if (crouch == kCrouches.back()) throw;
    }
  }
}

void SyntheticWalk::plan() {
  const Model<double>& robot = legs_.model();
  if (options_.posture.size() == 0) {
    options_.posture = standing_posture(robot, legs_, options_.crouch);
  }
  check_position(kCall, "posture", robot, options_.posture);
  VectorX<double> q = options_.posture;
  Kinematics<double> kinematics(robot);
  q.head<7>() << Vec::Zero(), 0, 0, 0, 1;
  forward_kinematics(robot, q, kinematics);
  double height = 0;
  std::vector<Pose<double>> X_BF;
  for (int i = 0; i < legs_.feet(); ++i) {
    X_BF.push_back(frame_pose(robot, kinematics, legs_.frame(i)));
    height = std::max(height, -X_BF.back().p.z());
  }
  const WalkPath path(options_, height);
  std::vector<FootPath> feet;
  for (int i = 0; i < legs_.feet(); ++i) {
    // Diagonal legs swing together: 0 with 3, 1 with 2. Two feet alternate.
    const int group = legs_.feet() > 2 && i >= legs_.feet() / 2 ? i + 1 : i;
    feet.emplace_back(options_, path, i, group % 2, X_BF[static_cast<std::size_t>(i)]);
  }
  IkScratch<double> scratch(robot, legs_.feet());
  IkOptions<double> ik;
  ik.locked = locked(legs_);
  FootVelocities velocities(legs_);
  const Pose<double>& X_BS = legs_.X_BS();
  const int count = static_cast<int>(std::floor(options_.rate * options_.duration)) + 1;
  std::vector<FootMotion> motions(feet.size());
  for (int k = 0; k < count; ++k) {
    WalkInstant now;
    now.t = k / options_.rate;
    const BaseMotion base = path.at(now.t);
    std::vector<FrameGoal<double>> goals;
    for (std::size_t i = 0; i < feet.size(); ++i) {
      motions[i] = feet[i].at(now.t);
      goals.push_back(goal_of(legs_, static_cast<int>(i), motions[i].X_WF));
      now.contact.push_back(motions[i].contact);
      now.p_WF.push_back(motions[i].X_WF.p);
    }
    const Quaternion<double> turn = quaternion_from_matrix(base.X_WB.R);
    q.head<7>() << base.X_WB.p, turn.xyzw();
    now.q.resize(q.size());
    const auto& report = inverse_kinematics(robot, scratch, goals, q, now.q, ik);
    if (!report.ok()) {
      fail_computation(kCall, fmt::format("the feet cannot reach their targets at {} s: {}", now.t,
                                          report.text(robot)));
    }
    q = now.q;
    now.v.setZero(robot.nv());
    now.v.head<6>() << base.X_WB.R.transpose() * base.v_WB, base.w_WB_B;
    velocities.solve(motions, now);

    const Vec &w = base.w_WB_B, r = X_BS.p;
    const Mat R_SW = (base.X_WB.R * X_BS.R).transpose();
    const Vec a = base.a_WB + base.X_WB.R * (base.dw_WB_B.cross(r) + w.cross(w.cross(r)));
    now.imu.gyro = X_BS.R.transpose() * w;
    now.imu.accel = R_SW * (a - robot.gravity());
    now.truth.p_WS = base.X_WB * r;
    now.truth.R_WS = R_SW.transpose();
    now.truth.v_WS = base.v_WB + base.X_WB.R * w.cross(r);
    if (k > 0) {
      length_ += (now.truth.p_WS - instants_.back().truth.p_WS).head<2>().norm();
    }
    instants_.push_back(std::move(now));
  }
}

NoisyWalk::NoisyWalk(const SyntheticWalk& walk, const WalkErrors& errors, std::uint64_t seed)
    : walk_(walk), errors_(errors), noise_(seed), creep_(walk.options().feet.size(), Vec::Zero()) {
  check_noise("NoisyWalk", errors.imu);
  check_not_negative("NoisyWalk", "encoder", errors.encoder);
  check_not_negative("NoisyWalk", "encoder_rate", errors.encoder_rate);
  check_not_negative("NoisyWalk", "creep", errors.creep);
}

Vec NoisyWalk::normal(double deviation) {
  const double x = noise_.normal(), y = noise_.normal(), z = noise_.normal();
  return deviation * Vec(x, y, z);
}

bool NoisyWalk::next() {
  if (at_ == walk_.instants().size()) return false;
  const WalkInstant& now = walk_.instants()[at_];
  const double T = 1 / walk_.options().rate, root = std::sqrt(T);
  truth_.p_WS = now.truth.p_WS;
  truth_.R_WS = now.truth.R_WS;
  truth_.v_WS = now.truth.v_WS;
  if (at_ == 0) {
    truth_.gyro_bias = errors_.gyro_bias;
    truth_.accel_bias = errors_.accel_bias;
  } else {
    truth_.gyro_bias += normal(errors_.imu.gyro_walk * root);
    truth_.accel_bias += normal(errors_.imu.accel_walk * root);
  }
  imu_.gyro = now.imu.gyro + truth_.gyro_bias + normal(errors_.imu.gyro / root);
  imu_.accel = now.imu.accel + truth_.accel_bias + normal(errors_.imu.accel / root);
  q_ = now.q;
  v_ = now.v;
  const auto& rows = walk_.model().coupling().rows();
  VectorX<double> tangent = VectorX<double>::Zero(v_.size());
  for (std::size_t i = 0; i < creep_.size(); ++i) {
    // A foot touches down at its nominal position.
    if (now.contact[i] && at_ > 0) creep_[i] += normal(errors_.creep * root);
    if (!now.contact[i]) creep_[i].setZero();
    tangent += now.dq_by_foot[i] * creep_[i];
  }
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].yq < 0 || rows[i].nv != 1) continue;
    const int y = rows[i].terms[0].y;
    tangent[y] += errors_.encoder * noise_.normal();
    v_[y] += errors_.encoder_rate * noise_.normal();
  }
  integrate(walk_.model(), q_, tangent, q_);
  ++at_;
  return true;
}

}  // namespace limb
