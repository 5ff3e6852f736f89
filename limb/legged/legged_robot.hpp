#pragma once

#include <string>
#include <utility>
#include <vector>

#include "limb/control/whole_body/whole_body.hpp"
#include "limb/model/core/read_options.hpp"

namespace limb {

/// A robot with a free base, the frames of its feet, and a standing posture.
struct LeggedRobot {
  Model<double> model;
  std::vector<std::string> feet;  ///< front left, front right, rear left, rear right; left, right
  VectorX<double> q;              ///< standing, the feet on z = 0 below an upright base
  std::string imu = {};           ///< frame of the inertial sensor; empty: that of the base

  /// The feet as point feet, for the controllers.
  std::vector<Foot> points() const;
  /// m, height of the base above the feet in that posture.
  double height() const { return q[2]; }
};

/// A legged robot with feet and joint positions (rad, m) by name; other joints as in the neutral
/// configuration.
/// @throws Error if the first joint is not free, a name is unknown, or the feet are not below the
/// base.
LeggedRobot make_legged_robot(Model<double> model, std::vector<std::string> feet,
                              const std::vector<std::pair<std::string, double>>& joints);

/// Fraction by which the legs of a standing robot are shorter than straight.
inline constexpr double kCrouch = 0.3;

/// A quadruped with three joints per leg, from any file that limb reads: `builtin:quadruped`, Go2,
/// ANYmal, HyQ and similar robots. Its feet are the frames with "foot" in their names, the farthest
/// of each leg. Knees bend in the direction that their limits allow, or else backwards at the front
/// and forwards at the rear, until the legs are shortened by the fraction `crouch`.
/// @throws Error unless there are four such legs.
LeggedRobot load_quadruped(const std::string& path, double crouch = kCrouch,
                           const ReadOptions& options = {});

/// Moves the base vertically until the lowest foot is on z = 0.
void put_on_ground(LeggedRobot& robot);

}  // namespace limb
