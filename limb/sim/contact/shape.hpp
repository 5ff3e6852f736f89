#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "limb/model/core/model.hpp"
#include "limb/sim/contact/mesh_hull.hpp"

namespace limb {

/// Contact properties of a pair of surfaces.
struct ContactSurface {
  double friction = 0.8;   ///< Coulomb coefficient, the same for static and kinetic friction
  double restitution = 0;  ///< separation speed over approach speed, 0 to 1
  /// m; bound of the moment about the normal, divided by the normal force: for a patch of radius r
  /// with even pressure, 2/3 of friction times r.
  double torsion = 0;
  /// m; bound of the moment about the tangents, divided by the normal force: how far the pressure
  /// can move ahead of the contact point.
  double rolling = 0;
};
/// @throws Error "call: friction is -1, expected ..."
void check_surface(const char* call, const ContactSurface& surface);

/// Collision geometry of the robot: a solid fixed to a body.
struct ContactShape {
  enum class Kind { sphere, capsule, cylinder, box, ellipsoid, mesh };

  std::string name;  ///< of the frame or link that it belongs to
  BodyId body;
  Kind kind = Kind::sphere;  ///< a point is a sphere of radius 0
  Pose<double> X_BS = {};    ///< capsule, cylinder: along z
  /// Sphere: radius; capsule, cylinder: radius, length (capsule: without caps); box: full edges;
  /// ellipsoid: half axes; mesh: edges of the bounding box of its hull, about the origin.
  Vector3<double> size = Vector3<double>::Zero();
  ContactSurface surface = {};
  bool own_surface = false;                        ///< use this surface instead of the ground's
  std::shared_ptr<const MeshHull> hull = nullptr;  ///< of a mesh
};

/// The kind of contact shape of a geometry; nullopt for planes.
std::optional<ContactShape::Kind> contact_kind(Geometry::Shape shape);

/// A sphere about the origin of a frame, as a foot; radius 0: a point.
/// @throws Error for a frame that is fixed to the world, or a negative radius.
ContactShape make_foot(const Model<double>& model, FrameId frame, double radius);

/// The shape of a geometry whose frame has the pose X_BG in a body. Meshes touch with their convex
/// hull, which is read from their file.
/// @returns nullopt for planes, and for meshes that cannot be used, with the reason in `why`.
std::optional<ContactShape> contact_shape(const Geometry& geometry, const Pose<double>& X_BG,
                                          HullLibrary& hulls, std::string* why = nullptr);

/// The shapes of a description: its collision geometry, and for links without any the visual one.
/// Omits links welded to the world, planes, and meshes whose file is missing or of a format that is
/// not read; the names of the links of the latter two are appended to `left_out`. The model must be
/// built from the description.
std::vector<ContactShape> shapes_of(const Description<double>& description,
                                    const Model<double>& model,
                                    std::vector<std::string>* left_out = nullptr);

}  // namespace limb
