#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace limb {

/// What to do if the mass of a body depends on a mesh that is missing or cannot be read.
enum class MissingMeshes {
  error,   ///< the robot is refused
  ignore,  ///< a warning; the mesh has no mass, and the body is too light
  box,     ///< a warning; a box about the other shapes and the child bodies has the mass
};

/// Options of all readers.
struct ReadOptions {
  /// Folders in which package://NAME/... and relative mesh and include paths are searched, before
  /// the folder of the file; no file outside all of these is ever opened.
  std::vector<std::filesystem::path> roots;
  /// Only MJCF takes masses from meshes.
  MissingMeshes missing_meshes = MissingMeshes::error;
};

}  // namespace limb
