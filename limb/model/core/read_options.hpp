#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace limb {

/// Options of all readers.
struct ReadOptions {
  /// Folders in which package://NAME/... and relative mesh and include paths are searched; no file
  /// outside them is ever opened. Empty: the folder of the file.
  std::vector<std::filesystem::path> roots;
};

}  // namespace limb
