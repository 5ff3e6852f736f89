#pragma once

#include <Eigen/Geometry>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "limb/model/core/description.hpp"
#include "limb/model/mesh/mesh_inertia.hpp"
#include "limb/model/mjcf/primitive_inertia.hpp"
#include "limb/model/mjcf/read_mjcf_compiler.hpp"

/// Meshes of <asset>. Their files are read when the mass of a body needs them, each file once.
namespace limb::mjcf {

/// A mesh of <asset>.
struct MeshAsset {
  std::string name;
  std::string file;  ///< as written, with the mesh folder prepended; empty for inline vertices
  std::string path;  ///< the file inside a root; empty if it does not exist
  std::string folder_outside;  ///< its folder, if the file exists outside of all roots
  Vector3<double> scale = Vector3<double>::Ones();
  Pose<double> X_GM;  ///< by refpos and refquat, before the scale
  std::shared_ptr<const std::vector<Vector3<double>>> vertices;  ///< inline ones
  const Node* node = nullptr;
  const DefaultClass* default_class = nullptr;
};

/// The mass of a geom that depends on a mesh.
struct MeshGeom {
  const MeshAsset* asset = nullptr;
  GeomMass mass;
  std::optional<Geometry::Shape> fitted;  ///< the primitive that is fitted to the mesh
  double fitscale = 1;
};

/// Size of a mesh and its mass properties for a density of 1.
struct MeshShape {
  MeshMassProperties unit;
  Matrix3<double> axes;         ///< principal axes, that of the largest moment first
  bool axes_unique;             ///< false if two moments are equal
  Vector3<double> inertia_box;  ///< half edges of the box with the same moments, along the axes
  Vector3<double> box_centre, box_half;  ///< bounding box along the axes, from the mass centre
};

class MeshLibrary {
 public:
  explicit MeshLibrary(MissingMeshes missing) : missing_(missing) {}

  void read(const Node& asset, const Compiler& compiler, const Defaults& defaults,
            const Document& document, Diagnostics& diagnostics);
  /// Null if no mesh has this name.
  [[nodiscard]] const MeshAsset* find(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> names() const;

  /// What replaces the meshes of one body that cannot be read (MissingMeshes::box).
  struct ReplacementBox {
    Eigen::AlignedBox3d extent;  ///< of what is known about the body, in its axes
    bool has_density = false;    ///< its volume has a mass; it counts once
  };

  /// Inertia of the geom about its mass centre, in axes of X_BG, of which the origin is moved to
  /// that centre; nullopt if the mesh cannot be read, with a diagnostic, once per mesh.
  std::optional<Inertia<double>> inertia(const MeshGeom& geom, Pose<double>& X_BG,
                                         const Compiler& compiler, const Node& body,
                                         ReplacementBox& box, Diagnostics& diagnostics);

 private:
  const MeshShape* shape(const MeshAsset& asset, const Compiler& compiler, const Node& body,
                         Diagnostics& diagnostics);
  TriangleMesh load(const MeshAsset& asset, Diagnostics& diagnostics);
  void report(const MeshAsset& asset, const Node& body, const std::string& what,
              Diagnostics& diagnostics);
  std::optional<Inertia<double>> box_inertia(const MeshGeom& geom, Pose<double>& X_BG,
                                             const Node& body, ReplacementBox& box,
                                             Diagnostics& diagnostics) const;

  MissingMeshes missing_;
  std::map<std::string, MeshAsset, std::less<>> assets_;
  std::map<std::string, int> uses_;            ///< number of assets per file
  std::map<std::string, TriangleMesh> files_;  ///< those with several uses
  std::map<const MeshAsset*, std::optional<MeshShape>> shapes_;
  std::map<const MeshAsset*, std::string> unusable_;  ///< why; MissingMeshes::box only
};

}  // namespace limb::mjcf
