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
  /// What was assumed when it was read from a file, for the user: feet, locked joints, limits.
  std::vector<std::string> remarks = {};

  /// The feet as point feet, for the controllers.
  std::vector<Foot> points() const;
  /// m, height of the base above the feet in that posture.
  double height() const { return q[2]; }
  /// Velocities of joints that do not move a foot, such as those of arms, heads and tails.
  std::vector<int> held_velocities() const;
};

/// A legged robot with feet and joint positions (rad, m) by name; other joints as in the neutral
/// configuration.
/// @throws Error if the first joint is not free, a name is unknown, or the feet are not below the
/// base.
LeggedRobot make_legged_robot(Model<double> model, std::vector<std::string> feet,
                              const std::vector<std::pair<std::string, double>>& joints);

struct QuadrupedOptions {
  double crouch = 0.3;  ///< fraction by which the legs are shorter than stretched
  /// Frames or bodies, in any order; empty: found by name or by shape (find_feet).
  std::vector<std::string> feet = {};
  /// Joint positions (rad, m) that replace those of the posture that was found.
  std::vector<std::pair<std::string, double>> joints = {};
};

/// A quadruped with three or more joints per leg, from the description of any robot: the feet are
/// found (find_feet), and a posture in which it stands (standing_posture). Joints of other parts
/// are held; those that cannot be controlled, because they follow another joint, have no motor or
/// several degrees of freedom, are locked, which `remarks` says. Legs of more than
/// three joints stand, but the walk is not tuned for them.
/// @throws Error unless there are four legs of three or more joints with motors.
LeggedRobot make_quadruped(Description<double> robot, const QuadrupedOptions& options = {});

/// make_quadruped from any file that limb reads.
LeggedRobot load_quadruped(const std::string& path, double crouch = 0.3,
                           const ReadOptions& options = {});

/// Moves the base vertically until the lowest foot is on z = 0.
void put_on_ground(LeggedRobot& robot);

}  // namespace limb
