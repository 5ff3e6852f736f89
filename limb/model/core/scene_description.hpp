#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "limb/model/core/geometry.hpp"

/// What a robot's file says about simulations: the surroundings and states to start from.
namespace limb {

/// A state in which a simulation can start: what an MJCF file gives as a keyframe, or as the
/// initial pose of its bodies.
struct StateDescription {
  struct JointState {
    std::string joint;
    std::vector<double> q;  ///< as in the file's joint type (joint_type.hpp)
    std::vector<double> v;  ///< empty: at rest
  };
  std::string name;
  std::vector<JointState> joints;  ///< others: neutral, at rest
  std::vector<double> control;     ///< of the file's actuators; empty: zero
  SourceLocation source;
};

/// Heights over a rectangle of the ground.
struct HeightFieldDescription {
  Geometry geometry;  ///< pose in the world, friction and masks; its shape is not used
  Vector2<double> half = Vector2<double>::Zero();  ///< half edges of the rectangle along x and y
  MatrixX<double> heights;  ///< along z; (i, j) is at x of row i, y of column j
};

/// The air or liquid around the robot.
struct MediumDescription {
  double density = 0;                              ///< kg/m^3
  double viscosity = 0;                            ///< Pa s
  Vector3<double> wind = Vector3<double>::Zero();  ///< m/s, velocity of the medium in the world

  bool acts() const { return density != 0 || viscosity != 0; }
};

/// What a file says about simulations of the robot, besides the robot itself.
struct SceneDescription {
  std::vector<Geometry> fixed;  ///< shapes that do not move, with their pose in the world
  std::vector<HeightFieldDescription> height_fields;
  StateDescription initial;
  std::vector<StateDescription> keyframes;
  std::optional<double> step;  ///< s
  MediumDescription medium;
  /// Links whose shapes never touch each other.
  std::vector<std::pair<std::string, std::string>> excluded;
  /// Shapes, by name, that can touch in spite of their masks.
  struct Pair {
    std::string first, second;
    double friction = 1, torsion = 0, rolling = 0;  ///< instead of those of the shapes
  };
  std::vector<Pair> pairs;
};

}  // namespace limb
