#pragma once

#include <Eigen/Geometry>
#include <cstdint>
#include <map>
#include <string>

#include "limb/model/core/description.hpp"

namespace limb {

/// Bounding boxes of mesh files by their path (Geometry::mesh_path), in the axes and the unit of
/// the file: Geometry::mesh_scale and X_LG are not applied.
using MeshBoxes = std::map<std::string, Eigen::AlignedBox3d>;

/// What read_mesh_boxes() reads at most.
struct MeshBoxLimits {
  std::uintmax_t file = std::uintmax_t(64) << 20;    ///< bytes of one file; larger ones are skipped
  std::uintmax_t total = std::uintmax_t(512) << 20;  ///< bytes of all files of the robot, about 5 s
};

/// Boxes of all meshes of the robot, each file read once. Files that are absent, too large, of
/// another format than read_mesh() knows (such as COLLADA) or damaged are left out: the size of
/// such a mesh is unknown.
MeshBoxes read_mesh_boxes(const Description<double>& robot, const MeshBoxLimits& limits = {});

}  // namespace limb
