#pragma once

#include <string>
#include <vector>

#include "limb/legged/legged_run.hpp"

namespace limb::cli {

/// A legged robot as it is drawn: a trunk between its hips, legs from joint to joint.
class LeggedFigure {
 public:
  explicit LeggedFigure(const LeggedRobot& robot);

  struct Pose {
    limb::Pose<double> trunk;
    std::vector<std::vector<Vector3<double>>> legs;  ///< hip, joints, foot; world axes
  };
  Pose at(const VectorX<double>& q);
  /// Half edges of the trunk, m.
  const Vector3<double>& half() const { return half_; }

 private:
  struct Leg {
    std::vector<std::size_t> bodies;
    FrameId foot;
  };
  const Model<double>& model_;
  Kinematics<double> kinematics_;
  std::vector<Leg> legs_;
  Vector3<double> half_;
};

/// Moments of a run side by side, seen from the right: robot, ground, forces of the feet, and in
/// dashes where the estimate has the trunk. For paper and for pages without scripts.
std::string legged_strip(const LeggedRun& run);

/// The run as an animation in space: a canvas with play, slider and a view that turns; nothing from
/// outside.
std::string legged_animation(const LeggedRun& run);

}  // namespace limb::cli
