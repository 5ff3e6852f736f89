#pragma once

#include <map>
#include <optional>
#include <vector>

#include "limb/model/core/description.hpp"
#include "limb/model/mjcf/read_mjcf_compiler.hpp"

/// Geoms of MJCF as shapes and as mass, and the inertial of a body.
namespace limb::mjcf {

/// A mesh of <asset>.
struct MeshAsset {
  std::string file;  ///< as written, with the mesh folder prepended
  std::string path;  ///< the file inside a root; empty if it does not exist
  Vector3<double> scale = Vector3<double>::Ones();
};
using MeshAssets = std::map<std::string, MeshAsset, std::less<>>;

void read_meshes(const Node& asset, const Compiler& compiler, const Defaults& defaults,
                 const Document& document, MeshAssets& meshes, Diagnostics& diagnostics);

struct Geom {
  std::optional<Geometry> geometry;        ///< nullopt for height fields and invalid geoms
  std::optional<Inertia<double>> inertia;  ///< in the geom's frame; nullopt if it has no mass
  Pose<double> X_BG;
  std::string mass_unknown;  ///< reason if the mass is unknown; empty otherwise
  double group = 0;
};

/// @param X_BF  pose of the enclosing <frame> in the body
Geom read_geom(const Attributes& attributes, const Pose<double>& X_BF, const Compiler& compiler,
               const MeshAssets& meshes);

/// An <inertial> element.
std::optional<InertialDescription<double>> read_inertial(const Attributes& attributes,
                                                         const Pose<double>& X_BF,
                                                         const Compiler& compiler);

/// Mass properties of a body from its optional <inertial> and its geoms, by the compiler's rules
/// except settotalmass. pose_written: the pose of the body element as written.
std::optional<InertialDescription<double>> body_inertial(
    const std::optional<InertialDescription<double>>& written, const std::vector<Geom>& geoms,
    const Compiler& compiler, const Pose<double>& pose_written, const Node& body,
    Diagnostics& diagnostics);

/// Pose of the segment of `fromto` (z along it) and its half length; nullopt if the attribute is
/// missing or invalid.
struct Segment {
  Pose<double> X;
  double half_length;
};
std::optional<Segment> read_fromto(const Attributes& attributes);

}  // namespace limb::mjcf
