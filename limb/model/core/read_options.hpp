#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace limb {

/// Options of all readers.
struct ReadOptions {
  /// Folders in which package://NAME/... and relative mesh and include paths are searched, before the
  /// folder of the file; no file outside all of these is ever opened.
  std::vector<std::filesystem::path> roots;
};

}  // namespace limb
