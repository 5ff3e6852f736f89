#pragma once

#include <vector>

#include "limb/control/joint/joint_reference.hpp"
#include "limb/control/task/frame_task.hpp"

/// Reference trajectories. Constructing one may throw; sampling neither allocates nor throws.
namespace limb {

/// Position, velocity and acceleration of one coordinate.
struct PathPoint {
  double x = 0, v = 0, a = 0;
};

/// The quintic polynomial between two states in a given time: the minimum-jerk trajectory
/// [Flash 1985]. From rest to rest x = s^3 (10 - 15 s + 6 s^2) of the distance.
class Quintic {
 public:
  Quintic() = default;
  /// @throws Error for a duration that is not positive, or boundary values that are not finite.
  Quintic(const PathPoint& start, const PathPoint& end, double duration);
  double duration() const { return duration_; }
  /// Before the start and after the end: at rest there. NaN if t is NaN.
  PathPoint at(double t) const noexcept;

 private:
  double c_[6] = {};
  double duration_ = 0;
};

/// From rest to rest over a distance d in a time T the peaks are 15/8 d/T and 10/sqrt(3) d/T^2.
/// @returns the shortest time for which both are within their limits.
double minimum_jerk_duration(double distance, double largest_velocity, double largest_acceleration);

/// Joint trajectory from rest to rest between waypoints, along the geodesic between two of them.
class JointPath {
 public:
  /// @param durations  s, of each segment between two waypoints.
  /// @throws Error for fewer than two waypoints, wrong sizes, durations that are not positive.
  JointPath(const Model<double>& model, std::vector<VectorX<double>> waypoints,
            const std::vector<double>& durations);
  /// The fastest trajectory within the velocity limits of the model and this acceleration limit,
  /// rad/s^2 or m/s^2. The limit of joints without one is `velocity`.
  JointPath(const Model<double>& model, std::vector<VectorX<double>> waypoints, double velocity,
            double acceleration);

  double duration() const { return start_times_.back(); }
  /// The reference at time t; at rest before the start and after the end.
  void sample(double t, JointReference& reference) const noexcept;

 private:
  Model<double> model_;
  std::vector<VectorX<double>> waypoints_, displacements_;
  std::vector<double> start_times_;  ///< of each segment; then the end time
  std::vector<Quintic> profiles_;
};

/// Frame trajectory from rest to rest between poses: straight lines, and rotations about one axis.
class FramePath {
 public:
  /// @throws Error for fewer than two poses, invalid rotation matrices, or durations that are not
  /// positive.
  FramePath(std::vector<Pose<double>> poses, const std::vector<double>& durations);

  double duration() const { return start_times_.back(); }
  FrameReference at(double t) const noexcept;

 private:
  std::vector<Pose<double>> poses_;
  std::vector<Vector3<double>> rotations_W_;  ///< rotation vector of each segment, world axes
  std::vector<double> start_times_;
  std::vector<Quintic> profiles_;
};

}  // namespace limb
