#pragma once

#include <optional>
#include <string>
#include <vector>

#include "limb/model/core/model.hpp"

namespace limb {

/// Contact properties of a pair of surfaces.
struct ContactSurface {
  double friction = 0.8;   ///< Coulomb coefficient, the same for static and kinetic friction
  double restitution = 0;  ///< separation speed over approach speed, 0 to 1
};
/// @throws Error "call: friction is -1, expected ..."
void check_surface(const char* call, const ContactSurface& surface);

/// Collision geometry of the robot: a solid fixed to a body.
struct ContactShape {
  enum class Kind { sphere, capsule, cylinder, box, ellipsoid };

  std::string name;  ///< of the frame or link that it belongs to
  BodyId body;
  Kind kind = Kind::sphere;  ///< a point is a sphere of radius 0
  Pose<double> X_BS = {};    ///< capsule, cylinder: along z
  /// Sphere: radius; capsule, cylinder: radius, length (capsule: without caps); box: full edges;
  /// ellipsoid: half axes.
  Vector3<double> size = Vector3<double>::Zero();
  ContactSurface surface = {};
  bool own_surface = false;  ///< use this surface instead of the ground's
};

/// The kind of contact shape of a geometry; nullopt for planes and meshes.
std::optional<ContactShape::Kind> contact_kind(Geometry::Shape shape);

/// A sphere about the origin of a frame, as a foot; radius 0: a point.
/// @throws Error for a frame that is fixed to the world, or a negative radius.
ContactShape make_foot(const Model<double>& model, FrameId frame, double radius);

/// The shapes of a description: its collision geometry, and for links without any the visual one.
/// Omits links welded to the world, and meshes and planes, the names of whose links are appended to
/// `left_out`. The model must be built from the description.
std::vector<ContactShape> shapes_of(const Description<double>& description,
                                    const Model<double>& model,
                                    std::vector<std::string>* left_out = nullptr);

}  // namespace limb
