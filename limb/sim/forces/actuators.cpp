#include "limb/sim/forces/actuators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limb/control/controlled_robot.hpp"
#include "limb/dynamics/constraints/actuated.hpp"

namespace limb {
namespace {

constexpr double kSlack = 1e-9;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

void check_limit(const char* what, double value) {
  if (!(value > 0)) fail("Actuators", what, to_text(value), "> 0");
}

}  // namespace

std::vector<Actuator> ideal_actuators(const Model<double>& model) {
  std::vector<Actuator> all;
  for (int y = 0; y < model.nv(); ++y) {
    if (!is_actuated(model, y)) continue;
    Actuator actuator;
    actuator.velocity = y;
    actuator.torque_limit = effort_limit(model, y);
    all.push_back(actuator);
  }
  return all;
}

Actuators::Actuators(const Model<double>& model, std::vector<Actuator> actuators)
    : model_(&model),
      actuators_(std::move(actuators)),
      held_(VectorX<double>::Zero(static_cast<Eigen::Index>(actuators_.size()))) {
  std::vector<bool> taken(static_cast<std::size_t>(model.nv()), false);
  for (const Actuator& a : actuators_) {
    if (a.velocity < 0 || a.velocity >= model.nv()) {
      fail("Actuators", "velocity", std::to_string(a.velocity),
           fmt::format("0 to {}", model.nv() - 1));
    }
    if (taken[static_cast<std::size_t>(a.velocity)]) {
      throw Error(fmt::format("Actuators: {} has two actuators", velocity_text(model, a.velocity)));
    }
    taken[static_cast<std::size_t>(a.velocity)] = true;
    check_limit("torque_limit", a.torque_limit);
    check_limit("gear", a.gear);
    check_limit("stall_torque", a.stall_torque);
    check_limit("no_load_speed", a.no_load_speed);
    if (std::isfinite(a.no_load_speed) && !std::isfinite(a.stall_torque)) {
      fail("Actuators", "stall_torque", "missing", "a number if no_load_speed is given");
    }
    check_not_negative("Actuators", "time_constant", a.time_constant);
    check_not_negative("Actuators", "delay", a.delay);
    lag_of_.push_back(a.time_constant > 0 ? lags_++ : -1);
    longest_delay_ = std::max(longest_delay_, a.delay);
    depend_on_velocity_ |= std::isfinite(a.stall_torque);
  }
  set_command_period(1e-3);
}

void Actuators::set_command_period(double period) {
  check_positive("Actuators", "period", period);
  const auto capacity = static_cast<std::size_t>(std::ceil(longest_delay_ / period)) + 2;
  commands_.setZero(held_.size(), static_cast<Eigen::Index>(capacity));
  times_.assign(capacity, std::nan(""));
  next_ = 0;
}

void Actuators::command(double t, VectorIn<double>& tau) {
  if (tau.size() != model_->nv()) {
    check_size("Actuators::command", "tau", tau.size(), model_->nv(), kSizeHint);
  }
  const double all = tau.cwiseAbs().sum();
  for (Eigen::Index i = 0; !std::isfinite(all) && i < tau.size(); ++i) {
    if (std::isfinite(tau[i])) continue;
    fail_computation("simulate", fmt::format("at t = {} s the torque on {} is {}", to_text(t),
                                             velocity_text(*model_, static_cast<int>(i)), tau[i]));
  }
  double sum = all;
  for (std::size_t i = 0; i < actuators_.size(); ++i) {
    const double u = tau[actuators_[i].velocity];
    commands_(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(next_)) = u;
    sum -= std::abs(u);
  }
  if (sum > 1e-9 * all) {
    for (int y = 0; y < tau.size(); ++y) {
      const bool has_motor = std::any_of(actuators_.begin(), actuators_.end(),
                                         [&](const Actuator& a) { return a.velocity == y; });
      if (tau[y] == 0 || has_motor) continue;
      fail_computation("simulate",
                       fmt::format("at t = {} s a torque of {} is commanded on {}, which "
                                   "has no motor",
                                   to_text(t), to_text(tau[y]), velocity_text(*model_, y)));
    }
  }
  times_[next_] = t;
  next_ = (next_ + 1) % times_.size();
}

void Actuators::begin_step(double t) {
  if (longest_delay_ == 0) {  // the same for all
    double newest = -kInfinity;
    std::size_t column = times_.size();
    for (std::size_t k = 0; k < times_.size(); ++k) {
      if (!(times_[k] <= t + kSlack) || times_[k] < newest) continue;
      newest = times_[k];
      column = k;
    }
    if (column < times_.size()) held_ = commands_.col(static_cast<Eigen::Index>(column));
    return;
  }
  for (std::size_t i = 0; i < actuators_.size(); ++i) {
    // The newest command that has arrived; zero torque before the first one.
    double newest = -kInfinity;
    for (std::size_t k = 0; k < times_.size(); ++k) {
      const double arrival = times_[k] + actuators_[i].delay;
      if (!(arrival <= t + kSlack) || times_[k] < newest) continue;
      newest = times_[k];
      held_[static_cast<Eigen::Index>(i)] =
          commands_(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k));
    }
  }
}

double Actuators::next_jump(double t) const {
  double next = kInfinity;
  if (longest_delay_ == 0) return next;
  for (const Actuator& a : actuators_) {
    for (const double time : times_) {
      if (time + a.delay > t + kSlack) next = std::min(next, time + a.delay);
    }
  }
  return next;
}

void Actuators::evaluate(const RobotState<double>& s, VectorX<double>& tau,
                         VectorX<double>& dx) const {
  for (std::size_t i = 0; i < actuators_.size(); ++i) {
    const Actuator& a = actuators_[i];
    double u = held_[static_cast<Eigen::Index>(i)];
    if (const int lag = lag_of_[i]; lag >= 0) {
      dx[lag] = (u - s.x[lag]) / a.time_constant;
      u = s.x[lag];
    }
    double upper = a.torque_limit, lower = -a.torque_limit, speed = 0;
    if (std::isfinite(a.stall_torque)) {
      const double stall = a.gear * a.stall_torque;
      speed = a.gear * s.v[a.velocity] / a.no_load_speed;
      upper = std::min(upper, stall * (1 - speed));
      lower = std::max(lower, -stall * (1 + speed));
    }
    // Above the no-load speed the motor brakes, possibly beyond its torque limit: the line counts.
    tau[a.velocity] +=
        speed > 0 ? std::min(std::max(u, lower), upper) : std::max(std::min(u, upper), lower);
  }
}

}  // namespace limb
