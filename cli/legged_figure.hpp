#pragma once

#include <string>
#include <vector>

#include "limb/legged/legged_run.hpp"

namespace limb::cli {

/// Geometry of a legged robot for drawing: a trunk between its hips, legs from joint to joint.
class LeggedFigure {
 public:
  explicit LeggedFigure(const LeggedRobot& robot);

  struct Pose {
    limb::Pose<double> trunk;
    std::vector<std::vector<Vector3<double>>> legs;  ///< hip, joints, foot; world axes
  };
  Pose at(const VectorX<double>& q);
  /// Half of the edge lengths of the trunk, m.
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

/// SVG with snapshots of a run, seen from the right: robot, ground, contact forces, and dashed the
/// estimated trunk.
std::string legged_strip(const LeggedRun& run);

}  // namespace limb::cli
