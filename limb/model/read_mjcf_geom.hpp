#pragma once

#include <map>
#include <optional>
#include <vector>

#include "limb/model/description.hpp"
#include "limb/model/read_mjcf_compiler.hpp"

/// Geoms of MJCF as shapes and as mass, and the inertial of a body from either source.
namespace limb::mjcf {

/// A mesh of <asset>.
struct MeshAsset {
  std::string file;  ///< as written, with the mesh folder before it
  std::string path;  ///< the file inside a root; empty if it is not there
  Vector3<double> scale = Vector3<double>::Ones();
};
using MeshAssets = std::map<std::string, MeshAsset, std::less<>>;

void read_meshes(const Node& asset, const Compiler& compiler, const Defaults& defaults,
                 const Document& document, MeshAssets& meshes, Diagnostics& diagnostics);

struct Geom {
  std::optional<Geometry> geometry;        ///< nothing for height fields and what is wrong
  std::optional<Inertia<double>> inertia;  ///< in the geom's frame; nothing if it has no mass
  Pose<double> X_BG;
  std::string mass_unknown;  ///< why the mass is not known; empty if it is
  double group = 0;
};

/// @param X_BF  the <frame> in which the geom stands, in the body
Geom read_geom(const Attributes& attributes, const Pose<double>& X_BF, const Compiler& compiler,
               const MeshAssets& meshes);

/// An <inertial> element.
std::optional<InertialDescription<double>> read_inertial(const Attributes& attributes,
                                                         const Pose<double>& X_BF,
                                                         const Compiler& compiler);

/// Mass properties of a body from its <inertial> (or none) and its geoms, by the compiler's rules,
/// all but settotalmass. pose_written: that of the body as its element says it.
std::optional<InertialDescription<double>> body_inertial(
    const std::optional<InertialDescription<double>>& written, const std::vector<Geom>& geoms,
    const Compiler& compiler, const Pose<double>& pose_written, const Node& body,
    Diagnostics& diagnostics);

/// Pose of the segment of `fromto` (z along it) and its half length; nothing if the attribute is
/// missing or wrong.
struct Segment {
  Pose<double> X;
  double half_length;
};
std::optional<Segment> read_fromto(const Attributes& attributes);

}  // namespace limb::mjcf
