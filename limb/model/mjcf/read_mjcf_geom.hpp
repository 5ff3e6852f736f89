#pragma once

#include <optional>
#include <vector>

#include "limb/model/core/description.hpp"
#include "limb/model/mjcf/read_mjcf_height_field.hpp"
#include "limb/model/mjcf/read_mjcf_mesh.hpp"

/// Geoms of MJCF as shapes and as mass, and the inertial of a body.
namespace limb::mjcf {

struct Geom {
  std::optional<Geometry> geometry;        ///< nullopt for height fields and invalid geoms
  std::optional<Inertia<double>> inertia;  ///< about the origin of X_BG, which is the mass centre;
                                           ///< nullopt if it has no mass
  Pose<double> X_BG;
  std::optional<MeshGeom> mesh;  ///< the mass depends on a mesh that is not read yet
  double group = 0;
  std::optional<HeightFieldDescription> height_field;  ///< of a geom that can touch
};

/// @param X_BF  pose of the enclosing <frame> in the body
Geom read_geom(const Attributes& attributes, const Pose<double>& X_BF, const Compiler& compiler,
               const MeshLibrary& meshes, const HeightFieldLibrary& height_fields);

/// An <inertial> element.
std::optional<InertialDescription<double>> read_inertial(const Attributes& attributes,
                                                         const Pose<double>& X_BF,
                                                         const Compiler& compiler);

/// Mass properties of a body from its optional <inertial> and its geoms, by the compiler's rules
/// except settotalmass. Reads the meshes on which it depends. pose_written: the pose of the body
/// element as written. children: origins of the child bodies.
std::optional<InertialDescription<double>> body_inertial(
    const std::optional<InertialDescription<double>>& written, std::vector<Geom>& geoms,
    MeshLibrary& meshes, const Compiler& compiler, const Pose<double>& pose_written,
    const std::vector<Vector3<double>>& children, const Node& body, Diagnostics& diagnostics);

/// `friction` of a geom or pair: numbers that are not written as in `fallback`, none negative.
std::vector<double> contact_friction(const Attributes& attributes, std::vector<double> fallback);
/// `condim` of a geom or pair: 1, 3, 4 or 6.
int contact_dimension(const Attributes& attributes);

/// Pose of the segment of `fromto` (z along it) and its half length; nullopt if the attribute is
/// missing or invalid.
struct Segment {
  Pose<double> X;
  double half_length;
};
std::optional<Segment> read_fromto(const Attributes& attributes);

}  // namespace limb::mjcf
