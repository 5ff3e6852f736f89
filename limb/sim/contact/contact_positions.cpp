// What contact does to positions: overlaps go back, and steps end before paths bend into the
// ground.
#include <algorithm>
#include <cmath>

#include "limb/sim/contact/contacts.hpp"
#include "limb/sim/sticking_joints.hpp"

namespace limb {
namespace {

using Vector = Vector3<double>;

}  // namespace

/// Overlaps go back by position alone, as split impulses do: displacements M^-1 J^T x, x >= 0, that
/// leave no overlap deeper than the slop, and no joint beyond its stop; velocities do not hear of
/// them. And what an impulse moved before the moment at which it acts is taken back.
void Contacts::correct(double h, const StickingJoints* joints, int joint_rows) {
  const ContactParameters& parameters = setup_.parameters;
  const int n = static_cast<int>(candidates_.size());
  const double most = parameters.recovery_speed * h;
  bool overlap = false;
  overlaps_.clear();
  if (!std::isfinite(parameters.stiffness)) {
    for (int c = 0; c < n; ++c) {
      const double gap = candidates_[static_cast<std::size_t>(c)].point.gap;
      overlap |= gap < -parameters.slop;
      overlaps_.push_back({3 * c, 1, std::min(-gap - parameters.slop, most)});
    }
  }
  for (int r = 0; r < joint_rows; ++r) {
    if (joints->way_back(r) == 0) continue;
    const double beyond = joints->beyond(r);
    overlap |= beyond > parameters.slop;
    overlaps_.push_back({3 * n + r, joints->way_back(r), std::min(beyond, most)});
  }
  const bool late = (late_.array() != 0).any();
  correct_ = overlap || late;
  if (!correct_) return;
  push_.setZero();
  constexpr int kSweeps = 100;
  for (int k = 0; k < kSweeps && overlap; ++k) {
    double moved = 0;
    for (const Overlap& now : overlaps_) {
      const double W = solver_.A(now.row, now.row);
      if (!(W > 0)) continue;
      double lift = 0;
      for (const Overlap& other : overlaps_)
        lift += solver_.A(other.row, now.row) * push_[other.row];
      const double last = now.sign * push_[now.row];
      const double next = std::max(last + (now.wanted - now.sign * lift) / W, 0.0);
      moved = std::max(moved, std::abs(next - last) * W);
      push_[now.row] = now.sign * next;
    }
    if (moved < 1e-3 * parameters.slop) break;
  }
  if (late) push_ -= late_;
  rows_.displace(push_, correction_);
}

/// Gaps are taken to change by h u in a step. With constant joint velocities they also change by
/// the bend of the paths, h^2 / 2 times an acceleration: w^2 r and its kin. Where that leads deeper
/// than the parameters allow, the step should be shorter.
void Contacts::find_bend(const Model<double>& model, double h, const VectorX<double>& v) {
  straight_step_ = h;
  const double allowed = setup_.parameters.bend;
  // Of the sum of all velocities in a step: with less, a robot of metres bends by less than 0.1 mm.
  constexpr double kSlow = 0.01;
  constexpr double kMostParts = 16;
  if (candidates_.empty() || std::isfinite(setup_.parameters.stiffness)) return;
  if (h * v.lpNorm<1>() < kSlow) return;
  const auto& bends = rows_.bends(model, v);
  const auto& X_WB = rows_.kinematics().X_WB;
  // Towards the other, of any point of the body as far from its origin as p.
  const auto towards = [&](BodyId id, const Vector& p, const Vector& n) {
    const auto body = static_cast<std::size_t>(id.value());
    const ImpulseRows::Bend& bend = bends[body];
    return (bend.w.squaredNorm() + bend.dw.norm()) * (p - X_WB[body].p).norm() - n.dot(bend.a);
  };
  double worst = 0;
  for (const Candidate& c : candidates_) {
    double a = towards(setup_.shapes[static_cast<std::size_t>(c.point.shape)].body, c.point.p_W,
                       c.point.n_W);
    if (c.point.other < 0) {
      const auto& other = setup_.shapes[static_cast<std::size_t>(-1 - c.point.other)];
      a += towards(other.body, c.point.p_W, -c.point.n_W);
    }
    const double bend = h * h / 2 * a;
    const double end = c.point.gap + h * c.point.n_W.dot(c.point.velocity_W);
    if (end < bend) worst = std::max(worst, bend);
  }
  if (worst > allowed) {
    straight_step_ = h / std::min(std::ceil(std::sqrt(worst / allowed)), kMostParts);
  }
}

}  // namespace limb
