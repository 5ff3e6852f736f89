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

/// What each row's velocity shall at least be, and with it b; the softness of springs.
void Contacts::set_targets(double h, const StickingJoints* joints, int joint_rows) {
  const ContactParameters& parameters = setup_.parameters;
  const int n = static_cast<int>(candidates_.size());
  for (int c = 0; c < n; ++c) {
    Candidate& now = candidates_[at(c)];
    const int i = 3 * c;
    const double gap = now.point.gap;
    now.u_begin = u_begin_[i];
    now.softness = 0;
    if (std::isfinite(parameters.stiffness)) {
      // p = h (-k (gap + h u) - c u): the spring and the damper at the end of the step.
      const double stiff = h * parameters.stiffness + parameters.damping;
      now.softness = 1 / (h * stiff);
      now.target = -parameters.stiffness * gap / stiff;
      now.bounces = false;
    } else {
      // No deeper than the surface at the end of the step; thrown back if it comes in fast.
      now.target = -std::max(gap, 0.0) / h;
      now.bounces = now.restitution > 0 && -now.u_begin > parameters.restitution_speed &&
                    gap + h * u_free_[i] < 0;
      if (now.bounces) now.target = std::max(now.target, -now.restitution * now.u_begin);
    }
    solver_.A(i, i) += now.softness;
    solver_.b[i] = u_free_[i] - now.target;
    solver_.b[i + 1] = u_free_[i + 1];
    solver_.b[i + 2] = u_free_[i + 2];
    solver_.mu[c] = now.point.friction;
  }
  for (int r = 0; r < joint_rows; ++r) {
    // With loops the velocity differs from the one that the joints know.
    solver_.b[3 * n + r] = joints->wish(r) + u_free_[3 * n + r] - joints->end_velocity(r);
    solver_.lower[r] = joints->lower(r);
    solver_.upper[r] = joints->upper(r);
  }
}

/// Impulses of the last step, for the same places.
void Contacts::warm_start(double h, const StickingJoints* joints, int joint_rows) {
  const int n = static_cast<int>(candidates_.size());
  std::size_t from = 0;
  for (int c = 0; c < n; ++c) {
    const Candidate& now = candidates_[at(c)];
    Vector p = Vector::Zero();
    // Both lists come from the same order of pairs: the search seldom goes far.
    for (std::size_t k = 0; k < points_.size(); ++k) {
      const ContactPoint& last = points_[(from + k) % points_.size()];
      if (last.shape != now.point.shape || last.other != now.point.other ||
          last.feature != now.point.feature) {
        continue;
      }
      p = h * (now.axes_W.transpose() * last.force_W);
      from += k + 1;
      break;
    }
    p[0] = std::max(p[0], 0.0);
    const double size = std::hypot(p[1], p[2]), bound = now.point.friction * p[0];
    if (size > bound) p.tail<2>() *= bound / size;
    solver_.p.segment<3>(3 * c) = p;
  }
  for (int r = 0; r < joint_rows; ++r) {
    const double last = step_ > 0 ? joint_impulse_[joints->row(r)] * h / step_ : 0;
    solver_.p[3 * n + r] = std::clamp(last, joints->lower(r), joints->upper(r));
  }
}

/// @returns the kinetic energy that the impulses add to the motion without them:
/// p (u_free + u_end) / 2, never positive where nothing bounces.
double Contacts::solve_step(int joint_rows) {
  const auto report = solver_.solve(setup_.parameters.solver);
  pending_report_.sweeps += report.sweeps;
  pending_report_.newton_steps += report.newton_steps;
  pending_report_.residual = report.residual;
  pending_report_.converged = report.converged;
  const int n = static_cast<int>(candidates_.size()), size = 3 * n + joint_rows;
  double energy = 0, contacts = 0, joints = 0;
  for (int i = 0; i < size; ++i) {
    const double soft = i < 3 * n && i % 3 == 0 ? candidates_[at(i / 3)].softness : 0;
    const double change = solver_.velocity()[i] - solver_.b[i] - soft * solver_.p[i];
    energy += solver_.p[i] * (u_free_[i] + change / 2);
    // All forces together change the kinetic energy by their sum of p (u_begin + u_end) / 2.
    const double work = solver_.p[i] * (u_begin_[i] + u_free_[i] + change) / 2;
    (i < 3 * n ? contacts : joints) += work;
  }
  pending_report_.dissipated = -contacts;
  pending_report_.joints_dissipated = -joints;
  pending_report_.impulse_energy = energy;
  return energy;
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
    u_free_ = u_begin_ = push_ = VectorX<double>::Zero(solver_.A.rows());
  }
  const int singular = rows_.finish(model, solver_.A);
  if (singular >= 0) {
    fail_step("simulate", before.t,
              fmt::format("no inertia opposes velocity {} of the robot", singular));
  }
  rows_.velocities(before.v, u_begin_);
  rows_.velocities(v, u_free_);
  set_targets(h, joints, joint_rows);
  warm_start(h, joints, joint_rows);
  // Newton's restitution at several places with friction may ask for more than there is; then
  // nothing bounces in this step.
  const bool bounces = std::any_of(candidates_.begin(), candidates_.end(),
                                   [](const Candidate& c) { return c.bounces; });
  if (solve_step(joint_rows) > 0 && bounces) {
    for (int c = 0; c < n; ++c) {
      Candidate& now = candidates_[at(c)];
      if (!now.bounces) continue;
      now.target = -std::max(now.point.gap, 0.0) / h;
      solver_.b[3 * c] = u_free_[3 * c] - now.target;
    }
    solve_step(joint_rows);
  }
  rows_.apply(solver_.p, v);
  for (int r = 0; r < joint_rows; ++r) {
    pending_joint_impulse_[joints->row(r)] = solver_.p[3 * n + r];
  }
  correct(h, joints, joint_rows);
}

void Contacts::note_result(double h) {
  ContactReport& report = pending_report_;
  pending_points_.clear();
  pending_stored_ = 0;
  for (std::size_t c = 0; c < candidates_.size(); ++c) {
    Candidate& now = candidates_[c];
    const auto i = 3 * static_cast<Eigen::Index>(c);
    const Vector p = solver_.p.segment<3>(i);
    Vector u = solver_.velocity().segment<3>(i);
    report.complementarity = std::max(report.complementarity, std::abs(p[0] * u[0]) / h);
    report.cone = std::max(report.cone, (std::hypot(p[1], p[2]) - now.point.friction * p[0]) / h);
    report.penetration = std::max(report.penetration, -now.point.gap);
    report.touching += p[0] > 0 ? 1 : 0;
    u[0] += now.target - now.softness * p[0];
    now.point.force_W = now.axes_W * p / h;
    now.point.velocity_W = now.axes_W * u;
    if (now.softness > 0 && p[0] > 0) {
      const double depth = std::min(now.point.gap + h * u[0], 0.0);
      pending_stored_ += setup_.parameters.stiffness * depth * depth / 2;
    }
    pending_points_.push_back(now.point);
  }
  report.contacts = static_cast<int>(candidates_.size());
  report.dissipated -= pending_stored_ - stored_;
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
