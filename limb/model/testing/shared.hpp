#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace limb::testing {

/// The path set by the build. It is in a library of its own (limb_shared_default), so that the path
/// of the source folder is not in the command line of every test: compiler caches serve all clones.
const char* shared_default();

/// Where the folder of reference robots and golden files is expected: the environment variable
/// LIMB_SHARED, else the path set by the build.
inline std::filesystem::path shared_path() {
  const char* const given = std::getenv("LIMB_SHARED");
  return given != nullptr && *given != '\0' ? given : shared_default();
}

/// Empty if that folder exists and is limb's, otherwise the reason for skipping. Another folder of
/// that name is recognised by the missing marker file. As tools/shared_folder.py.
inline std::string why_no_shared(const std::filesystem::path& folder = shared_path()) {
  const std::string name = folder.lexically_normal().string();
  std::error_code code;
  if (!std::filesystem::is_directory(folder, code)) {
    return "no folder of reference robots " + name + " (LIMB_SHARED names another)";
  }
  const std::string marker = "golden/README.md", start = "# Reference values from Pinocchio";
  std::ifstream file(folder / marker);
  std::string line;
  if (std::getline(file, line) && line.starts_with(start)) return "";
  return name + " is not limb's folder of reference robots: no " + marker + " that starts with '" +
         start + "'";
}

/// The folder, or an empty path if it does not exist or is not limb's.
inline std::filesystem::path shared_folder() {
  return why_no_shared().empty() ? shared_path() : std::filesystem::path();
}

}  // namespace limb::testing
