#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace limb {

/// What every reader is told besides the file.
struct ReadOptions {
  /// Folders in which package://NAME/... and relative mesh and include paths are looked for;
  /// nothing outside them is ever opened. Empty: the folder of the file itself.
  std::vector<std::filesystem::path> roots;
};

}  // namespace limb
