#include "limb/sim/contact/contacts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limb/sim/step_end.hpp"
#include "limb/sim/sticking_joints.hpp"

namespace limb {
namespace {

using Vector = Vector3<double>;

/// Part of a step. Steps end up to a millionth of their length beside the sum of their lengths
/// (next_step), and times late in a run have few digits left for short steps.
constexpr double kSameTime = 1e-3;

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

/// Columns n, t1, t2: right-handed, and the same for the same normal.
Matrix3<double> contact_axes(const Vector& n) {
  const Vector other = std::abs(n[0]) < 0.9 ? Vector::UnitX() : Vector::UnitY();
  Matrix3<double> axes;
  axes.col(0) = n;
  axes.col(1) = (other - n * n.dot(other)).normalized();
  axes.col(2) = n.cross(axes.col(1));
  return axes;
}

}  // namespace

void check_parameters(const char* call, const ContactParameters& p) {
  if (!(p.stiffness > 0)) fail(call, "stiffness", to_text(p.stiffness), "positive, or infinite");
  check_not_negative(call, "damping", p.damping);
  check_not_negative(call, "restitution_speed", p.restitution_speed);
  check_not_negative(call, "slop", p.slop);
  check_not_negative(call, "recovery_speed", p.recovery_speed);
  check_positive(call, "solver.tolerance", p.solver.tolerance);
  if (p.solver.max_points < 0) {
    fail(call, "solver.max_points", std::to_string(p.solver.max_points), "0 or more");
  }
  check_surface(call, p.self_surface);
}

Contacts::Contacts(const Model<double>& model, ContactSetup setup)
    : setup_(std::move(setup)),
      space_(model),
      rows_(model),
      correction_(VectorX<double>::Zero(model.velocity_size())),
      pending_acceleration_(correction_),
      acceleration_(correction_) {
  check_parameters("Contacts", setup_.parameters);
  for (std::size_t i = 0; i < setup_.shapes.size(); ++i) {
    const ContactShape& shape = setup_.shapes[i];
    const std::string name = fmt::format("shapes[{}] ('{}')", i, shape.name);
    if (shape.body.value() < 1 || shape.body.value() >= model.body_count()) {
      fail("Contacts", name + ".body", std::to_string(shape.body.value()),
           fmt::format("a moving body of the model, 1 to {}", model.body_count() - 1));
    }
    const int sizes =
        shape.kind == ContactShape::Kind::sphere ? 1
        : shape.kind == ContactShape::Kind::capsule || shape.kind == ContactShape::Kind::cylinder
            ? 2
            : 3;
    for (int k = 0; k < sizes; ++k) check_not_negative("Contacts", name + ".size", shape.size[k]);
    if (shape.own_surface) check_surface("Contacts", shape.surface);
    radius_.push_back(bounding_radius(shape.kind, shape.size));
    reach_.push_back(shape.X_BS.p.norm() + radius_.back());
    placed_.push_back({shape.kind, shape.size, {}});
  }
  if (!setup_.parameters.self_contact) return;
  // Neighbours overlap at their joint, and shapes that overlap from the start are meant to.
  VectorX<double> q(model.position_size());
  q = make_state(model).q;
  const auto& kinematics = rows_.place(model, q);
  for (std::size_t i = 0; i < placed_.size(); ++i) {
    placed_[i].X_WS = kinematics.X_WB[at(setup_.shapes[i].body.value())] * setup_.shapes[i].X_BS;
    for (std::size_t j = 0; j < i; ++j) {
      const BodyId a = setup_.shapes[i].body, b = setup_.shapes[j].body;
      if (a == b || model.body(a).parent == b || model.body(b).parent == a) continue;
      touches_.clear();
      collide(placed_[i], placed_[j], 0, touches_);
      if (touches_.size() == 0) pairs_.emplace_back(static_cast<int>(i), static_cast<int>(j));
    }
  }
}

void Contacts::add_candidates(int shape, int other, const Surface& surface) {
  const ContactShape& own = setup_.shapes[at(shape)];
  const Surface& counts = own.own_surface ? own.surface : surface;
  for (int i = 0; i < touches_.size(); ++i) {
    Candidate c;
    c.point.shape = shape;
    c.point.other = other;
    c.point.feature = touches_[i].feature;
    c.point.gap = touches_[i].gap;
    c.point.friction = counts.friction;
    c.point.p_W = touches_[i].p_W;
    c.point.n_W = touches_[i].n_W;
    c.axes_W = contact_axes(c.point.n_W);
    c.restitution = counts.restitution;
    candidates_.push_back(c);
  }
}

/// m; no shape moves farther with these velocities. Needs the bodies' places.
double Contacts::reach(const Model<double>& model, const VectorX<double>& v, double h) {
  const auto& speeds = rows_.speed_bounds(model, v);
  double fastest = 0;
  for (std::size_t i = 0; i < placed_.size(); ++i) {
    const auto body = at(setup_.shapes[i].body.value());
    fastest = std::max(fastest, speeds[body].linear + speeds[body].angular * reach_[i]);
  }
  return h * fastest;
}

/// All places that are nearer than the margin. Needs the bodies' places.
void Contacts::find(double margin) {
  candidates_.clear();
  const Kinematics<double>& kinematics = rows_.kinematics();
  for (std::size_t i = 0; i < placed_.size(); ++i) {
    const ContactShape& shape = setup_.shapes[i];
    placed_[i].X_WS = kinematics.X_WB[at(shape.body.value())] * shape.X_BS;
  }
  const Ground& ground = setup_.ground;
  for (std::size_t i = 0; i < placed_.size(); ++i) {
    int other = 0;
    const auto meet = [&](const auto& solid) {
      touches_.clear();
      collide(placed_[i], solid, margin, touches_);
      add_candidates(static_cast<int>(i), other, solid.surface);
      ++other;
    };
    for (const auto& solid : ground.half_spaces()) meet(solid);
    for (const auto& solid : ground.boxes()) meet(solid);
    for (const auto& solid : ground.height_fields()) meet(solid);
  }
  for (const auto& [i, j] : pairs_) {
    const double reach = radius_[at(i)] + radius_[at(j)] + 2 * margin;
    if ((placed_[at(i)].X_WS.p - placed_[at(j)].X_WS.p).squaredNorm() > reach * reach) continue;
    touches_.clear();
    collide(placed_[at(i)], placed_[at(j)], 2 * margin, touches_);
    const ContactShape& b = setup_.shapes[at(j)];
    add_candidates(i, -1 - j, b.own_surface ? b.surface : setup_.parameters.self_surface);
  }
}

void Contacts::apply(const Model<double>& model, const State<double>& before, double h,
                     VectorX<double>& v, StickingJoints* joints) {
  if (!ended_at(before.t)) {
    points_.clear();
    joint_impulse_.setZero();
    if (before.t < time_) {
      dissipated_ = 0;
      totals_ = {};
    }
    stored_ = 0;
    step_ = 0;
  }
  pending_end_ = before.t + h;
  pending_step_ = h;
  if (joints != nullptr) joints->forget_missed();
  // Impulses may whip a light link farther than was looked for places to touch, or past a stop; the
  // step is then computed once more with those.
  constexpr double kNear = 1e-4;     // m; what rests stays in the list
  constexpr double kAtRest = 1e-6;   // of the sum of all velocities in a step: far within kNear
  constexpr double kFarther = 1.25;  // times what was seen
  constexpr int kPasses = 4;
  v_free_ = v;
  rows_.place(model, before.q);
  double margin = kNear + kFarther * reach(model, before.v, h) + 4 * h * h * model.gravity().norm();
  for (int pass = 0; pass < kPasses; ++pass) {
    v = v_free_;
    attempt(model, before, h, margin, v, joints);
    bool again = joints != nullptr && joints->find_missed(model, h, v);
    if (h * v.lpNorm<1>() > kAtRest) {
      const double farthest = reach(model, v, h);
      again |= farthest > margin;
      margin = std::max(margin, kNear + kFarther * farthest);
    }
    if (!again) break;
    rows_.place(model, before.q);
  }
  pending_acceleration_ = (v - v_free_) / h;
  note_result(h);
  find_bend(model, h, v);
}

void Contacts::attempt(const Model<double>& model, const State<double>& before, double h,
                       double margin, VectorX<double>& v, StickingJoints* joints) {
  pending_report_ = {};
  correct_ = false;
  find(margin);
  const int joint_rows = joints != nullptr ? joints->choose_rows(model, before, h, v) : 0;
  if (joints != nullptr && joint_impulse_.size() != joints->rows()) {
    joint_impulse_ = VectorX<double>::Zero(joints->rows());
  }
  pending_joint_impulse_ = joint_impulse_;
  pending_joint_impulse_.setZero();
  const int n = static_cast<int>(candidates_.size());
  if (n == 0 && joint_rows == 0) return;
  for (const Candidate& c : candidates_) {
    const int other = c.point.other;
    rows_.add_point(setup_.shapes[at(c.point.shape)].body.value(),
                    other >= 0 ? 0 : setup_.shapes[at(-1 - other)].body.value(), c.point.p_W,
                    c.axes_W);
  }
  for (int r = 0; r < joint_rows; ++r) rows_.add_joint(model, joints->joint_velocity(r));
  solver_.resize(n, joint_rows);
  if (u_free_.size() < solver_.A.rows()) {
    u_free_ = u_begin_ = u_end_ = VectorX<double>::Zero(solver_.A.rows());
    drift_ = impulse_ = late_ = push_ = u_free_;
  }
  const int singular = rows_.finish(model, solver_.A);
  if (singular >= 0) {
    fail_step("simulate", before.t,
              fmt::format("no inertia opposes velocity {} of the robot", singular));
  }
  rows_.velocities(before.v, u_begin_);
  rows_.velocities(v, u_free_);
  solve_step(h, joints, joint_rows);
  rows_.apply(impulse_, v);
  for (int r = 0; r < joint_rows; ++r) {
    pending_joint_impulse_[joints->row(r)] = impulse_[3 * n + r];
  }
  correct(h, joints, joint_rows);
}

bool Contacts::ended_at(double t) const {
  return std::abs(t - time_) <= kSameTime * step_;
}

void Contacts::settle(State<double>& s) {
  if (!(std::abs(s.t - pending_end_) <= kSameTime * pending_step_)) return;
  points_.swap(pending_points_);
  joint_impulse_.swap(pending_joint_impulse_);
  acceleration_.swap(pending_acceleration_);
  report_ = pending_report_;
  ++totals_.steps;
  totals_.not_converged += report_.converged ? 0 : 1;
  totals_.residual = std::max(totals_.residual, report_.residual);
  totals_.penetration = std::max(totals_.penetration, report_.penetration);
  totals_.energy_gain = std::max(totals_.energy_gain, report_.impulse_energy);
  dissipated_ += report_.dissipated;
  stored_ = pending_stored_;
  step_ = pending_step_;
  time_ = s.t;
  pending_end_ = std::numeric_limits<double>::quiet_NaN();
  if (correct_) space_.move(s.q, correction_, s.q);
  correct_ = false;
}

}  // namespace limb
