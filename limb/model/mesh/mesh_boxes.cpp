#include "limb/model/mesh/mesh_boxes.hpp"

#include <filesystem>
#include <set>

#include "limb/base/error.hpp"
#include "limb/model/mesh/read_mesh.hpp"

namespace limb {
namespace {

/// Box of the triangles, as vertices that none of them uses are not drawn; of a point cloud, box of
/// all points.
Eigen::AlignedBox3d box_of(const TriangleMesh& mesh) {
  Eigen::AlignedBox3d box;
  for (const auto& triangle : mesh.triangles) {
    for (const int i : triangle) box.extend(mesh.vertices[static_cast<std::size_t>(i)]);
  }
  if (mesh.triangles.empty()) {
    for (const auto& vertex : mesh.vertices) box.extend(vertex);
  }
  return box;
}

}  // namespace

MeshBoxes read_mesh_boxes(const Description<double>& robot, const MeshBoxLimits& limits) {
  MeshBoxes boxes;
  std::set<std::string> seen;
  std::uintmax_t total = 0;
  for (const auto& link : robot.links) {
    for (const Geometry& g : link.geometry) {
      if (g.shape != Geometry::Shape::mesh || g.mesh_path.empty()) continue;
      if (!seen.insert(g.mesh_path).second) continue;
      std::error_code code;
      const std::uintmax_t bytes = std::filesystem::file_size(g.mesh_path, code);
      if (code || bytes > limits.file || bytes > limits.total - total) continue;
      try {
        (void)mesh_format(g.mesh_path);
        total += bytes;
        boxes.emplace(g.mesh_path, box_of(read_mesh(g.mesh_path)));
      } catch (const Error&) {
        // The reader of the robot reports meshes that a mass depends on.
      }
    }
  }
  return boxes;
}

}  // namespace limb
