#pragma once

#include <vector>

#include "limb/control/frame_task.hpp"
#include "limb/control/joint_reference.hpp"

/// Reference motions. Made once, which may throw; sampling them neither allocates nor throws.
namespace limb {

/// Position, velocity and acceleration of one coordinate.
struct Sample1 {
  double x = 0, v = 0, a = 0;
};

/// The polynomial of order five between two states in a time: the motion of least jerk between them
/// [Flash 1985]. From rest to rest x = s^3 (10 - 15 s + 6 s^2) of the way.
class Quintic {
 public:
  Quintic() = default;
  /// @throws Error for a duration that is not positive, or numbers that are not finite.
  Quintic(const Sample1& begin, const Sample1& end, double duration);
  double duration() const { return duration_; }
  /// Before the begin and after the end: at rest there. Not a number at a time that is none.
  Sample1 at(double t) const noexcept;

 private:
  double c_[6] = {};
  double duration_ = 0;
};

/// From rest to rest over a distance d in a time T the peaks are 15/8 d/T and 10/sqrt(3) d/T^2.
/// @returns the shortest time for which both stay below their limits.
double minimum_jerk_duration(double distance, double largest_velocity, double largest_acceleration);

/// Joints from rest to rest through configurations, on the shortest way between two of them.
class JointPath {
 public:
  /// @param durations  s, of each way between two waypoints.
  /// @throws Error for fewer than two waypoints, wrong sizes, durations that are not positive.
  JointPath(const Model<double>& model, std::vector<VectorX<double>> waypoints,
            const std::vector<double>& durations);
  /// As fast as velocity limits of the model allow, and no faster than this acceleration, rad/s^2
  /// or m/s^2. Joints without a limit take `velocity`.
  JointPath(const Model<double>& model, std::vector<VectorX<double>> waypoints, double velocity,
            double acceleration);

  double duration() const { return begins_.back(); }
  /// At the time t; at rest before the begin and after the end.
  void sample(double t, JointReference& reference) const noexcept;

 private:
  Model<double> model_;
  std::vector<VectorX<double>> waypoints_, ways_;
  std::vector<double> begins_;  ///< of each way; then the end
  std::vector<Quintic> profiles_;
};

/// A frame from rest to rest through poses: straight lines, and turns about one axis.
class FramePath {
 public:
  /// @throws Error for fewer than two poses, orientations that are none, durations not positive.
  FramePath(std::vector<Pose<double>> poses, const std::vector<double>& durations);

  double duration() const { return begins_.back(); }
  FrameReference at(double t) const noexcept;

 private:
  std::vector<Pose<double>> poses_;
  std::vector<Vector3<double>> turns_W_;  ///< rotation vector of each way, world axes
  std::vector<double> begins_;
  std::vector<Quintic> profiles_;
};

}  // namespace limb
