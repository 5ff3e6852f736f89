#include "limb/sim/contact/contacts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limb/dynamics/kinematics/frames.hpp"
#include "limb/sim/forces/joint_impulse_solver.hpp"
#include "limb/sim/integrate/check_mass.hpp"

namespace limb {
namespace {

using Vector = Vector3<double>;

/// Relative to the step. The end of a step may differ from the sum of step lengths by a millionth
/// of a step (next_step), and late in a run times have few digits left for short steps.
constexpr double kSameTime = 1e-3;

/// m/s; target velocity of a contact that is not active yet: nothing approaches faster.
constexpr double kInactive = -1e3;
/// Relative rounding error of a sum over contacts.
constexpr double kRounding = 64 * std::numeric_limits<double>::epsilon();

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

double length(double x, double y) {
  return std::sqrt(x * x + y * y);
}

/// Columns n, t1, t2: right-handed, a function of the normal only.
Matrix3<double> contact_axes(const Vector& n) {
  const Vector other = std::abs(n[0]) < 0.9 ? Vector::UnitX() : Vector::UnitY();
  Matrix3<double> axes;
  axes.col(0) = n;
  axes.col(1) = (other - n * n.dot(other)).normalized();
  axes.col(2) = n.cross(axes.col(1));
  return axes;
}

/// Whether the gap of the nearest points of two such shapes is their distance.
bool is_capsule(ContactShape::Kind kind) {
  using Kind = ContactShape::Kind;
  return kind == Kind::sphere || kind == Kind::capsule || kind == Kind::cylinder ||
         kind == Kind::ellipsoid;
}

}  // namespace

void check_parameters(const char* call, const ContactParameters& p) {
  if (!(p.stiffness > 0)) fail(call, "stiffness", to_text(p.stiffness), "positive, or infinite");
  check_not_negative(call, "damping", p.damping);
  check_not_negative(call, "restitution_speed", p.restitution_speed);
  check_not_negative(call, "slop", p.slop);
  check_not_negative(call, "recovery_speed", p.recovery_speed);
  if (!(p.max_path_deviation > 0)) {
    fail(call, "max_path_deviation", to_text(p.max_path_deviation), "positive");
  }
  check_positive(call, "solver.tolerance", p.solver.tolerance);
  if (p.solver.max_proximal_steps < 0) {
    fail(call, "solver.max_proximal_steps", std::to_string(p.solver.max_proximal_steps),
         "0 or more");
  }
  check_surface(call, p.self_surface);
}

Contacts::Contacts(const Model<double>& model, ContactSetup setup)
    : setup_(std::move(setup)),
      space_(model),
      delassus_(model),
      correction_(VectorX<double>::Zero(model.nv())),
      pending_acceleration_(correction_),
      acceleration_(correction_),
      lift_(correction_) {
  check_parameters("Contacts", setup_.parameters);
  for (std::size_t i = 0; i < setup_.shapes.size(); ++i) {
    const ContactShape& shape = setup_.shapes[i];
    const std::string name = fmt::format("shapes[{}] ('{}')", i, shape.name);
    if (shape.body.value() < 0 || shape.body.value() >= model.body_count()) {
      fail("Contacts", name + ".body", std::to_string(shape.body.value()),
           fmt::format("a body of the model, 0 to {}", model.body_count() - 1));
    }
    const int sizes =
        shape.kind == ContactShape::Kind::sphere ? 1
        : shape.kind == ContactShape::Kind::capsule || shape.kind == ContactShape::Kind::cylinder
            ? 2
            : 3;
    for (int k = 0; k < sizes; ++k) check_not_negative("Contacts", name + ".size", shape.size[k]);
    if (shape.own_surface) check_surface("Contacts", shape.surface);
    shape_radius_.push_back(bounding_radius(shape.kind, shape.size));
    body_radius_.push_back(shape.X_BS.p.norm() + shape_radius_.back());
    reach_ = std::max(reach_, delassus_.reach(shape.body.value()) + body_radius_.back());
    if (shape.kind == ContactShape::Kind::mesh && shape.hull == nullptr) {
      fail("Contacts", name + ".hull", "null", "the convex hull of a mesh");
    }
    placed_.push_back({shape.kind, shape.size, {}, shape.hull.get()});
    travel_.emplace_back();
    margins_.emplace_back();
  }
  const std::size_t columns = at(setup_.ground.size()) + setup_.shapes.size();
  const auto check_table = [&](const char* name, const std::vector<std::vector<double>>& table) {
    for (const auto& row : table) {
      if (table.size() == setup_.shapes.size() && row.size() == columns) continue;
      fail("Contacts", name, fmt::format("{} x {}", table.size(), row.size()),
           fmt::format("{} x {}, shapes by solids and shapes", setup_.shapes.size(), columns));
    }
  };
  check_table("friction", setup_.friction);
  check_table("torsion", setup_.torsion);
  check_table("rolling", setup_.rolling);
  if (!setup_.parameters.self_contact) return;
  // Neighbours overlap at their joint; shapes of one tree that overlap in the given configuration
  // are assumed to do so by design.
  VectorX<double> q = make_state(model).q;
  if (!setup_.configuration.empty()) {
    check_size("Contacts", "configuration", std::ssize(setup_.configuration), q.size(), "nq");
    std::copy(setup_.configuration.begin(), setup_.configuration.end(), q.data());
  }
  const auto root_of = [&](BodyId body) {
    while (body.value() > 0 && model.body(body).parent.value() > 0) body = model.body(body).parent;
    return body;
  };
  // Fixed links, such as the base of an arm, count as part of every robot; the world does not.
  const auto is_fixed_link = [&](const ContactShape& shape) {
    return shape.body.value() == 0 && shape.name != kWorldLink;
  };
  const auto overlap_by_design = [&](std::size_t i, std::size_t j) {
    const ContactShape &first = setup_.shapes[i], &second = setup_.shapes[j];
    return is_fixed_link(first) || is_fixed_link(second) ||
           root_of(first.body) == root_of(second.body);
  };
  const auto is_parent = [&](BodyId a, BodyId b) {
    return a.value() > 0 && b.value() > 0 && model.body(b).parent == a;
  };
  const auto& kinematics = delassus_.update_kinematics(model, q);
  for (const ContactShape& shape : setup_.shapes) {
    const BodyId root = root_of(shape.body);
    const bool free = root.value() > 0 && model.body(root).joint.type() == JointType::free;
    base_of_.push_back(free ? root.value() : 0);
  }
  for (std::size_t i = 0; i < placed_.size(); ++i) {
    placed_[i].X_WS = kinematics.X_WB[at(setup_.shapes[i].body.value())] * setup_.shapes[i].X_BS;
    for (std::size_t j = 0; j < i; ++j) {
      const BodyId a = setup_.shapes[i].body, b = setup_.shapes[j].body;
      if (a == b || is_parent(a, b) || is_parent(b, a)) continue;
      const int shape = static_cast<int>(i), other = -1 - static_cast<int>(j);
      if (!setup_.friction.empty() && std::isnan(given(setup_.friction, shape, other))) continue;
      collision_points_.clear();
      collide(placed_[i], placed_[j], 0, collision_points_);
      if (collision_points_.size() > 0 && overlap_by_design(i, j)) continue;
      pairs_.push_back({static_cast<int>(i), static_cast<int>(j),
                        is_capsule(setup_.shapes[i].kind) && is_capsule(setup_.shapes[j].kind),
                        base_of_[i] > 0 && base_of_[i] == base_of_[j],
                        -std::numeric_limits<double>::infinity()});
    }
  }
  moved_.resize(placed_.size());
  inner_pose_.resize(placed_.size());
}

double Contacts::given(const std::vector<std::vector<double>>& table, int shape, int other) const {
  return table[at(shape)][at(other >= 0 ? other : setup_.ground.size() - 1 - other)];
}

void Contacts::add_candidates(int shape, int other, const ContactSurface& surface) {
  if (collision_points_.size() == 0) return;
  const ContactShape& own = setup_.shapes[at(shape)];
  ContactSurface used = own.own_surface ? own.surface : surface;
  if (!setup_.friction.empty()) used.friction = given(setup_.friction, shape, other);
  if (!setup_.torsion.empty()) used.torsion = given(setup_.torsion, shape, other);
  if (!setup_.rolling.empty()) used.rolling = given(setup_.rolling, shape, other);
  for (int i = 0; i < collision_points_.size(); ++i) {
    const CollisionPoint& from = collision_points_[i];
    const Candidate* last = candidates_.empty() ? nullptr : &candidates_.back();
    const Matrix3<double> axes_W =
        last != nullptr && last->point.n_W == from.n_W ? last->axes_W : contact_axes(from.n_W);
    Candidate& c = candidates_.emplace_back();
    c.point.shape = shape;
    c.point.other = other;
    c.point.feature = from.feature;
    c.point.gap = from.gap;
    c.point.friction = used.friction;
    c.point.torsion = used.torsion;
    c.point.rolling = used.rolling;
    c.point.p_W = from.p_W;
    c.point.n_W = from.n_W;
    c.axes_W = axes_W;
    c.restitution = used.restitution;
  }
}

/// m; upper bound of how far any shape moves in a time h with these velocities; travel_ has those
/// of the single shapes. Needs the poses of the bodies.
double Contacts::max_travel(const Model<double>& model, const VectorX<double>& v, double h) {
  constexpr double kNegligible = 1e-5;
  const double bound = h * delassus_.speed_bound(model, v, reach_);
  if (bound < kNegligible) {
    std::fill(travel_.begin(), travel_.end(), Travel{bound, bound});
    return bound;
  }
  const auto& speeds = delassus_.speed_bounds(model, v);
  double farthest = 0;
  for (std::size_t i = 0; i < placed_.size(); ++i) {
    const auto body = at(setup_.shapes[i].body.value());
    const DelassusMatrix::Speed& speed = speeds[body];
    travel_[i] = {h * (speed.linear + speed.angular * body_radius_[i]),
                  h * (speed.inner_linear + speed.inner_angular * body_radius_[i])};
    farthest = std::max(farthest, travel_[i].world);
  }
  return farthest;
}

/// All pairs of points closer than the margins of their shapes. Needs the poses of the bodies.
void Contacts::find_candidates() {
  candidates_.clear();
  const Kinematics<double>& kinematics = delassus_.kinematics();
  for (std::size_t i = 0; i < placed_.size(); ++i) {
    const ContactShape& shape = setup_.shapes[i];
    const Pose<double>& X_WB = kinematics.X_WB[at(shape.body.value())];
    if (pairs_.empty() && shape.kind == ContactShape::Kind::sphere) {  // no axes
      placed_[i].X_WS.p = X_WB * shape.X_BS.p;
      continue;
    }
    const Pose<double> X_WS = X_WB * shape.X_BS;
    if (!pairs_.empty()) {  // no point of the shape moves farther
      const auto distance = [&](const Pose<double>& a, const Pose<double>& b) {
        return (a.p - b.p).norm() + shape_radius_[i] * (a.R - b.R).norm();
      };
      moved_[i].world = distance(X_WS, placed_[i].X_WS);
      if (base_of_[i] > 0) {
        const Pose<double> inner = kinematics.X_WB[at(base_of_[i])].inverse() * X_WS;
        moved_[i].inner = distance(inner, inner_pose_[i]);
        inner_pose_[i] = inner;
      }
    }
    placed_[i].X_WS = X_WS;
  }
  const Ground& ground = setup_.ground;
  for (std::size_t i = 0; i < placed_.size(); ++i) {
    if (setup_.shapes[i].body.value() == 0) continue;  // fixed
    int other = 0;
    const auto collide_with = [&](const auto& solid) {
      const int shape = static_cast<int>(i), index = other++;
      if (!setup_.friction.empty() && std::isnan(given(setup_.friction, shape, index))) return;
      collision_points_.clear();
      collide(placed_[i], solid, margins_[i].world, collision_points_);
      add_candidates(shape, index, solid.surface);
    };
    for (const auto& solid : ground.half_spaces()) collide_with(solid);
    for (const auto& solid : ground.boxes()) collide_with(solid);
    for (const auto& solid : ground.height_fields()) collide_with(solid);
  }
  for (Pair& pair : pairs_) {
    find_pair(pair, margins_[at(pair.first)].of(pair) + margins_[at(pair.second)].of(pair));
  }
}

/// The least distance of a pair is known from an earlier step, less what its shapes have moved
/// since: most pairs are far apart and need no other test.
void Contacts::find_pair(Pair& pair, double margin) {
  constexpr double kAhead = 0.05;  // m; a larger distance is not computed
  const std::size_t i = at(pair.first), j = at(pair.second);
  constexpr double kRoundingOfDistance = 1e-12;
  pair.distance -= moved_[i].of(pair) + moved_[j].of(pair) + kRoundingOfDistance;
  if (pair.distance > margin) return;
  const double spheres =
      (placed_[i].X_WS.p - placed_[j].X_WS.p).norm() - shape_radius_[i] - shape_radius_[j];
  pair.distance = spheres;
  if (spheres > margin) return;
  collision_points_.clear();
  if (pair.capsules) {
    collide(placed_[i], placed_[j], margin + kAhead, collision_points_);
    pair.distance = margin + kAhead;
    for (int k = 0; k < collision_points_.size(); ++k) {
      pair.distance = std::min(pair.distance, collision_points_[k].gap);
    }
    if (pair.distance > margin) return;
  }
  if (!pair.capsules || collision_points_.size() > 1) {  // else it is the nearest point
    collision_points_.clear();
    collide(placed_[i], placed_[j], margin, collision_points_);
  }
  const ContactShape& other = setup_.shapes[j];
  add_candidates(pair.first, -1 - pair.second,
                 other.own_surface ? other.surface : setup_.parameters.self_surface);
}

/// Adds the time since the last call to a phase; null: starts.
void Contacts::add_time(double ContactTimes::*phase) {
  if (times_ == nullptr) return;
  const auto now = std::chrono::steady_clock::now();
  if (phase != nullptr) {
    times_->*phase += std::chrono::duration<double>(now - last_time_).count();
  }
  last_time_ = now;
}

void Contacts::apply(const Model<double>& model, const RobotState<double>& before, double h,
                     VectorX<double>& v, JointImpulseSolver* joints) {
  add_time(nullptr);
  if (!ended_at(before.t)) {
    points_.clear();
    effort_ = 1;
    hard_part_ = 0;
    ahead_.fill(0);
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
  if (joints != nullptr) joints->clear_missed();
  // Impulses may throw a light link farther than the margin of the collision search, or past a
  // stop; the step is then computed again with a larger margin or with that stop.
  constexpr double kNear = 1e-4;     // m; resting contacts stay candidates
  constexpr double kAtRest = 1e-6;   // sum of all velocities times h: far below kNear
  constexpr double kFarther = 1.25;  // factor on the bound
  constexpr int kPasses = 4;
  v_free_ = v;
  delassus_.update_kinematics(model, before.q);
  const double slack = kNear + 4 * h * h * model.gravity().norm();
  // A contact that opens for a step comes back with the speed that gravity adds in two: it rests,
  // and a landing at a time of its own would let a light leg hop for ever.
  slow_ = std::max(setup_.parameters.restitution_speed, 2 * h * model.gravity().norm());
  max_travel(model, before.v, h);
  for (std::size_t i = 0; i < margins_.size(); ++i) {
    margins_[i] = {slack + kFarther * travel_[i].world, slack + kFarther * travel_[i].inner};
  }
  add_time(&ContactTimes::kinematics);
  for (int pass = 0; pass < kPasses; ++pass) {
    v = v_free_;
    solve_with_margins(model, before, h, v, joints);
    bool again = joints != nullptr && joints->find_missed(model, h, v);
    // Velocities that change little need no other bound.
    velocity_change_ = v - before.v;
    if (h * v.lpNorm<1>() > kAtRest &&
        !(h * delassus_.speed_bound(model, velocity_change_, reach_) <= slack)) {
      max_travel(model, v, h);
      for (std::size_t i = 0; i < margins_.size(); ++i) {
        const Travel &now = travel_[i], &margin = margins_[i];
        again |= now.world > margin.world || now.inner > margin.inner;
        margins_[i] = {std::max(margin.world, kNear + kFarther * now.world),
                       std::max(margin.inner, kNear + kFarther * now.inner)};
      }
    }
    if (!again) break;
    delassus_.update_kinematics(model, before.q);
  }
  pending_acceleration_ = (v - v_free_) / h;
  store_result(h);
  limit_path_deviation(model, h, v);
  add_time(&ContactTimes::rest);
}

void Contacts::solve_with_margins(const Model<double>& model, const RobotState<double>& before,
                                  double h, VectorX<double>& v, JointImpulseSolver* joints) {
  pending_report_ = {};
  has_correction_ = has_lift_ = false;
  find_candidates();
  add_time(&ContactTimes::collision);
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
    delassus_.add_point(setup_.shapes[at(c.point.shape)].body.value(),
                        other >= 0 ? 0 : setup_.shapes[at(-1 - other)].body.value(), c.point.p_W,
                        c.axes_W);
  }
  for (int r = 0; r < joint_rows; ++r) delassus_.add_joint(model, joints->joint_velocity(r));
  spins_.clear();
  for (int c = 0; c < n; ++c) {
    Candidate& now = candidates_[at(c)];
    const int other = now.point.other, a = setup_.shapes[at(now.point.shape)].body.value(),
              b = other >= 0 ? 0 : setup_.shapes[at(-1 - other)].body.value();
    const auto add = [&](double radius, int first, int rows) {
      if (!(radius > 0)) return -1;
      const int row = delassus_.rows();
      delassus_.add_rotation(a, b, now.axes_W, first, rows);
      spins_.push_back({c, rows, radius});
      return row;
    };
    now.torsion_row = add(now.point.torsion, 0, 1);
    now.rolling_row = add(now.point.rolling, 1, 2);
  }
  solver_.resize(n, joint_rows, spins_);
  if (u_free_.size() < solver_.A.rows()) {
    u_free_ = u_begin_ = u_end_ = VectorX<double>::Zero(solver_.A.rows());
    free_acceleration_ = impulse_ = delayed_impulse_ = position_impulse_ = u_free_;
  }
  const FactorReport report = delassus_.compute(model, solver_.A);
  check_mass(model, report, before.t);
  add_time(&ContactTimes::matrix);
  delassus_.row_velocities(before.v, u_begin_, v, u_free_);
  solve_step(h, joints, joint_rows);
  add_time(&ContactTimes::solver);
  delassus_.apply_impulses(impulse_, v);
  for (int r = 0; r < joint_rows; ++r) {
    pending_joint_impulse_[joints->row(r)] = impulse_[3 * n + r];
  }
  correct_positions(model, h, joints, joint_rows);
}

bool Contacts::ended_at(double t) const {
  return std::abs(t - time_) <= kSameTime * step_;
}

void Contacts::commit_step(RobotState<double>& s) {
  if (!(std::abs(s.t - pending_end_) <= kSameTime * pending_step_)) return;
  points_.swap(pending_points_);
  joint_impulse_.swap(pending_joint_impulse_);
  acceleration_.swap(pending_acceleration_);
  report_ = pending_report_;
  keep_losses();
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
  if (has_correction_) space_.move(s.q, correction_, s.q);
  lifted_ = has_lift_;
  has_correction_ = has_lift_ = false;
}

// Impulses of a step: first those of the contacts that are closed, over the whole step, then those
// of each landing, at its time.

/// Sets the target velocity of each row, b = u_free - target, and the compliance of springs.
void Contacts::set_targets(double h, const JointImpulseSolver* joints, int joint_rows) {
  const ContactParameters& parameters = setup_.parameters;
  const int n = static_cast<int>(candidates_.size());
  for (int c = 0; c < n; ++c) {
    Candidate& now = candidates_[at(c)];
    const int i = 3 * c;
    const double gap = now.point.gap;
    now.height = gap;
    now.softness = 0;
    now.lands = now.bounces = false;
    if (std::isfinite(parameters.stiffness)) {
      // p = h (-k (gap + h u) - c u): the spring and the damper at the end of the step.
      const double stiff = h * parameters.stiffness + parameters.damping;
      now.softness = 1 / (h * stiff);
      now.target = -parameters.stiffness * gap / stiff;
    } else {
      // No penetration at the end of the step. A fast landing is a problem of its own, later; a
      // fast approach of a closed contact rebounds.
      const bool fast = -u_begin_[i] > slow_;
      now.lands = fast && gap > 0 && gap + h * std::min(u_begin_[i], u_free_[i]) < 0;
      now.target = now.lands ? kInactive : -std::max(gap, 0.0) / h;
      now.bounces = fast && gap <= 0 && now.restitution > 0 && gap + h * u_free_[i] < 0;
      if (now.bounces) now.target = std::max(now.target, -now.restitution * u_begin_[i]);
    }
    solver_.A(i, i) += now.softness;
    solver_.b[i] = u_free_[i] - now.target;
    solver_.b[i + 1] = u_free_[i + 1];
    solver_.b[i + 2] = u_free_[i + 2];
    solver_.mu[c] = now.point.friction;
  }
  for (int r = 0; r < joint_rows; ++r) {
    // With loops the row velocity differs from that of the joint solver.
    solver_.b[3 * n + r] = joints->velocity_error(r) + u_free_[3 * n + r] - joints->end_velocity(r);
    solver_.lower[r] = joints->lower(r);
    solver_.upper[r] = joints->upper(r);
  }
  for (int i = 3 * n + joint_rows; i < solver_.size(); ++i) solver_.b[i] = u_free_[i];
}

/// Starts from the impulses that the same contacts had in the last step.
void Contacts::warm_start(double h, const JointImpulseSolver* joints, int joint_rows) {
  const int n = static_cast<int>(candidates_.size());
  std::size_t from = 0;
  for (int c = 0; c < n; ++c) {
    const Candidate& now = candidates_[at(c)];
    Vector p = Vector::Zero(), moment = Vector::Zero();
    // Both lists have the same order of pairs: the search is short.
    for (std::size_t k = 0; k < points_.size(); ++k) {
      const std::size_t index = from + k < points_.size() ? from + k : from + k - points_.size();
      const ContactPoint& last = points_[index];
      if (last.shape != now.point.shape || last.other != now.point.other ||
          last.feature != now.point.feature) {
        continue;
      }
      p = h * (now.axes_W.transpose() * last.force_W);
      if (now.torsion_row >= 0 || now.rolling_row >= 0) {
        moment = h * (now.axes_W.transpose() * last.moment_W);
      }
      from = index + 1 < points_.size() ? index + 1 : 0;
      break;
    }
    p[0] = std::max(p[0], 0.0);
    const double size = length(p[1], p[2]), bound = now.point.friction * p[0];
    if (size > bound) p.tail<2>() *= bound / size;
    solver_.p.segment<3>(3 * c) = p;
    if (now.torsion_row >= 0) {
      const double most = now.point.torsion * p[0];
      solver_.p[now.torsion_row] = std::clamp(moment[0], -most, most);
    }
    if (now.rolling_row >= 0) {
      const double turning = length(moment[1], moment[2]), most = now.point.rolling * p[0];
      solver_.p.segment<2>(now.rolling_row) =
          (turning > most ? most / turning : 1) * moment.tail<2>();
    }
  }
  for (int r = 0; r < joint_rows; ++r) {
    const double last = step_ > 0 ? joint_impulse_[joints->row(r)] * h / step_ : 0;
    solver_.p[3 * n + r] = std::clamp(last, joints->lower(r), joints->upper(r));
  }
}

/// Solves the current problem, at a time within the step, and adds its impulses. Newton's law of
/// restitution at several contacts with friction may require more energy than there is; then
/// nothing bounces.
void Contacts::solve_problem(double h, double time, int joint_rows) {
  const int n = static_cast<int>(candidates_.size()), size = solver_.size();
  ContactReport& report = pending_report_;
  const auto change = [&](int i) {  // of the velocity
    const double soft = i < 3 * n && i % 3 == 0 ? candidates_[at(i / 3)].softness : 0;
    return solver_.velocity()[i] - solver_.b[i] - soft * solver_.p[i];
  };
  bool bounces = false;
  for (const Candidate& now : candidates_) bounces |= now.bounces;
  ConeSolver::Report solved;
  double energy = 0, moment = 0;
  while (true) {
    solved = solve_with_effort();
    report.sweeps += solved.sweeps;
    report.newton_steps += solved.newton_steps;
    // Energy added by the impulses: p (u_free + u_end) / 2; for a bounce at its time, not at the
    // middle of the step.
    moment = bounces ? time - h / 2 : 0;
    double rounding = 0;
    energy = 0;
    for (int i = 0; i < size; ++i) {
      const double work =
          solver_.p[i] * (u_free_[i] + free_acceleration_[i] * moment + change(i) / 2);
      energy += work;
      rounding += kRounding * std::abs(solver_.p[i] * u_free_[i]);
    }
    if (!bounces || energy <= rounding) break;
    bounces = false;
    for (int c = 0; c < n; ++c) {
      Candidate& now = candidates_[at(c)];
      if (now.bounces) now.target = 0;
      now.bounces = false;
      solver_.b[3 * c] = u_free_[3 * c] - now.target;
    }
  }
  report.residual = std::max(report.residual, solved.residual);
  report.converged &= solved.converged;
  report.impulse_energy += energy;
  for (int i = 0; i < size; ++i) {
    const double p = solver_.p[i];
    u_end_[i] = u_free_[i] + change(i);
    // The kinetic energy changes by the sum over all forces of p (u_begin + u_end) / 2.
    const double work = p * ((u_begin_[i] + u_end_[i]) / 2 + free_acceleration_[i] * moment);
    const bool of_joint = i >= 3 * n && i < 3 * n + joint_rows;
    const bool friction = of_joint && std::isfinite(solver_.upper[i - 3 * n]) &&
                          std::isfinite(solver_.lower[i - 3 * n]);
    (friction   ? report.friction_dissipated
     : of_joint ? report.stops_dissipated
                : report.dissipated) -= work;
    impulse_[i] += p;
    delayed_impulse_[i] += time * p;
    if (i < 3 * n && i % 3 == 0) {
      const double power = std::abs(p * solver_.velocity()[i]) / h;
      report.complementarity = std::max(report.complementarity, power);
    }
  }
}

/// Problems without a solution come in sequences, such as with a robot that motors press into the
/// ground: after each one that was not solved, the next may take a quarter of the work, so that the
/// run goes on, and after a solved one twice as much. Where many problems are hard, and above
/// speeds of 50 m/s, all take less.
ConeSolver::Report Contacts::solve_with_effort() {
  constexpr double kLeast = 1. / 64;
  constexpr int kSweeps = 100, kNewtonSteps = 20;  // at least
  constexpr int kHardSweeps = 1000, kMemory = 32;  // problems
  constexpr double kOften = 0.15;                  // part of the problems
  constexpr double kAbsurd = 50;                   // m/s; faster robots are out of control
  ConeSolver::Options options = setup_.parameters.solver;
  double fastest = 0;
  for (int i = 0; i < solver_.size(); ++i) fastest = std::max(fastest, std::abs(u_free_[i]));
  const double slower = std::min(kAbsurd / fastest, 1.0), effort = effort_ * slower * slower;
  const auto part = [&](int all, int least) {
    return std::min(all, std::max(static_cast<int>(effort * all), least));
  };
  options.max_sweeps = part(options.max_sweeps, kSweeps);
  options.max_newton_steps = part(options.max_newton_steps, kNewtonSteps);
  const ConeSolver::Report report = solver_.solve(options);
  const bool hard = !report.converged || report.sweeps > kHardSweeps;
  hard_part_ += ((hard ? 1 : 0) - hard_part_) / kMemory;
  const double most = std::pow(std::min(kOften / hard_part_, 1.0), 3);
  effort_ = report.converged ? std::min(2 * effort_, 1.0) : effort_ / 4;
  effort_ = std::max(std::min(effort_, most), kLeast);
  return report;
}

/// Impulses of closed contacts act from the start of the step. A fast landing within the step, if
/// treated the same way, would split its impact between this step and the next, and the motion
/// would depend on the split. It is therefore left out of the first problem and acts at its time of
/// impact: one more problem of all contacts per landing.
void Contacts::solve_step(double h, const JointImpulseSolver* joints, int joint_rows) {
  constexpr int kMaxLandings = 4;  // per step; further ones are treated as slow
  set_targets(h, joints, joint_rows);
  warm_start(h, joints, joint_rows);
  impulse_.setZero();
  delayed_impulse_.setZero();
  free_acceleration_.setZero();
  const auto size = static_cast<Eigen::Index>(solver_.size());
  solve_problem(h, 0, joint_rows);
  free_acceleration_.head(size) = (u_end_ - u_begin_).head(size) / h;
  double time = 0;
  for (int k = 1; k <= kMaxLandings; ++k) {
    const double last = time;
    time = next_landing(h, last);
    if (!(time < h)) break;
    set_landing(h, last, time, k == kMaxLandings, joint_rows);
    solve_problem(h, time, joint_rows);
  }
}

/// Rate of a gap at a time within the step. Between landings positions move with the velocities of
/// the end of the step; a contact that bounces follows the parabola on which, as in the leapfrog
/// method, these are the velocities of the middle.
double Contacts::gap_velocity(int c, double h, double time) const {
  return u_end_[3 * c] + gap_acceleration(c) * (time - h / 2);
}
double Contacts::gap_acceleration(int c) const {
  return candidates_[at(c)].restitution > 0 ? free_acceleration_[3 * c] : 0;
}

/// @returns the time of the next landing after `last`, or h.
double Contacts::next_landing(double h, double last) {
  double first = h;
  for (int c = 0; c < static_cast<int>(candidates_.size()); ++c) {
    Candidate& now = candidates_[at(c)];
    now.landing = std::numeric_limits<double>::infinity();
    const double left = h - last, u = gap_velocity(c, h, last), a = gap_acceleration(c);
    if (!now.lands || now.height + (u + a * left / 2) * left >= 0) continue;
    // The first root of height + u t + a t^2 / 2, which is positive at t = 0 and negative at the
    // end.
    const double root = std::sqrt(std::max(u * u - 2 * a * now.height, 0.0));
    const double t = u < 0 ? 2 * now.height / (root - u) : -(u + root) / a;
    now.landing = last + std::clamp(t, 0.0, left);
    first = std::min(first, now.landing);
  }
  return first;
}

/// Sets the problem of all landings at, or shortly after, that time. All closed contacts take part.
void Contacts::set_landing(double h, double last, double time, bool all, int joint_rows) {
  constexpr double kTogether = 0.01;  // relative to the step
  const double left = std::max(h - time, kTogether * h);
  const int n = static_cast<int>(candidates_.size()), size = solver_.size();
  for (int c = 0; c < n; ++c) {
    Candidate& now = candidates_[at(c)];
    const double t = time - last, u = gap_velocity(c, h, time);
    now.height = std::max(now.height + (gap_velocity(c, h, last) + u) / 2 * t, 0.0);
    now.bounces = false;
    if (now.landing <= time + kTogether * h) {
      now.lands = false;
      now.target = 0;
      now.bounces = now.restitution > 0 && -u > slow_;
      if (now.bounces) {
        now.target = std::max(-now.restitution * u - gap_acceleration(c) * (time - h / 2), 0.0);
      }
    } else if (now.lands && !all) {
      now.target = kInactive;
    } else {  // Pressed contacts keep their velocity; the others end without penetration.
      const bool pressed = impulse_[3 * c] > 0 && u_end_[3 * c] <= 0;
      now.target = pressed ? u_end_[3 * c] : -now.height / left;
    }
    solver_.b.segment<3>(3 * c) = u_end_.segment<3>(3 * c);
    solver_.b[3 * c] -= now.target;
  }
  for (int r = 0; r < joint_rows; ++r) {
    solver_.b[3 * n + r] = solver_.velocity()[3 * n + r];
    // Friction may still use what remains of its bounds.
    if (!std::isfinite(solver_.upper[r] - solver_.lower[r])) continue;
    solver_.lower[r] -= solver_.p[3 * n + r];
    solver_.upper[r] -= solver_.p[3 * n + r];
  }
  for (int i = 3 * n + joint_rows; i < size; ++i) solver_.b[i] = u_end_[i];
  u_begin_.head(size) = u_free_.head(size) = u_end_.head(size);
  solver_.p.head(size).setZero();
}

void Contacts::store_result(double h) {
  ContactReport& report = pending_report_;
  pending_points_.clear();
  pending_stored_ = 0;
  for (std::size_t c = 0; c < candidates_.size(); ++c) {
    Candidate& now = candidates_[c];
    const auto i = 3 * static_cast<Eigen::Index>(c);
    const Vector p = impulse_.segment<3>(i), u = u_end_.segment<3>(i);
    report.cone = std::max(report.cone, (length(p[1], p[2]) - now.point.friction * p[0]) / h);
    report.penetration = std::max(report.penetration, -now.point.gap);
    report.touching += p[0] > 0 ? 1 : 0;
    now.point.force_W = now.axes_W * p / h;
    now.point.velocity_W = now.axes_W * u;
    if (now.torsion_row >= 0 || now.rolling_row >= 0) {
      Vector moment = Vector::Zero();
      if (now.torsion_row >= 0) moment[0] = impulse_[now.torsion_row];
      if (now.rolling_row >= 0) moment.tail<2>() = impulse_.segment<2>(now.rolling_row);
      now.point.moment_W = now.axes_W * moment / h;
      report.cone = std::max({report.cone, (std::abs(moment[0]) - now.point.torsion * p[0]) / h,
                              (length(moment[1], moment[2]) - now.point.rolling * p[0]) / h});
    }
    if (now.softness > 0 && p[0] > 0) {
      const double depth = std::min(now.point.gap + h * u[0], 0.0);
      pending_stored_ += setup_.parameters.stiffness * depth * depth / 2;
    }
    pending_points_.push_back(now.point);
  }
  report.contacts = static_cast<int>(candidates_.size());
  report.dissipated -= pending_stored_ - stored_;
}

/// Where a velocity turns around within the step, such as that of a foot that slides one way and
/// then sticks against a force the other way, the work of its mean is positive: an error of
/// integration, not energy from the contact. It is set off against what contacts take later.
void Contacts::keep_losses() {
  double* const taken[] = {&report_.dissipated, &report_.friction_dissipated,
                           &report_.stops_dissipated};
  for (std::size_t i = 0; i < ahead_.size(); ++i) {
    const double sum = *taken[i] - ahead_[i];
    ahead_[i] = std::max(-sum, 0.0);
    *taken[i] = std::max(sum, 0.0);
  }
}

// Position correction and step length.

/// Corrects overlaps in position only, as split impulses do: displacements M^-1 J^T x, x >= 0, that
/// leave no overlap deeper than the slop and no joint beyond its stop; velocities are unaffected.
/// Also removes the displacement by delayed impulses before the time at which they act.
void Contacts::correct_positions(const Model<double>& model, double h,
                                 const JointImpulseSolver* joints, int joint_rows) {
  // A contact whose normal nearly points along a link moves other points much farther than it moves
  // itself: at most this many times the correction of an overlap.
  constexpr double kFarther = 10;
  constexpr double kNegligible = 1e-12;  // relative to the largest entry of A: rounding
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
    if (joints->return_sign(r) == 0) continue;
    const double beyond = joints->beyond(r);
    overlap |= beyond > parameters.slop;
    overlaps_.push_back({3 * n + r, joints->return_sign(r), std::min(beyond, most)});
  }
  const bool delayed = (delayed_impulse_.array() != 0).any();
  has_correction_ = overlap || delayed;
  if (!has_correction_) return;
  position_impulse_.setZero();
  double largest = 0;
  for (const Overlap& now : overlaps_) largest = std::max(largest, solver_.A(now.row, now.row));
  constexpr int kSweeps = 100;
  for (int k = 0; k < kSweeps && overlap; ++k) {
    double moved = 0;
    for (const Overlap& now : overlaps_) {
      const double W = solver_.A(now.row, now.row);
      if (!(W > kNegligible * largest)) continue;
      double lift = 0;
      for (const Overlap& other : overlaps_)
        lift += solver_.A(other.row, now.row) * position_impulse_[other.row];
      const double last = now.sign * position_impulse_[now.row];
      const double next = std::max(last + (now.target - now.sign * lift) / W, 0.0);
      moved = std::max(moved, std::abs(next - last) * W);
      position_impulse_[now.row] = now.sign * next;
    }
    if (moved < 1e-3 * parameters.slop) break;
  }
  has_lift_ = overlap;
  if (overlap) {
    delassus_.displacement(position_impulse_, lift_);
    const double farthest = max_travel(model, lift_, 1);
    if (farthest > kFarther * most) {
      position_impulse_ *= kFarther * most / farthest;
      lift_ *= kFarther * most / farthest;
    }
  }
  if (delayed) {
    position_impulse_ -= delayed_impulse_;
    delassus_.displacement(position_impulse_, correction_);
  } else {
    correction_ = lift_;
  }
}

/// The contact problem assumes that gaps change by h u in a step. With constant joint velocities
/// they also change by the curvature of the paths, h^2 / 2 times the bias acceleration (w^2 r and
/// similar terms). Where that exceeds max_path_deviation, the accepted step is shorter.
void Contacts::limit_path_deviation(const Model<double>& model, double h,
                                    const VectorX<double>& v) {
  accepted_step_ = h;
  const double allowed = setup_.parameters.max_path_deviation;
  // Sum of all velocities times h: below it, paths of a robot of metres deviate by less than 0.1
  // mm.
  constexpr double kSlow = 0.01;
  constexpr double kMaxSubsteps = 16;
  if (candidates_.empty() || std::isfinite(setup_.parameters.stiffness)) return;
  if (h * v.lpNorm<1>() < kSlow) return;
  // Sums L and W of the linear and angular speeds of all joints bound the acceleration of a point
  // by 2 W^2 times its distance from the joints that move it, plus 2 W L; both bodies of
  // self-contact may move.
  const double linear = delassus_.speed_bound(model, v, 0),
               angular = delassus_.speed_bound(model, v, 1) - linear;
  double margin = 0;
  for (const Travel& each : margins_) margin = std::max(margin, each.world);
  const double bound =
      (pairs_.empty() ? 2 : 4) * angular * (angular * (reach_ + 2 * margin) + linear);
  if (h * h / 2 * bound <= allowed) return;
  const auto& motions = delassus_.bias_motions(model, v);
  const auto& X_WB = delassus_.kinematics().X_WB;
  // Acceleration against n of any point of the body as far from its origin as p: an upper bound.
  const auto towards = [&](BodyId id, const Vector& p, const Vector& n) {
    const auto body = static_cast<std::size_t>(id.value());
    const DelassusMatrix::BiasMotion& motion = motions[body];
    return (motion.w.squaredNorm() + motion.dw.norm()) * (p - X_WB[body].p).norm() -
           n.dot(motion.a);
  };
  double worst = 0;
  for (const Candidate& c : candidates_) {
    double a = towards(setup_.shapes[static_cast<std::size_t>(c.point.shape)].body, c.point.p_W,
                       c.point.n_W);
    if (c.point.other < 0) {
      const auto& other = setup_.shapes[static_cast<std::size_t>(-1 - c.point.other)];
      a += towards(other.body, c.point.p_W, -c.point.n_W);
    }
    const double deviation = h * h / 2 * a;
    const double end = c.point.gap + h * c.point.n_W.dot(c.point.velocity_W);
    if (end < deviation) worst = std::max(worst, deviation);
  }
  if (worst > allowed) {
    accepted_step_ = h / std::min(std::ceil(std::sqrt(worst / allowed)), kMaxSubsteps);
  }
}

// Queries about the last step.

bool Contacts::belongs_to(const Model<double>& model, FrameId frame, int shape) const {
  const Frame<double>& f = model.frame(frame);
  const auto named = [&](const ContactShape& s) { return s.name == f.name; };
  const ContactShape& s = setup_.shapes[static_cast<std::size_t>(shape)];
  return s.body == f.body &&
         (named(s) || std::none_of(setup_.shapes.begin(), setup_.shapes.end(), named));
}

bool Contacts::touches(const Model<double>& model, FrameId frame) const {
  return std::any_of(points_.begin(), points_.end(), [&](const ContactPoint& c) {
    return c.n_W.dot(c.force_W) > 0 && (belongs_to(model, frame, c.shape) ||
                                        (c.other < 0 && belongs_to(model, frame, -1 - c.other)));
  });
}

Force<double> Contacts::force_on(const Model<double>& model, const Kinematics<double>& kinematics,
                                 FrameId frame) const {
  const Vector origin = frame_pose(model, kinematics, frame).p;
  Force<double> sum{Vector::Zero(), Vector::Zero()};
  for (const ContactPoint& point : points_) {
    double sign = belongs_to(model, frame, point.shape) ? 1 : 0;
    if (point.other < 0 && belongs_to(model, frame, -1 - point.other)) sign -= 1;
    sum.f += sign * point.force_W;
    sum.n += sign * ((point.p_W - origin).cross(point.force_W) + point.moment_W);
  }
  return sum;
}

Vector Contacts::center_of_pressure() const {
  Vector sum = Vector::Zero();
  double total = 0;
  for (const ContactPoint& point : points_) {
    if (point.other < 0) continue;
    const double normal = point.n_W.dot(point.force_W);
    sum += normal * point.p_W;
    total += normal;
  }
  return total > 0 ? Vector(sum / total)
                   : Vector(Vector::Constant(std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace limb
