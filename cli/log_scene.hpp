#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/log_file.hpp"
#include "limb/model/core/load.hpp"
#include "limb/sim/contact/ground.hpp"

/// What a log tells about the scene of its run: the robot, its solids and the ground.
namespace limb::cli {

/// A solid of the robot, for drawing: the convex hull of points.
struct Solid {
  std::string name;  ///< of its foot or link
  std::size_t body;
  std::vector<Vector3<double>> points;  ///< in axes of the body, m
  double radius = 0;                    ///< m, the hull is widened by it: spheres, capsules
};

struct LogScene {
  Model<double> model;
  std::vector<Solid> solids;
  std::optional<Ground> ground;
};

/// The scene of a log of this robot: solids and ground as the log describes them, otherwise the
/// solids of the robot file and a plane at the height of the contacts.
/// @throws Error if the robot cannot be read.
LogScene read_scene(const LogData& log, const std::string& model, Base base,
                    const ReadOptions& options);

/// Points at which a solid in the pose X_WB touches the ground: its lowest ones within `slack`, m.
std::vector<Vector3<double>> lowest_points(const Solid& solid, const Pose<double>& X_WB,
                                           const Ground* ground, double slack = 0.003);

}  // namespace limb::cli
