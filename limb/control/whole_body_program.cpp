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

/// weight |J a - wanted|^2 into H and g; J moves the first variables.
template <typename Jacobian, typename Wanted>
void add_task(Qp& qp, double weight, const Jacobian& J, const Wanted& wanted) {
  const auto n = J.cols();
  qp.H().topLeftCorner(n, n) += weight * J.transpose().lazyProduct(J);
  qp.g().head(n) -= weight * J.transpose().lazyProduct(wanted);
}

}  // namespace

void WholeBody::write_tasks(const WholeBodyTargets& targets) {
  Qp& qp = qp_;
  qp.H().setZero();
  qp.g().setZero();
  add_task(qp, options_.mass_center_weight, J_com_,
           Vector3<double>(targets.mass_center - bias_com_));
  add_task(qp, options_.turn_weight, J_base_.bottomRows<3>(),
           Vector3<double>(targets.turn - bias_base_.w));
  for (std::size_t i = 0; i < feet_.size(); ++i) {
    const auto& foot = targets.feet[i];
    if (foot.stands) continue;
    add_task(qp, options_.swing_weight, J_feet_[i].topRows<3>(),
             Vector3<double>(foot.acceleration.v - bias_feet_[i].v));
    if (feet_[i].is_sole()) {
      add_task(qp, options_.swing_weight, J_feet_[i].bottomRows<3>(),
               Vector3<double>(foot.acceleration.w - bias_feet_[i].w));
    }
  }
  for (const Joint& joint : joints_) {
    qp.H()(joint.velocity, joint.velocity) += options_.posture_weight;
    qp.g()[joint.velocity] -= options_.posture_weight * targets.posture[joint.velocity];
  }
  for (const int i : undriven_) {  // a thousandth of it: for bases that no task asks of
    qp.H()(i, i) += 1e-3 * options_.posture_weight;
  }
  for (std::size_t i = 0; i < feet_.size(); ++i) {
    const auto count = static_cast<double>(feet_[i].points.size());
    for (std::size_t k = 0; k < feet_[i].points.size(); ++k) {
      const int column = n_ + 3 * (places_[i].first_point + static_cast<int>(k));
      qp.H().diagonal().segment<3>(column).setConstant(options_.force_weight);
      if (targets.feet[i].stands) {
        qp.g().segment<3>(column) =
            -options_.force_weight / (count * weight_) * targets.feet[i].force;
      }
    }
  }
}

void WholeBody::write_dynamics() {
  auto A = qp_.A();
  auto C = qp_.C();
  A.setZero();
  for (std::size_t r = 0; r < undriven_.size(); ++r) {
    const int i = undriven_[r];
    const auto row = static_cast<int>(r);
    A.row(row).head(n_) = M_.row(i) / weight_;
    for (int k = 0; k < points_; ++k) {
      A.row(row).segment<3>(n_ + 3 * k) =
          -J_points_[static_cast<std::size_t>(k)].col(i).transpose();
    }
    qp_.b()[row] = -h_[i] / weight_;
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
    qp_.lower()[row] = (-joint.effort - h_[joint.velocity]) / weight_;
    qp_.upper()[row] = (joint.effort - h_[joint.velocity]) / weight_;
  }
}

void WholeBody::write_feet(const WholeBodyTargets& targets) {
  auto A = qp_.A();
  auto C = qp_.C();
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
      qp_.b().segment(place.first_row, 3) = -bias_feet_[i].v - brake(V_feet_[i].v);
      if (place.rows == 6) {
        qp_.b().segment(place.first_row + 3, 3) = -bias_feet_[i].w - brake(V_feet_[i].w);
      }
    } else {
      // The rows say f = 0, as far as they reach; columns of zeros say it of the rest.
      A.middleRows(0, base).middleCols(column, 3 * count).setZero();
      C.middleRows(torques, static_cast<int>(joints_.size()))
          .middleCols(column, 3 * count)
          .setZero();
      for (int k = 0; k < place.rows; ++k) A(place.first_row + k, column + k) = 1;
      qp_.b().segment(place.first_row, place.rows).setZero();
    }
    const Matrix3<double> R_WC = contact_axes(foot.normal);
    for (int k = 0; k < count; ++k) {
      int row = (place.first_point + k) * (options_.cone_faces + 1);
      const int at = column + 3 * k;
      for (const Vector3<double>& d : directions_) {
        C.row(row).segment<3>(at) = (R_WC * d - slope * foot.normal).transpose();
        qp_.lower()[row] = -kNone;
        qp_.upper()[row++] = foot.stands ? 0 : kLoose;
      }
      C.row(row).segment<3>(at) = foot.normal.transpose();
      qp_.lower()[row] = foot.stands ? 0 : -kLoose;
      qp_.upper()[row] = foot.stands ? options_.max_normal_force / weight_ : kLoose;
    }
  }
}

// A foot that comes down fast would otherwise ask for more than the motors can.
Vector3<double> WholeBody::brake(const Vector3<double>& v) const {
  const double wanted = options_.contact_damping * v.norm();
  return std::min(wanted, options_.contact_brake) / std::max(v.norm(), 1e-9) * v;
}

void WholeBody::write_limits() {
  auto C = qp_.C();
  const int first = points_ * (options_.cone_faces + 1) + static_cast<int>(joints_.size());
  for (std::size_t r = 0; r < joints_.size(); ++r) {
    const int row = first + static_cast<int>(r);
    C(row, joints_[r].velocity) = 1;
    acceleration_bounds(joints_[r], qp_.lower()[row], qp_.upper()[row]);
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
