#include "limb/legged/walk_scale.hpp"

#include <algorithm>
#include <cmath>

namespace limb {
namespace {

constexpr double kHeight = 0.294, kMass = 15;  // of builtin:quadruped

double round_to(double x, double per_unit) {
  return std::round(x * per_unit) / per_unit;
}

}  // namespace

double size_ratio(const LeggedRobot& robot) {
  return std::max(0.01, round_to(robot.height() / kHeight, 100));
}

WalkScale walk_scale(const LeggedRobot& robot) {
  const double size = size_ratio(robot), time = std::sqrt(size);
  const double mass = robot.model.total_mass() / kMass;
  return {Gait::trot(std::max(0.1, round_to(0.5 * time, 50))), round_to(0.5 * time, 100),
          round_to(4 * mass * time, 10), std::max(0.01, round_to(0.25 * size, 100)),
          std::max(0.001, round_to(0.02 * size, 1000))};
}

}  // namespace limb
