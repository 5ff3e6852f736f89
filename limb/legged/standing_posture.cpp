#include "limb/legged/standing_posture.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "limb/base/error.hpp"
#include "limb/dynamics/kinematics/frames.hpp"
#include "limb/legged/find_feet.hpp"

namespace limb {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSolved = 1e-9;      // of the leg's length, and rad
constexpr double kPreference = 1e-3;  // weight of the neutral position, for redundant legs

/// One leg of a robot whose other joints do not move.
class Leg {
 public:
  Leg(const Model<double>& model, FrameId frame, VectorX<double>& q)
      : model_(model), kinematics_(model), foot_(frame), q_(q) {
    for (const BodyId id : bodies_to(model, model.frame(frame).body)) {
      const Body<double>& body = model.body(id);
      if (body.joint.nq() != 1) continue;
      joints_.push_back(id);
      lower_.push_back(body.limits[0].lower.value_or(-kInfinity));
      upper_.push_back(body.limits[0].upper.value_or(kInfinity));
    }
    neutral_ = positions();
    place(neutral_);
    hip_ = joints_.size() - 1;
    const Vector3<double> last = axis(joints_.size() - 1);
    for (std::size_t i = joints_.size() - 1; i-- > 0;) {
      if (std::abs(axis(i).dot(last)) > 0.9) hip_ = i;
    }
    if (hip_ == joints_.size() - 1 && hip_ > 0) --hip_;
    for (std::size_t i = hip_; i < joints_.size(); ++i) {
      const Vector3<double> link = (i + 1 < joints_.size() ? origin(i + 1) : foot()) - origin(i);
      length_ += (link - link.dot(last) * last).norm();
    }
    bend_ = bend();
  }

  double length() const { return length_; }
  /// m, of the hip and the foot in the present configuration, in axes of the base.
  double hip_height() const { return origin(hip_).z(); }
  double foot_height() const { return foot().z(); }
  Vector3<double> foot() const { return frame_pose(model_, kinematics_, foot_).p; }

  /// Solves for the height of the foot, either below the hip or in the frame of the base.
  /// @param inward  sign of x from the knee to the middle of the robot.
  bool solve(double below_hip, double inward, double hip_angle) {
    std::optional<VectorX<double>> best;
    double least = kInfinity;
    for (VectorX<double> x : starts(hip_angle)) {
      if (!reach(x, below_hip, kInfinity)) continue;
      const double cost = cost_of(x, inward);
      if (cost < least - 1e-6) {
        least = cost;
        best = x;
      }
    }
    place(best.value_or(neutral_));
    return best.has_value();
  }
  /// From the present configuration, to a height of the foot in the frame of the base.
  bool move_foot(double height) {
    VectorX<double> x = positions();
    const VectorX<double> before = x;
    const bool ok = reach(x, 0, height);
    place(ok ? x : before);
    return ok;
  }

 private:
  VectorX<double> positions() const {
    VectorX<double> x(joints_.size());
    for (std::size_t i = 0; i < joints_.size(); ++i) {
      x[static_cast<Eigen::Index>(i)] = q_[model_.body(joints_[i]).q_start];
    }
    return x;
  }
  void place(const VectorX<double>& x) {
    for (std::size_t i = 0; i < joints_.size(); ++i) {
      q_[model_.body(joints_[i]).q_start] = x[static_cast<Eigen::Index>(i)];
    }
    forward_kinematics(model_, q_, kinematics_);
  }
  void clamp(VectorX<double>& x) const {
    for (std::size_t i = 0; i < joints_.size(); ++i) {
      auto& value = x[static_cast<Eigen::Index>(i)];
      value = std::clamp(value, lower_[i], upper_[i]);
    }
  }
  const Pose<double>& pose(std::size_t i) const {
    return kinematics_.X_WB[static_cast<std::size_t>(joints_[i].value())];
  }
  Vector3<double> origin(std::size_t i) const { return pose(i).p; }
  Vector3<double> axis(std::size_t i) const {
    return pose(i).R * model_.body(joints_[i]).joint.axis();
  }

  /// Horizontal direction in the plane of the leg, with x >= 0.
  Vector3<double> ahead() const {
    const Vector3<double> knee = axis(joints_.size() - 1);
    Vector3<double> d = knee.cross(Vector3<double>::UnitZ());
    if (!(d.norm() > 1e-6)) return Vector3<double>::UnitX();
    d.normalize();
    return d.x() < 0 ? Vector3<double>(-d) : d;
  }
  /// Angle between thigh and shank about the axis of the knee: its sign is the direction of bend.
  double bend() const {
    const std::size_t knee = joints_.size() - 1;
    const Vector3<double> a = axis(knee), thigh = origin(knee) - origin(hip_),
                          shank = foot() - origin(knee);
    return std::atan2(a.dot(thigh.cross(shank)), thigh.dot(shank) - a.dot(thigh) * a.dot(shank));
  }

  /// Errors of the three conditions, and of the neutral position of a redundant leg.
  VectorX<double> errors(const VectorX<double>& x, double below_hip, double height) {
    place(x);
    const Vector3<double> p = foot(), hip = origin(hip_);
    const bool redundant = joints_.size() > 3;
    VectorX<double> e = VectorX<double>::Zero(redundant ? 3 + x.size() : 3);
    e[0] = ahead().dot(p - hip) / length_;
    e[1] = (std::isfinite(height) ? height - p.z() : hip.z() - p.z() - below_hip) / length_;
    e[2] = axis(joints_.size() - 1).z();
    if (redundant) e.tail(x.size()) = kPreference * (x - neutral_);
    return e;
  }
  static double task_error(const VectorX<double>& e) { return e.head<3>().cwiseAbs().maxCoeff(); }

  /// Damped least squares with differences, clamped to the limits.
  bool reach(VectorX<double>& x, double below_hip, double height) {
    clamp(x);
    VectorX<double> e = errors(x, below_hip, height);
    double damping = 1e-4;
    for (int iteration = 0; iteration < 100; ++iteration) {
      if (joints_.size() == 3 && task_error(e) < kSolved) return true;
      MatrixX<double> J(e.size(), x.size());
      for (Eigen::Index i = 0; i < x.size(); ++i) {
        constexpr double kStep = 1e-6;
        VectorX<double> up = x, down = x;
        up[i] += kStep;
        down[i] -= kStep;
        J.col(i) = (errors(up, below_hip, height) - errors(down, below_hip, height)) / (2 * kStep);
      }
      // A joint on its limit that would leave it does not move.
      const VectorX<double> g = J.transpose() * e;
      for (Eigen::Index i = 0; i < x.size(); ++i) {
        const auto k = static_cast<std::size_t>(i);
        if ((x[i] <= lower_[k] && g[i] > 0) || (x[i] >= upper_[k] && g[i] < 0)) J.col(i).setZero();
      }
      MatrixX<double> H = J.transpose() * J;
      H.diagonal().array() += damping;
      VectorX<double> next = x - H.ldlt().solve(J.transpose() * e);
      clamp(next);
      const VectorX<double> then = errors(next, below_hip, height);
      if (then.norm() < e.norm()) {
        const double moved = (next - x).norm();
        x = next;
        e = then;
        damping = std::max(damping / 10, 1e-12);
        if (moved < 1e-12) break;
      } else {
        damping *= 10;
        if (damping > 1e6) break;
      }
    }
    // The preference of a redundant leg leaves a small error.
    return task_error(e) < (joints_.size() > 3 ? 1e-3 : kSolved);
  }

  /// Hip and knee bent in both directions; then all pairs of angles on a grid.
  std::vector<VectorX<double>> starts(double hip_angle) const {
    std::vector<VectorX<double>> all;
    const auto knee = static_cast<Eigen::Index>(joints_.size() - 1);
    const auto hip = static_cast<Eigen::Index>(hip_);
    const auto add = [&](double at_hip, double at_knee) {
      VectorX<double> x = neutral_;
      x[hip] = at_hip;
      x[knee] = at_knee;
      all.push_back(x);
    };
    for (const double side : {1.0, -1.0}) add(side * hip_angle, -2 * side * hip_angle);
    constexpr int kGrid = 7;
    const auto at = [&](std::size_t joint, int k) {
      const double low = std::max(lower_[joint], -std::numbers::pi);
      const double high = std::min(upper_[joint], std::numbers::pi);
      return low + (high - low) * (k + 0.5) / kGrid;
    };
    for (int i = 0; i < kGrid; ++i) {
      for (int k = 0; k < kGrid; ++k) add(at(hip_, i), at(joints_.size() - 1, k));
    }
    return all;
  }

  /// Distance from the neutral position, in half turns, and one more for a knee that bends in the
  /// wrong direction.
  double cost_of(const VectorX<double>& x, double inward) {
    place(x);
    double cost = (x - neutral_).cwiseAbs().sum() / std::numbers::pi;
    const double knee = inward * (origin(joints_.size() - 1) - origin(hip_)).x();
    const bool bent = std::abs(bend_) > 0.3;
    if (bent ? bend() * bend_ < 0 : knee < 0) cost += 1;
    return cost;
  }

  const Model<double>& model_;
  Kinematics<double> kinematics_;
  FrameId foot_;
  VectorX<double>& q_;
  std::vector<BodyId> joints_;
  std::vector<double> lower_, upper_;
  VectorX<double> neutral_;
  std::size_t hip_ = 0;
  double length_ = 0, bend_ = 0;
};

/// Neutral, within the limits.
VectorX<double> neutral_within_limits(const Model<double>& model) {
  VectorX<double> q = model.neutral();
  for (const Body<double>& body : model.bodies()) {
    if (body.joint.nq() != 1 || body.limits.empty() || model.nq() != model.uncoupled_nq()) continue;
    double& x = q[body.q_start];
    x = std::clamp(x, body.limits[0].lower.value_or(-kInfinity),
                   body.limits[0].upper.value_or(kInfinity));
  }
  return q;
}

}  // namespace

VectorX<double> standing_posture(const char* call, const Model<double>& model,
                                 const std::vector<FrameId>& feet, double crouch) {
  VectorX<double> q = neutral_within_limits(model);
  std::vector<Leg> legs;
  legs.reserve(feet.size());
  for (const FrameId foot : feet) legs.emplace_back(model, foot, q);
  // Shorter or longer legs, if the limits do not allow this length.
  double share = 0;
  for (const double change : {0.0, 0.05, -0.05, 0.1, -0.1, 0.15, -0.15, 0.2, -0.2}) {
    share = std::clamp(1 - crouch + change, 0.05, 0.99);
    bool ok = true;
    for (std::size_t i = 0; i < legs.size() && ok; ++i) {
      ok = legs[i].solve(share * legs[i].length(), i < 2 ? -1 : 1, std::acos(share));
      if (!ok && change == -0.2) {
        fail(call, "leg of '" + model.frame(feet[i]).name + "'",
             fmt::format("one of {:.3g} m that cannot stand within its joint limits",
                         legs[i].length()),
             "a leg that reaches below its hip", "give the joint positions of the posture");
      }
    }
    if (ok) break;
  }
  double lowest = kInfinity, highest = -kInfinity, sum = 0;
  for (const Leg& leg : legs) {
    const double z = leg.foot_height();
    lowest = std::min(lowest, z);
    highest = std::max(highest, z);
    sum += z;
  }
  if (highest - lowest > kSolved) {
    for (Leg& leg : legs) (void)leg.move_foot(sum / static_cast<double>(legs.size()));
  }
  return q;
}

}  // namespace limb
