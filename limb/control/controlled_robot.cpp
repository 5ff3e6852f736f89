#include "limb/control/controlled_robot.hpp"

#include <cmath>
#include <limits>

#include "limb/dynamics/constraints/actuated.hpp"

namespace limb {

MotorLimits::MotorLimits(const Model<double>& model)
    : largest_(VectorX<double>::Zero(model.nv())), driven_(static_cast<std::size_t>(model.nv())) {
  for (int i = 0; i < model.nv(); ++i) {
    driven_[static_cast<std::size_t>(i)] = is_actuated(model, i);
    if (is_actuated(model, i)) {
      largest_[i] = effort_limit(model, i);
    } else if (first_without_motor_ < 0) {
      first_without_motor_ = i;
    }
  }
}

MotorLimits::MotorLimits(const Model<double>& model, VectorIn<double>& largest)
    : MotorLimits(model) {
  check_velocity("MotorLimits", "largest", model, largest);
  for (Eigen::Index i = 0; i < largest.size(); ++i) {
    if (!(largest[i] >= 0)) {
      fail("MotorLimits", "largest[" + std::to_string(i) + "]", to_text(largest[i]), ">= 0");
    }
    if (driven_[static_cast<std::size_t>(i)]) largest_[i] = largest[i];
  }
}

int MotorLimits::apply(VectorOut<double> tau) const noexcept {
  int cut = 0;
  for (Eigen::Index i = 0; i < tau.size(); ++i) {
    const double most = largest_[i];
    if (!driven_[static_cast<std::size_t>(i)]) {
      tau[i] = 0;
    } else if (std::abs(tau[i]) > most) {
      tau[i] = std::copysign(most, tau[i]);
      ++cut;
    }
  }
  return cut;
}

StepReport MotorLimits::finish(VectorOut<double> tau) const noexcept {
  double sum = 0;  // not finite if a torque is not finite, or if the torques overflow
  for (Eigen::Index i = 0; i < tau.size(); ++i) sum += std::abs(tau[i]);
  if (!std::isfinite(sum)) return reject(Status::not_finite, tau);
  return {Status::ok, apply(tau)};
}

StepReport MotorLimits::reject(Status status, VectorOut<double> tau) noexcept {
  tau.setZero();
  return {status, 0};
}

ControlledRobot::ControlledRobot(const Model<double>& model, MotorLimits limits)
    : model_(model), work_(model_, Loops::open), limits_(std::move(limits)) {
  check_size("ControlledRobot", "limits", limits_.largest().size(), model.nv());
}

void ControlledRobot::check_all_driven(const char* call) const {
  const int i = limits_.first_without_motor();
  if (i < 0) return;
  throw Error(std::string(call) + ": needs a motor for every velocity, and " +
              velocity_text(model_, i) + " has none");
}

void ControlledRobot::check_tree(const char* call) const {
  if (model_.loops().empty()) return;
  throw Error(std::string(call) +
              ": the robot has closed loops, which this controller does not support");
}

double dof_limit(const Model<double>& model, int velocity,
                 std::optional<double> DofLimits<double>::*which) {
  const auto& rows = model.coupling().rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].yq < 0 || rows[i].terms.empty()) continue;
    const int j = velocity - rows[i].terms[0].y;
    const auto& limits = model.bodies()[i + 1].limits;
    if (j < 0 || j >= static_cast<int>(limits.size())) continue;
    const auto& limit = limits[static_cast<std::size_t>(j)].*which;
    if (limit && *limit > 0) return *limit;
  }
  return std::numeric_limits<double>::infinity();
}

double effort_limit(const Model<double>& model, int velocity) {
  return dof_limit(model, velocity, &DofLimits<double>::effort);
}

std::string velocity_text(const Model<double>& model, int velocity) {
  const auto& rows = model.coupling().rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].yq < 0) continue;
    for (const auto& term : rows[i].terms) {
      if (term.y == velocity) return "joint '" + model.bodies()[i + 1].name + "'";
    }
  }
  return "velocity " + std::to_string(velocity);
}

}  // namespace limb
