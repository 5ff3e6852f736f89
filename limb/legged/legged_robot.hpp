#pragma once

#include <string>
#include <utility>
#include <vector>

#include "limb/control/whole_body.hpp"

namespace limb {

/// A robot on a free base, the frames that it stands on, and a posture to stand in.
struct LeggedRobot {
  Model<double> model;
  std::vector<std::string> feet;  ///< front left, front right, rear left, rear right; left, right
  VectorX<double> q;              ///< standing, the feet on z = 0 below an upright base
  std::string imu = {};           ///< frame of the inertial sensor; empty: the base's own

  /// Feet of one point each, as controllers take them.
  std::vector<Foot> points() const;
  /// m, of the base above the feet in that posture.
  double height() const { return q[2]; }
};

/// With feet and joint positions (rad, m) by name; other joints as in the neutral configuration.
/// @throws Error if the first joint is no free one, a name is unknown, or the feet are not below
/// the base.
LeggedRobot make_legged_robot(Model<double> model, std::vector<std::string> feet,
                              const std::vector<std::pair<std::string, double>>& joints);

/// A quadruped of three joints a leg, from any file that limb reads: `builtin:quadruped`, Go2,
/// ANYmal, HyQ and their kin. Its feet are the frames with "foot" in their names, the farthest of
/// each leg. Knees bend to the side that their limits leave, or else backwards in front and
/// forwards behind, until straight legs are shorter by the share `crouch`.
/// @throws Error if there are no four such legs.
LeggedRobot load_quadruped(const std::string& path, double crouch = 0.3);

/// Lowers or lifts the base until the lowest foot is on z = 0.
void put_on_ground(LeggedRobot& robot);

}  // namespace limb
