#include "limb/control/locomotion/single_body_mpc.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "limb/base/check.hpp"
#include "limb/math/so3.hpp"

namespace limb {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kRows = 5;  // four faces of the pyramid and the normal

}  // namespace

MpcProblem::MpcProblem(int feet_count, int steps)
    : turn(Vector3<double>::Zero()),
      p(turn),
      w(turn),
      v(turn),
      inertia(Matrix3<double>::Identity()),
      p_desired(static_cast<std::size_t>(steps), turn),
      v_desired(p_desired),
      w_desired(turn),
      stands(static_cast<std::size_t>(steps * feet_count), 1),
      feet(static_cast<std::size_t>(steps * feet_count), turn) {}

SingleBodyMpc::SingleBodyMpc(int feet, double mass, const Vector3<double>& gravity,
                             const MpcOptions& options)
    : feet_(feet), mass_(mass), gravity_(gravity), options_(options) {
  const char* call = "SingleBodyMpc";
  check_positive(call, "feet", feet);
  check_positive(call, "mass", mass);
  check_positive(call, "gravity", gravity.norm());
  check_positive(call, "steps", options.steps);
  check_positive(call, "step", options.step);
  check_positive(call, "friction", options.friction);
  check_not_negative(call, "max_normal_force", options.max_normal_force);
  check_positive(call, "force", options.force);
  for (const auto* w :
       {&options.turn, &options.position, &options.angular_velocity, &options.velocity}) {
    for (const double x : *w) check_not_negative(call, "weight", x);
  }
  if (options_.max_normal_force == 0) options_.max_normal_force = 2 * mass * gravity.norm();

  const int all = feet * options.steps;
  for (const int quarters : {2, 3, 4}) {
    const int slots = (all * quarters + 3) / 4;
    programs_.emplace_back(3 * slots, 0, kRows * slots, options.qp);
  }
  used_ = &programs_.back();
  slots_.resize(static_cast<std::size_t>(all));
  forces_.assign(static_cast<std::size_t>(feet), Vector3<double>::Zero());
  angular_gradient_.assign(static_cast<std::size_t>(options.steps), Vector3<double>::Zero());
  linear_gradient_ = angular_gradient_;

  // A unit acceleration in step i changes the position at the end of step k >= i by
  // h^2 (k - i + 1/2) and the velocity by h; the sums of the products, for each pair of steps.
  const int N = options.steps;
  const double h = options.step;
  position_sum_.assign(static_cast<std::size_t>(N * N), 0);
  velocity_sum_ = position_sum_;
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < N; ++j) {
      for (int k = std::max(i, j); k < N; ++k) {
        const auto at = static_cast<std::size_t>(i * N + j);
        position_sum_[at] += h * h * h * h * (k - i + 0.5) * (k - j + 0.5);
        velocity_sum_[at] += h * h;
      }
    }
  }
}

Status SingleBodyMpc::solve(const MpcProblem& problem) noexcept {
  count_ = 0;
  int standing = 0;
  const Matrix3<double> inverse = problem.inertia.inverse();
  for (int k = 0; k < options_.steps; ++k) {
    // Predicted mass centre during this step, with a velocity that approaches the desired one
    // linearly: given, so that the moments are linear in the forces.
    const Vector3<double> center =
        problem.p +
        k * options_.step / 2 * (problem.v + problem.v_desired[static_cast<std::size_t>(k)]);
    for (int i = 0; i < feet_; ++i) {
      const auto at = static_cast<std::size_t>(k * feet_ + i);
      if (problem.stands[at] == 0) continue;
      if (k == 0) ++standing;
      slots_[static_cast<std::size_t>(count_++)] = {
          k, i, inverse * skew<double>(problem.feet[at] - center)};
    }
  }
  for (auto& f : forces_) f.setZero();
  a_ = gravity_;
  dw_.setZero();
  used_ = &programs_.back();
  for (Qp& program : programs_) {
    if (3 * count_ <= program.variables()) {
      used_ = &program;
      break;
    }
  }
  write(problem);
  const Status status = used_->solve();
  const bool solved =
      status == Status::ok || (status == Status::iteration_limit && used_->x().allFinite() &&
                               used_->residuals().primal < 1e-2);
  for (int s = 0; s < count_; ++s) {
    const Slot& slot = slots_[static_cast<std::size_t>(s)];
    if (slot.step > 0) break;
    Vector3<double>& f = forces_[static_cast<std::size_t>(slot.foot)];
    f = solved ? Vector3<double>(mass_ * gravity_.norm() * used_->x().segment<3>(3 * s))
               : Vector3<double>(-mass_ / standing * gravity_);
    a_ += f / mass_;
    if (solved) dw_ += slot.B * f;
  }
  return status;
}

void SingleBodyMpc::write(const MpcProblem& problem) {
  const int N = options_.steps;
  const double h = options_.step;
  // Without forces the errors at the end of step k are e. Gradient of their weighted squares with
  // respect to an acceleration in step i:
  for (int i = 0; i < N; ++i) {
    Vector3<double> turn = Vector3<double>::Zero(), linear = turn;
    for (int k = i; k < N; ++k) {
      const auto at = static_cast<std::size_t>(k);
      const double t = (k + 1) * h, move = h * h * (k - i + 0.5);
      const Vector3<double> e_turn = problem.turn + t * (problem.w - problem.w_desired);
      const Vector3<double> e_w = problem.w - problem.w_desired;
      const Vector3<double> e_p =
          problem.p + t * problem.v + t * t / 2 * gravity_ - problem.p_desired[at];
      const Vector3<double> e_v = problem.v + t * gravity_ - problem.v_desired[at];
      turn += move * options_.turn.cwiseProduct(e_turn) +
              h * options_.angular_velocity.cwiseProduct(e_w);
      linear +=
          move * options_.position.cwiseProduct(e_p) + h * options_.velocity.cwiseProduct(e_v);
    }
    angular_gradient_[static_cast<std::size_t>(i)] = turn;
    linear_gradient_[static_cast<std::size_t>(i)] = linear / mass_;
  }

  Qp& qp = *used_;
  auto H = qp.H();
  auto C = qp.C();
  const double weight = mass_ * gravity_.norm();  // the unit of forces in the program
  const double force_weight = options_.force;
  H.setZero();
  H.diagonal().setConstant(force_weight);
  qp.g().setZero();
  const double slope = options_.friction * std::sqrt(0.5);
  const Vector3<double> up = -gravity_.normalized();
  for (int s = 0; s < qp.variables() / 3; ++s) {
    const bool used = s < count_;
    const int row = kRows * s, column = 3 * s;
    C.block<kRows, 3>(row, column) << 1, 0, -slope, -1, 0, -slope, 0, 1, -slope, 0, -1, -slope, 0,
        0, 1;
    qp.lower().segment<kRows>(row).setConstant(-kInfinity);
    qp.upper().segment<kRows>(row).setConstant(used ? 0 : kInfinity);
    if (!used) continue;
    qp.lower()[row + 4] = 0;
    qp.upper()[row + 4] = options_.max_normal_force / weight;

    const Slot& a = slots_[static_cast<std::size_t>(s)];
    const int first = a.step * feet_;
    int sharing = 0;
    for (int i = 0; i < feet_; ++i) {
      sharing += problem.stands[static_cast<std::size_t>(first + i)] != 0 ? 1 : 0;
    }
    const auto step = static_cast<std::size_t>(a.step);
    qp.g().segment<3>(column) =
        weight * (a.B.transpose() * angular_gradient_[step] + linear_gradient_[step]) -
        force_weight / sharing * up;
    for (int t = 0; t <= s; ++t) {
      const Slot& b = slots_[static_cast<std::size_t>(t)];
      const auto pair = static_cast<std::size_t>(a.step * N + b.step);
      const double x = weight * weight * position_sum_[pair];
      const double y = weight * weight * velocity_sum_[pair];
      const Vector3<double> turn = x * options_.turn + y * options_.angular_velocity;
      const Vector3<double> linear =
          (x * options_.position + y * options_.velocity) / (mass_ * mass_);
      Matrix3<double> block = a.B.transpose() * turn.asDiagonal() * b.B;
      block.diagonal() += linear;
      H.block<3, 3>(column, 3 * t) += block;
      if (t != s) H.block<3, 3>(3 * t, column) += block.transpose();
    }
  }
}

}  // namespace limb
