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

/// What to do about something in the file that limb does not model and without which the robot
/// moves differently, also without controls: a muscle, a spring of a ball joint, a cable.
enum class Unsupported {
  error,   ///< the robot is refused
  ignore,  ///< a warning; it is left out
};

/// Options of all readers.
struct ReadOptions {
  /// Folders in which package://NAME/... and relative mesh and include paths are searched, before
  /// the folder of the file; no file outside all of these is ever opened.
  std::vector<std::filesystem::path> roots;
  /// Only MJCF takes masses from meshes.
  MissingMeshes missing_meshes = MissingMeshes::error;
  /// Only MJCF has such elements: the rules ...-not-supported.
  Unsupported unsupported = Unsupported::error;
};

}  // namespace limb
