#include "limb/sim/forces/joint_impulse_solver.hpp"

#include <algorithm>
#include <cmath>

#include "limb/model/canonical/canonical.hpp"
#include "limb/sim/contact/delassus_matrix.hpp"

namespace limb {
namespace {

std::size_t index(Eigen::Index i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

JointImpulseSolver::JointImpulseSolver(const Model<double>& model, const Parameters& parameters)
    : parameters_(parameters) {
  check_friction("JointImpulseSolver", parameters.curve);
  if (!(parameters.restitution >= 0 && parameters.restitution <= 1)) {
    fail("JointImpulseSolver", "restitution", to_text(parameters.restitution), "0 to 1");
  }
  const auto& friction = model.canonical().friction;
  if (parameters.friction) {
    for (const Body<double>& body : model.bodies()) {
      for (int i = 0; i < body.joint.nv(); ++i) {
        const int v = body.v_start + i;
        if (friction[v] > 0) rows_.push_back({{-1, v}, friction[v], 0, 0});
      }
    }
  }
  if (parameters.stops) {
    for (const JointCoordinate& coordinate : scalar_coordinates(model)) {
      const double lower = lower_limit(model, coordinate), upper = upper_limit(model, coordinate);
      if (std::isfinite(lower)) rows_.push_back({coordinate, 0, lower, 1});
      if (std::isfinite(upper)) rows_.push_back({coordinate, 0, upper, -1});
    }
  }
  const auto n = static_cast<Eigen::Index>(rows_.size());
  q_ = VectorX<double>::Zero(model.uncoupled_nq());
  v_ = unit_ = VectorX<double>::Zero(model.uncoupled_nv());
  tau_ = a0_ = zero_ = correction_ = VectorX<double>::Zero(model.nv());
  response_ = MatrixX<double>::Zero(model.nv(), n);
  W_ = block_ = MatrixX<double>::Zero(n, n);
  p_ = lower_ = upper_ = velocity_error_ = right_ = beyond_ = begin_velocity_ = position_impulse_ =
      VectorX<double>::Zero(n);
  missed_.assign(rows_.size(), 0);
  at_.assign(rows_.size(), At::free);
  next_ = at_;
  active_.reserve(rows_.size());
  free_.reserve(rows_.size());
  factor_ = Eigen::LDLT<MatrixX<double>>(n);
}

/// Bounds of the impulses, and the velocity error of each row without them.
int JointImpulseSolver::choose_rows(const Model<double>& model, const RobotState<double>& before,
                                    double h, const VectorX<double>& v) {
  const Coupling<double>& coupling = model.coupling();
  coupling.expand_position(before.q.data(), q_.data());
  coupling.expand_velocity(before.v.data(), unit_.data());  // velocities at the start
  coupling.expand_velocity(v.data(), v_.data());
  active_.clear();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    const auto k = static_cast<Eigen::Index>(active_.size());
    const double begin = unit_[row.coordinate.v], end = velocity(row);
    begin_velocity_[k] = begin;
    if (row.friction > 0) {
      const double x = begin / parameters_.curve.stribeck_speed;
      const double bound =
          h * row.friction * (1 + (parameters_.curve.static_ratio - 1) * std::exp(-x * x));
      lower_[k] = -bound;
      upper_[k] = bound;
      velocity_error_[k] = end;
      beyond_[k] = 0;
    } else {
      const double gap = row.sign * (q_[row.coordinate.q] - row.level);
      const bool far = gap + 2 * h * row.sign * end > 0 && gap > 0;
      if (far && missed_[i] == 0) continue;
      // Not beyond the stop at the end of the step; rebounds if it reaches the stop.
      double least = -std::max(gap, 0.0) / h;
      const double rebound = -parameters_.restitution * row.sign * begin;
      if (gap + h * row.sign * end <= 0 && rebound > 0) least = std::max(least, rebound);
      beyond_[k] = std::max(-gap, 0.0);
      lower_[k] = row.sign > 0 ? 0 : -std::numeric_limits<double>::infinity();
      upper_[k] = row.sign > 0 ? std::numeric_limits<double>::infinity() : 0;
      velocity_error_[k] = end - row.sign * least;
    }
    active_.push_back(static_cast<int>(i));
  }
  return static_cast<int>(active_.size());
}

bool JointImpulseSolver::find_missed(const Model<double>& model, double h,
                                     const VectorX<double>& v) {
  model.coupling().expand_velocity(v.data(), unit_.data());
  bool found = false;
  std::size_t k = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (k < active_.size() && active_[k] == static_cast<int>(i)) {
      ++k;
      continue;
    }
    const Row& row = rows_[i];
    const double gap = row.sign * (q_[row.coordinate.q] - row.level);
    if (gap + h * row.sign * unit_[row.coordinate.v] >= 0) continue;
    missed_[i] = 1;
    found = true;
  }
  return found;
}

void JointImpulseSolver::clear_missed() {
  std::fill(missed_.begin(), missed_.end(), char{0});
}

/// Accelerations by a unit torque on each active row, by forward dynamics, so that couplings and
/// loops are included.
void JointImpulseSolver::responses(const Model<double>& model, Workspace<double>& work,
                                   const RobotState<double>& before, DelassusMatrix* mass) {
  const Coupling<double>& coupling = model.coupling();
  const JointEffects effects = {true, false, false};
  if (mass == nullptr) aba(model, work, before.q, zero_, zero_, a0_, effects);
  unit_.setZero();
  for (std::size_t i = 0; i < active_.size(); ++i) {
    const int v = rows_[static_cast<std::size_t>(active_[i])].coordinate.v;
    unit_[v] = 1;
    coupling.reduce_force(unit_.data(), tau_.data());
    unit_[v] = 0;
    auto column = response_.col(static_cast<Eigen::Index>(i));
    if (mass != nullptr) {
      mass->accelerations(tau_, tau_);
      column = tau_;
    } else {
      aba(model, work, before.q, zero_, tau_, column, effects);
      column -= a0_;
    }
    coupling.expand_velocity(column.data(), v_.data());
    for (std::size_t j = 0; j < active_.size(); ++j) {
      W_(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(i)) =
          v_[rows_[static_cast<std::size_t>(active_[j])].coordinate.v];
    }
  }
}

/// Impulses of the free rows such that their velocity errors are zero, with the others at their
/// bounds.
void JointImpulseSolver::solve_free() {
  const auto n = static_cast<Eigen::Index>(active_.size());
  block_.setIdentity();  // beyond the free rows: constant size, no allocation
  right_.setZero();
  free_.clear();
  for (Eigen::Index i = 0; i < n; ++i) {
    if (at_[index(i)] == At::free) free_.push_back(static_cast<int>(i));
    p_[i] = at_[index(i)] == At::lower ? lower_[i] : at_[index(i)] == At::upper ? upper_[i] : 0;
  }
  for (std::size_t r = 0; r < free_.size(); ++r) {
    const auto row = static_cast<Eigen::Index>(r);
    for (std::size_t c = 0; c < free_.size(); ++c) {
      block_(row, static_cast<Eigen::Index>(c)) = W_(free_[r], free_[c]);
    }
    // The rows of friction and stop of one joint are identical: regularized.
    block_(row, row) *= 1 + 1e-12;
    right_[row] = -velocity_error_[free_[r]] - W_.row(free_[r]).head(n).dot(p_.head(n));
  }
  factor_.compute(block_);
  constexpr int kRefinements = 1;  // removes the effect of the regularization
  for (int k = 0; k <= kRefinements; ++k) {
    right_ = factor_.solve(right_);
    for (std::size_t r = 0; r < free_.size(); ++r) {
      p_[free_[r]] += right_[static_cast<Eigen::Index>(r)];
    }
    for (std::size_t r = 0; r < free_.size(); ++r) {
      right_[static_cast<Eigen::Index>(r)] =
          -velocity_error_[free_[r]] - W_.row(free_[r]).head(n).dot(p_.head(n));
    }
  }
}

/// Side at which row i should be, given the impulses and velocities of solve_free().
JointImpulseSolver::At JointImpulseSolver::next_side(Eigen::Index i, double slack) const {
  const auto n = static_cast<Eigen::Index>(active_.size());
  if (at_[index(i)] == At::free) {
    const double range =
        std::isfinite(upper_[i] - lower_[i]) ? upper_[i] - lower_[i] : std::abs(p_[i]);
    if (p_[i] < lower_[i] - 1e-12 * range) return At::lower;
    return p_[i] > upper_[i] + 1e-12 * range ? At::upper : At::free;
  }
  const double velocity = velocity_error_[i] + W_.row(i).head(n).dot(p_.head(n));
  if (at_[index(i)] == At::lower) return velocity < -slack ? At::free : At::lower;
  return velocity > slack ? At::free : At::upper;
}

/// Block principal pivoting: all rows that violate their law change sides at once; if that makes no
/// progress, one at a time, which terminates because W is positive definite. [Judice 1994, block
/// pivoting]
void JointImpulseSolver::pivot() {
  const auto n = static_cast<Eigen::Index>(active_.size());
  const double slack = 1e-12 * velocity_error_.head(n).lpNorm<Eigen::Infinity>();
  constexpr int kTries = 4, kLimit = 1000;
  Eigen::Index best = n + 1;
  int tries = kTries;
  for (Eigen::Index i = 0; i < n; ++i) at_[index(i)] = At::free;
  for (int iteration = 0; iteration < kLimit; ++iteration) {
    solve_free();
    Eigen::Index violations = 0, last = -1;
    for (Eigen::Index i = 0; i < n; ++i) {
      next_[index(i)] = next_side(i, slack);
      if (next_[index(i)] == at_[index(i)]) continue;
      ++violations;
      last = i;
    }
    if (violations == 0) break;
    if (violations < best) {
      best = violations;
      tries = kTries;
    } else {
      --tries;
    }
    if (tries >= 0) {
      std::swap(at_, next_);
    } else {
      at_[index(last)] = next_[index(last)];
    }
  }
  for (Eigen::Index i = 0; i < n; ++i) p_[i] = std::clamp(p_[i], lower_[i], upper_[i]);
}

/// A joint beyond its stop, by rounding or from the start, returns by a tenth per step: position
/// impulses x >= 0 of the stops, by projected Gauss-Seidel. Needs the responses.
void JointImpulseSolver::correct_positions() {
  constexpr double kPart = 0.1;
  constexpr int kSweeps = 50;
  const auto n = static_cast<Eigen::Index>(active_.size());
  if (!(beyond_.head(n).array() > 0).any()) return;
  has_correction_ = true;
  position_impulse_.setZero();
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    double moved = 0;
    for (Eigen::Index k = 0; k < n; ++k) {
      const double sign = return_sign(static_cast<int>(k));
      if (sign == 0 || !(W_(k, k) > 0)) continue;
      const double back = sign * W_.row(k).head(n).dot(position_impulse_.head(n));
      const double last = sign * position_impulse_[k];
      const double next = std::max(last + (kPart * beyond_[k] - back) / W_(k, k), 0.0);
      moved = std::max(moved, std::abs(next - last) * W_(k, k));
      position_impulse_[k] = sign * next;
    }
    if (moved <= 1e-3 * kPart * beyond_.head(n).maxCoeff()) break;
  }
  correction_.noalias() = response_.leftCols(n) * position_impulse_.head(n);
}

void JointImpulseSolver::apply(const Model<double>& model, Workspace<double>& work,
                               const RobotState<double>& before, double h, VectorX<double>& v,
                               DelassusMatrix* mass) {
  friction_dissipated_ = stops_dissipated_ = 0;
  has_correction_ = false;
  if (choose_rows(model, before, h, v) == 0) return;
  const auto n = static_cast<Eigen::Index>(active_.size());
  for (Eigen::Index k = 0; k < n; ++k) {
    begin_velocity_[k] += end_velocity(static_cast<int>(k));  // without impulses
  }
  responses(model, work, before, mass);
  pivot();
  v.noalias() += response_.leftCols(n) * p_.head(n);
  for (Eigen::Index k = 0; k < n; ++k) {
    const double change = W_.row(k).head(n).dot(p_.head(n));
    const double work_done = p_[k] * (begin_velocity_[k] + change) / 2;
    (return_sign(static_cast<int>(k)) == 0 ? friction_dissipated_ : stops_dissipated_) -= work_done;
  }
  correct_positions();
}

}  // namespace limb
