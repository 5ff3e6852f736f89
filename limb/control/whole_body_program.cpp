// The quadratic program of WholeBody, row by row. Variables: x = (a, f / weight), a the
// accelerations, f the forces at all points of all feet, world axes. Rows of forces and torques are
// divided by the weight, too: all numbers are then of the order of one, and so are tolerances.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "limb/control/whole_body.hpp"
#include "limb/control/whole_body_contact.hpp"

namespace limb {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

/// Bound on what is zero anyhow.
constexpr double kLoose = 1;

/// Share of the weights of posture and forces in levels that do not ask for them.
constexpr double kRest = 1e-4;

/// weight |J a - wanted|^2 into H and g; J moves the first variables.
template <typename Jacobian, typename Wanted>
void add_task(Qp& qp, double weight, const Jacobian& J, const Wanted& wanted) {
  const auto n = J.cols();
  qp.H().topLeftCorner(n, n) += weight * J.transpose().lazyProduct(J);
  qp.g().head(n) -= weight * J.transpose().lazyProduct(wanted);
}

}  // namespace

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
  // Where no task asks, of a whole level even, a little of it makes the program strictly convex.
  const bool has_posture = first.posture == level.priority;
  const double posture = has_posture ? options_.posture_weight : kRest * options_.posture_weight;
  for (const Joint& joint : joints_) {
    qp.H()(joint.velocity, joint.velocity) += posture;
    if (has_posture) qp.g()[joint.velocity] -= posture * targets.posture[joint.velocity];
  }
  for (const int i : undriven_) {  // a thousandth of it: for bases that no task asks of
    qp.H()(i, i) += 1e-3 * posture;
  }
  const bool has_force = first.force == level.priority;
  const double force = has_force ? options_.force_weight : kRest * options_.force_weight;
  for (std::size_t i = 0; i < feet_.size(); ++i) {
    const auto count = static_cast<double>(feet_[i].points.size());
    for (std::size_t k = 0; k < feet_[i].points.size(); ++k) {
      const int column = n_ + 3 * (places_[i].first_point + static_cast<int>(k));
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
  for (std::size_t r = 0; r < undriven_.size(); ++r) {
    const int i = undriven_[r];
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
  const int base = static_cast<int>(undriven_.size());
  const int torques = points_ * (options_.cone_faces + 1);
  const double slope = options_.friction * std::cos(std::numbers::pi / options_.cone_faces);
  for (std::size_t i = 0; i < feet_.size(); ++i) {
    const auto& foot = targets.feet[i];
    const Place& place = places_[i];
    const int count = static_cast<int>(feet_[i].points.size());
    const int column = n_ + 3 * place.first_point;
    if (foot.stands) {
      A.middleRows(place.first_row, place.rows).leftCols(n_) = J_feet_[i].topRows(place.rows);
      qp.b().segment(place.first_row, 3) = -bias_feet_[i].v - brake(V_feet_[i].v);
      if (place.rows == 6) {
        qp.b().segment(place.first_row + 3, 3) = -bias_feet_[i].w - brake(V_feet_[i].w);
      }
    } else {
      // The rows say f = 0, as far as they reach; columns of zeros say it of the rest.
      A.middleRows(0, base).middleCols(column, 3 * count).setZero();
      C.middleRows(torques, static_cast<int>(joints_.size()))
          .middleCols(column, 3 * count)
          .setZero();
      for (int k = 0; k < place.rows; ++k) A(place.first_row + k, column + k) = 1;
      qp.b().segment(place.first_row, place.rows).setZero();
    }
    const Matrix3<double> R_WC = contact_axes(foot.normal);
    for (int k = 0; k < count; ++k) {
      int row = (place.first_point + k) * (options_.cone_faces + 1);
      const int at = column + 3 * k;
      for (const Vector3<double>& d : directions_) {
        C.row(row).segment<3>(at) = (R_WC * d - slope * foot.normal).transpose();
        qp.lower()[row] = -kNone;
        qp.upper()[row++] = foot.stands ? 0 : kLoose;
      }
      C.row(row).segment<3>(at) = foot.normal.transpose();
      qp.lower()[row] = foot.stands ? 0 : -kLoose;
      qp.upper()[row] = foot.stands ? options_.max_normal_force / weight_ : kLoose;
    }
  }
}

// A foot that comes down fast would otherwise ask for more than the motors can.
Vector3<double> WholeBody::brake(const Vector3<double>& v) const {
  const double wanted = options_.contact_damping * v.norm();
  return std::min(wanted, options_.contact_brake) / std::max(v.norm(), 1e-9) * v;
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
// if d' + k d >= 0 at the begin: d then falls no faster than exp(-k t). Speeds likewise, by one
// order less. What is beyond a limit is asked back no harder than it could be stopped from full
// speed.
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

}  // namespace limb
