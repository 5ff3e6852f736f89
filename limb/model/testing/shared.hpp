#pragma once

#include <cstdlib>
#include <filesystem>

namespace limb::testing {

/// The folder of reference robots and golden files, or an empty path if it does not exist: the
/// environment variable LIMB_SHARED, else the path set by the build.
inline std::filesystem::path shared_folder() {
  const char* given = std::getenv("LIMB_SHARED");
  const std::filesystem::path folder = given != nullptr ? given : LIMB_SHARED_DEFAULT;
  std::error_code code;
  return std::filesystem::is_directory(folder, code) ? folder : std::filesystem::path();
}

}  // namespace limb::testing
