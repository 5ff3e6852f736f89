#include "limb/control/whole_body/whole_body.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "limb/base/check.hpp"
#include "limb/control/whole_body/contact_axes.hpp"
#include "limb/control/whole_body/stopwatch.hpp"
#include "limb/dynamics/constraints/actuated.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/math/so3.hpp"

namespace limb {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Bound on variables that an equation sets to zero.
constexpr double kInactiveBound = 1;

/// Factor on the weights of posture and forces in levels without these tasks.
constexpr double kRegularization = 1e-4;

/// Adds weight |J a - target|^2 to H and g; a are the first variables.
template <typename Jacobian, typename Target>
void add_task(Qp& qp, double weight, const Jacobian& J, const Target& target) {
  const auto n = J.cols();
  qp.H().topLeftCorner(n, n) += weight * J.transpose().lazyProduct(J);
  qp.g().head(n) -= weight * J.transpose().lazyProduct(target);
}

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
  // These two weights make the program strictly convex.
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
    fail("WholeBody", "model", "one with loops",
         "a tree: the program does not include loop constraints");
  }
  for (const Foot& foot : feet) {
    if (foot.points.empty() || foot.points.size() == 2) {
      fail("WholeBody", "points of a foot", std::to_string(foot.points.size()),
           "one, or at least three that span a sole");
    }
  }
}

}  // namespace

WholeBody::WholeBody(const Model<double>& model, std::vector<Foot> feet,
                     const WholeBodyOptions& options)
    : model_(model),
      feet_(std::move(feet)),
      options_(options),
      n_(model.nv()),
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
  if (options_.posture_weights.size() > 0) {
    check_velocity("WholeBody", "posture_weights", model, options_.posture_weights);
    check_positive("WholeBody", "posture_weights", options_.posture_weights.minCoeff());
  }
  int row = 0;
  for (int i = 0; i < n_; ++i) {
    if (!is_actuated(model, i)) unactuated_.push_back(i);
  }
  row = static_cast<int>(unactuated_.size());
  for (const Foot& foot : feet_) {
    const auto frame =
        AnyFrame<double>(foot.frame).resolve("WholeBody", model);  // throws if unknown
    const Pose<double> X_FQ{Matrix3<double>::Identity(), foot.points.front()};
    frames_.emplace_back(BodyId(static_cast<int>(frame.body)),
                         foot.is_sole() ? frame.X_BF : frame.X_BF * X_FQ);
    const int rows = foot.is_sole() ? 6 : 3;
    foot_rows_.push_back({points_, row, rows});
    row += rows;
    points_ += static_cast<int>(foot.points.size());
  }
  for (const auto& body : model.bodies()) {
    if (body.parent.value() < 0 || &body == &model.bodies().front()) continue;
    const auto index = static_cast<std::size_t>(&body - &model.bodies().front()) - 1;
    const auto& coupling = model.coupling().rows()[index];
    if (coupling.yq < 0) continue;  // a coupled joint: the limits of the leading joint apply
    for (std::size_t k = 0; k < coupling.terms.size(); ++k) {
      const int i = coupling.terms[k].y;
      if (!is_actuated(model, i)) continue;
      const DofLimits<double>& limits = body.limits[k];
      const double effort =
          options_.effort.size() > 0 ? options_.effort[i] : limits.effort.value_or(kInfinity);
      joints_.push_back({i, coupling.nq == 1 ? coupling.yq : -1, options_.effort_share * effort,
                         limits.lower.value_or(-kInfinity), limits.upper.value_or(kInfinity),
                         limits.velocity.value_or(kInfinity)});
    }
  }
  for (int k = 0; k < options_.cone_faces; ++k) {
    const double angle = 2 * std::numbers::pi * k / options_.cone_faces;
    directions_.emplace_back(std::cos(angle), std::sin(angle), 0);
  }

  q_.setZero(model.nq());
  q_hold_ = q_;
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
  // Coulomb friction is left to the feedback: its sign at rest is unknown.
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
  return f_.middleCols(foot_rows_[i].first_point, static_cast<int>(feet_[i].points.size()))
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
    report_.status = Status::not_finite;  // instead of throwing: targets() has the right sizes
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
    write_fixed_tasks(targets, level, qp);
    report_.setup_us += watch.microseconds();

    watch.restart();
    report_.status = qp.solve();
    report_.solve_us += watch.microseconds();
    report_.iterations += qp.iterations();
    const QpResiduals residuals = qp.residuals();
    // If a level fails, the solution of the one before is used.
    if (!is_usable(qp, report_.status)) {
      if (report_.levels == 0) report_.residuals = residuals;
      break;
    }
    report_.residuals = residuals;
    x_ = qp.x();
    ++report_.levels;
  }
  read_solution(targets);
  return tau_;
}

// A solution at the iteration limit is usable if it violates the constraints by less than a
// thousandth of the weight.
bool WholeBody::is_usable(const Qp& qp, Status status) const {
  return status == Status::ok ||
         (status == Status::iteration_limit && qp.residuals().primal < 1e-3 && qp.x().allFinite());
}

void WholeBody::read_solution(const WholeBodyTargets& targets) {
  if (report_.levels == 0) {
    fall_back(targets);
    return;
  }
  fell_back_before_ = false;
  a_ = x_.head(n_);
  for (int k = 0; k < points_; ++k) f_.col(k) = weight_ * x_.segment<3>(n_ + 3 * k);

  // tau = M a + h - J^T f, rows with motors.
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
          R.transpose() * f_.col(foot_rows_[i].first_point + static_cast<int>(k));
      report_.outside_cone = std::max(report_.outside_cone, -f.z());
      for (const Vector3<double>& d : directions_) {
        report_.outside_cone = std::max(report_.outside_cone, d.dot(f) - slope * f.z());
      }
    }
  }
}

// The quadratic program, row by row. Variables: x = (a, f / weight), a the accelerations, f the
// forces at all points of all feet, world axes. Rows of forces and torques are divided by the
// weight, too: all entries are then of order one, and so are tolerances.

void WholeBody::write_tasks(const WholeBodyTargets& targets, const Level& level, Qp& qp) {
  qp.H().setZero();
  qp.g().setZero();
  const TaskPriorities& first = options_.priority;
  if (first.mass_center == level.priority) {
    add_task(qp, options_.mass_center_weight, J_com_,
             Vector3<double>(targets.mass_center - bias_com_));
  }
  if (first.turn == level.priority) {
    add_task(qp, options_.turn_weight, J_base_.bottomRows<3>(),
             Vector3<double>(targets.turn - bias_base_.w));
  }
  for (std::size_t i = 0; i < feet_.size(); ++i) {
    const auto& foot = targets.feet[i];
    if (foot.stands || first.swing != level.priority) continue;
    add_task(qp, options_.swing_weight, J_feet_[i].topRows<3>(),
             Vector3<double>(foot.acceleration.v - bias_feet_[i].v));
    if (feet_[i].is_sole()) {
      add_task(qp, options_.swing_weight, J_feet_[i].bottomRows<3>(),
               Vector3<double>(foot.acceleration.w - bias_feet_[i].w));
    }
  }
  // In levels without these tasks, a small weight keeps the program strictly convex.
  const bool has_posture = first.posture == level.priority;
  const double posture =
      has_posture ? options_.posture_weight : kRegularization * options_.posture_weight;
  const bool each = options_.posture_weights.size() > 0;
  for (const Joint& joint : joints_) {
    const int i = joint.velocity;
    const double weight = each && has_posture ? options_.posture_weights[i] : posture;
    qp.H()(i, i) += weight;
    if (has_posture) qp.g()[i] -= weight * targets.posture[i];
  }
  for (const int i : unactuated_) {  // a thousandth of it, for a base without a task
    qp.H()(i, i) += 1e-3 * posture;
  }
  const bool has_force = first.force == level.priority;
  const double force = has_force ? options_.force_weight : kRegularization * options_.force_weight;
  for (std::size_t i = 0; i < feet_.size(); ++i) {
    const auto count = static_cast<double>(feet_[i].points.size());
    for (std::size_t k = 0; k < feet_[i].points.size(); ++k) {
      const int column = n_ + 3 * (foot_rows_[i].first_point + static_cast<int>(k));
      qp.H().diagonal().segment<3>(column).setConstant(force);
      if (targets.feet[i].stands && has_force) {
        qp.g().segment<3>(column) = -force / (count * weight_) * targets.feet[i].force;
      }
    }
  }
}

void WholeBody::write_dynamics(Qp& qp) {
  auto A = qp.A();
  auto C = qp.C();
  A.setZero();
  for (std::size_t r = 0; r < unactuated_.size(); ++r) {
    const int i = unactuated_[r];
    const auto row = static_cast<int>(r);
    A.row(row).head(n_) = M_.row(i) / weight_;
    for (int k = 0; k < points_; ++k) {
      A.row(row).segment<3>(n_ + 3 * k) =
          -J_points_[static_cast<std::size_t>(k)].col(i).transpose();
    }
    qp.b()[row] = -h_[i] / weight_;
  }
  const int first = points_ * (options_.cone_faces + 1);
  for (std::size_t r = 0; r < joints_.size(); ++r) {
    const Joint& joint = joints_[r];
    const int row = first + static_cast<int>(r);
    C.row(row).head(n_) = M_.row(joint.velocity) / weight_;
    for (int k = 0; k < points_; ++k) {
      C.row(row).segment<3>(n_ + 3 * k) =
          -J_points_[static_cast<std::size_t>(k)].col(joint.velocity).transpose();
    }
    qp.lower()[row] = (-joint.effort - h_[joint.velocity]) / weight_;
    qp.upper()[row] = (joint.effort - h_[joint.velocity]) / weight_;
  }
}

void WholeBody::write_feet(const WholeBodyTargets& targets, Qp& qp) {
  auto A = qp.A();
  auto C = qp.C();
  const int base = static_cast<int>(unactuated_.size());
  const int torques = points_ * (options_.cone_faces + 1);
  const double slope = options_.friction * std::cos(std::numbers::pi / options_.cone_faces);
  for (std::size_t i = 0; i < feet_.size(); ++i) {
    const auto& foot = targets.feet[i];
    const FootRows& rows = foot_rows_[i];
    const int count = static_cast<int>(feet_[i].points.size());
    const int column = n_ + 3 * rows.first_point;
    if (foot.stands) {
      A.middleRows(rows.first_row, rows.rows).leftCols(n_) = J_feet_[i].topRows(rows.rows);
      qp.b().segment(rows.first_row, 3) = -bias_feet_[i].v - brake(V_feet_[i].v);
      if (rows.rows == 6) {
        qp.b().segment(rows.first_row + 3, 3) = -bias_feet_[i].w - brake(V_feet_[i].w);
      }
    } else {
      // The rows set f = 0 for as many components as there are rows; zero columns cover the rest.
      A.middleRows(0, base).middleCols(column, 3 * count).setZero();
      C.middleRows(torques, static_cast<int>(joints_.size()))
          .middleCols(column, 3 * count)
          .setZero();
      for (int k = 0; k < rows.rows; ++k) A(rows.first_row + k, column + k) = 1;
      qp.b().segment(rows.first_row, rows.rows).setZero();
    }
    const Matrix3<double> R_WC = contact_axes(foot.normal);
    for (int k = 0; k < count; ++k) {
      int row = (rows.first_point + k) * (options_.cone_faces + 1);
      const int at = column + 3 * k;
      for (const Vector3<double>& d : directions_) {
        C.row(row).segment<3>(at) = (R_WC * d - slope * foot.normal).transpose();
        qp.lower()[row] = -kInfinity;
        qp.upper()[row++] = foot.stands ? 0 : kInactiveBound;
      }
      C.row(row).segment<3>(at) = foot.normal.transpose();
      qp.lower()[row] = foot.stands ? 0 : -kInactiveBound;
      qp.upper()[row] = foot.stands ? options_.max_normal_force / weight_ : kInactiveBound;
    }
  }
}

// Bounded: a fast touch-down would otherwise require torques beyond the limits of the motors.
Vector3<double> WholeBody::brake(const Vector3<double>& v) const {
  const double deceleration = options_.contact_damping * v.norm();
  return std::min(deceleration, options_.contact_brake) / std::max(v.norm(), 1e-9) * v;
}

void WholeBody::write_limits(Qp& qp) {
  auto C = qp.C();
  const int first = points_ * (options_.cone_faces + 1) + static_cast<int>(joints_.size());
  for (std::size_t r = 0; r < joints_.size(); ++r) {
    const int row = first + static_cast<int>(r);
    C(row, joints_[r].velocity) = 1;
    acceleration_bounds(joints_[r], qp.lower()[row], qp.upper()[row]);
  }
}

// A joint at the distance d from its limit that keeps d'' + 2 k d' + k^2 d >= 0 never reaches it,
// if d' + k d >= 0 initially: d then falls no faster than exp(-k t). For velocity limits likewise,
// with one order less. A joint beyond its limit is brought back with at most the deceleration that
// stops it from full speed.
void WholeBody::acceleration_bounds(const Joint& joint, double& lower, double& upper) const {
  const double k = options_.limit_rate, v = v_[joint.velocity];
  const double hardest = std::isfinite(joint.speed) ? k * joint.speed : 50 * k;
  const double slowest = -k * (joint.speed + v), fastest = k * (joint.speed - v);
  lower = std::min(slowest, hardest);
  upper = std::max(fastest, -hardest);
  if (joint.position >= 0) {
    const double q = q_[joint.position];
    lower = std::max(lower, std::min(k * k * (joint.lower - q) - 2 * k * v, hardest));
    upper = std::min(upper, std::max(k * k * (joint.upper - q) - 2 * k * v, -hardest));
  }
  if (lower > upper) lower = upper = 0.5 * (lower + upper);
}

/// Number of rows of all tasks with a priority below this.
int WholeBody::task_rows(int before) const {
  const TaskPriorities& first = options_.priority;
  int swing = 0;
  for (const Foot& foot : feet_) swing += foot.is_sole() ? 6 : 3;
  return (first.mass_center < before ? 3 : 0) + (first.turn < before ? 3 : 0) +
         (first.swing < before ? swing : 0) +
         (first.posture < before ? static_cast<int>(joints_.size()) : 0) +
         (first.force < before ? 3 * points_ : 0);
}

void WholeBody::make_levels() {
  const TaskPriorities& first = options_.priority;
  std::vector<int> numbers = {first.mass_center, first.turn, first.swing, first.posture,
                              first.force};
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  const int equations = foot_rows_.back().first_row + foot_rows_.back().rows;
  const int inequalities =
      points_ * (options_.cone_faces + 1) + 2 * static_cast<int>(joints_.size());
  // The next level inherits the residual of this one: each is solved to a tenth of the tolerance of
  // the next.
  QpOptions qp = options_.qp;
  for (std::size_t i = 1; i < numbers.size(); ++i) qp.tolerance *= 0.1;
  for (const int priority : numbers) {
    const int fixed_rows = task_rows(priority);
    levels_.push_back(
        {priority, fixed_rows, Qp(n_ + 3 * points_, equations + fixed_rows, inequalities, qp)});
    qp.tolerance *= 10;
    qp.known_feasible = true;  // the solution of this level is feasible for the next
  }
}

// Equations J x = J x_ for the tasks of the levels before; 0 = 0 for stance feet.
// [Escande 2014] solves all levels at once; here they are solved one by one, each warm-started.
void WholeBody::write_fixed_tasks(const WholeBodyTargets& targets, const Level& level, Qp& qp) {
  if (level.fixed_rows == 0) return;
  const TaskPriorities& first = options_.priority;
  auto A = qp.A();
  int row = qp.equalities() - level.fixed_rows;
  const auto fix = [&](const auto& J) {
    A.block(row, 0, J.rows(), n_) = J;
    qp.b().segment(row, J.rows()).noalias() = J.lazyProduct(x_.head(n_));
    row += static_cast<int>(J.rows());
  };
  const auto fix_variable = [&](int i) {
    A(row, i) = 1;
    qp.b()[row++] = x_[i];
  };
  qp.b().tail(level.fixed_rows).setZero();
  if (first.mass_center < level.priority) fix(J_com_);
  if (first.turn < level.priority) fix(J_base_.bottomRows<3>());
  for (std::size_t i = 0; i < feet_.size() && first.swing < level.priority; ++i) {
    if (targets.feet[i].stands) {
      row += foot_rows_[i].rows;
    } else {
      fix(J_feet_[i].topRows(foot_rows_[i].rows));
    }
  }
  if (first.posture < level.priority) {
    for (const Joint& joint : joints_) fix_variable(joint.velocity);
  }
  if (first.force < level.priority) {
    for (int i = 0; i < 3 * points_; ++i) fix_variable(n_ + i);
  }
}

// Used when the program has no solution. The points of the stance feet support the weight with the
// smallest forces, each clamped to its cone: with the map G from forces to the wrench about the
// mass centre, f = G^T (G G^T)^-1 (-m g, 0). Springs and dampers hold the joints where they were
// when the fall-back started.
void WholeBody::fall_back(const WholeBodyTargets& targets) {
  report_.fell_back = true;
  if (!fell_back_before_) q_hold_ = q_;
  fell_back_before_ = true;

  using Matrix6 = Eigen::Matrix<double, 6, 6>;
  Matrix6 GGt = Matrix6::Zero();
  const auto for_each_stance_point = [&](const auto& call) {
    for (std::size_t i = 0; i < feet_.size(); ++i) {
      if (!targets.feet[i].stands) continue;
      for (std::size_t k = 0; k < feet_[i].points.size(); ++k) {
        const int point = foot_rows_[i].first_point + static_cast<int>(k);
        call(point, targets.feet[i].normal,
             Vector3<double>(p_points_[static_cast<std::size_t>(point)] - p_WC_));
      }
    }
  };
  for_each_stance_point([&](int, const Vector3<double>&, const Vector3<double>& r) {
    Eigen::Matrix<double, 6, 3> G;
    G << Matrix3<double>::Identity(), skew<double>(r);
    GGt += G * G.transpose();
  });
  GGt.diagonal().array() += 1e-6;  // least squares where the points cannot produce the wrench
  Vector6<double> load = Vector6<double>::Zero();
  load.head<3>() = -model_.total_mass() * model_.gravity();
  const Vector6<double> y = GGt.ldlt().solve(load);

  f_.setZero();
  a_.setZero();
  gravity(model_, work_, q_, gravity_);
  for_each_stance_point([&](int point, const Vector3<double>& normal, const Vector3<double>& r) {
    Vector3<double> f = y.head<3>() - r.cross(Vector3<double>(y.tail<3>()));
    const double normal_force = std::clamp(f.dot(normal), 0.0, options_.max_normal_force);
    Vector3<double> tangential = f - f.dot(normal) * normal;
    const double most = options_.friction * normal_force;
    if (tangential.norm() > most) tangential *= most / tangential.norm();
    f = normal_force * normal + tangential;
    f_.col(point) = f;
    gravity_.noalias() -= J_points_[static_cast<std::size_t>(point)].transpose() * f;
  });

  tau_.setZero();
  difference(model_, q_, q_hold_, a_);
  for (const Joint& joint : joints_) {
    const int i = joint.velocity;
    const double effort = std::isfinite(joint.effort) ? joint.effort : weight_;
    const double spring =
        effort * (options_.fall_back_stiffness * a_[i] - options_.fall_back_damping * v_[i]);
    tau_[i] = std::clamp(gravity_[i] + spring, -joint.effort, joint.effort);
  }
  a_.setZero();
}

}  // namespace limb
