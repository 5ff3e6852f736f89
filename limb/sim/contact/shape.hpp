#pragma once

#include <string>
#include <vector>

#include "limb/model/model.hpp"

namespace limb {

/// How two surfaces act on each other.
struct Surface {
  double friction = 0.8;   ///< Coulomb's coefficient, the same at rest and in motion
  double restitution = 0;  ///< part of the approach speed that comes back, 0 to 1
};
/// @throws Error "call: friction is -1, expected ..."
void check_surface(const char* call, const Surface& surface);

/// A part of the robot that can touch: a solid fixed to a body.
struct ContactShape {
  enum class Kind { sphere, capsule, cylinder, box, ellipsoid };

  std::string name;  ///< of the frame or link that it belongs to
  BodyId body;
  Kind kind = Kind::sphere;  ///< a point is a sphere of radius 0
  Pose<double> X_BS = {};    ///< capsule, cylinder: along z
  /// Sphere: radius; capsule, cylinder: radius, length (capsule: without caps); box: full edges;
  /// ellipsoid: half axes.
  Vector3<double> size = Vector3<double>::Zero();
  Surface surface = {};
  bool own_surface = false;  ///< this surface counts, and not the ground's
};

/// A sphere about the origin of a frame, as feet often are; radius 0: a point.
/// @throws Error for a frame that is fixed to the world, or a negative radius.
ContactShape make_foot(const Model<double>& model, FrameId frame, double radius);

/// The solids of a description: its collision shapes, and for links that have none the visual
/// ones. Shapes of links that are welded to the world are left out, and meshes and planes, whose
/// names `left_out` takes. The model is the one that was built of the description.
std::vector<ContactShape> shapes_of(const Description<double>& description,
                                    const Model<double>& model,
                                    std::vector<std::string>* left_out = nullptr);

}  // namespace limb
