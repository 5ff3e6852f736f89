#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "limb/base/diagnostic.hpp"
#include "limb/math/spatial.hpp"

namespace limb {

/// Shape of a link, for bounding boxes, plausibility checks of the inertia, and pictures.
struct Geometry {
  enum class Shape { box, cylinder, sphere, capsule, ellipsoid, plane, mesh };
  enum class Role { visual, collision };
  Shape shape = Shape::box;
  Role role = Role::visual;
  Pose<double> X_LG;                               ///< pose in the link's frame
  Vector3<double> size = Vector3<double>::Zero();  ///< box: full edges; cylinder, capsule: radius,
                                                   ///< length (capsule: without caps); sphere:
                                                   ///< radius; ellipsoid: half axes
  std::string mesh_uri;                            ///< as written in the file
  std::string mesh_path;                           ///< file inside a root; empty if not found
  Vector3<double> mesh_scale = Vector3<double>::Ones();
  /// Pose of the mesh before the scale: a vertex p of the file is at mesh_scale (X_GM p).
  Pose<double> X_GM;
  /// Vertices that the robot's file gives itself, instead of a path.
  std::shared_ptr<const std::vector<Vector3<double>>> mesh_vertices;
  std::string name;                ///< empty if the file gives none
  std::optional<double> friction;  ///< Coulomb coefficient; not set: the file has no contact
  /// m; torsional and rolling friction: bounds of the moments about the normal and about the
  /// tangents, divided by the normal force.
  double torsion = 0, rolling = 0;
  /// Directions of a contact force: 1 normal, 3 with sliding friction, 4 also with torsional, 6
  /// also with rolling friction.
  int contact_dimension = 3;
  /// The shape with the higher priority determines dimension and friction of a contact; with equal
  /// priorities the larger of each number does.
  int priority = 0;
  /// Bit masks: two shapes can touch if the type of one shares a bit with the affinity of the
  /// other.
  unsigned contact_type = 1, contact_affinity = 1;
  SourceLocation source;
};

}  // namespace limb
