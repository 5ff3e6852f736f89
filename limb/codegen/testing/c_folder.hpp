#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "limb/codegen/c/emit_c.hpp"

namespace limb::testing {

/// A temporary folder with generated files.
class CFolder {
 public:
  explicit CFolder(const codegen::CPackage& package) {
    std::string name = (std::filesystem::temp_directory_path() / "limb_emit_c_XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
    for (const codegen::GeneratedFile& file : package.files) {
      std::ofstream(path_ / file.name) << file.text;
    }
  }
  ~CFolder() { std::filesystem::remove_all(path_); }
  CFolder(const CFolder&) = delete;
  CFolder& operator=(const CFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

  /// Runs a command in the folder; log() has its output.
  int run(const std::string& command) const {
    const std::string line = "cd " + path_.string() + " && (" + command + ") > log 2>&1";
    return std::system(line.c_str());  // NOLINT
  }
  std::string log() const {
    std::ostringstream text;
    text << std::ifstream(path_ / "log").rdbuf();
    return text.str();
  }

 private:
  std::filesystem::path path_;
};

/// Whether the system has a command.
inline bool has_command(const std::string& name) {
  return std::system(("command -v " + name + " > /dev/null 2>&1").c_str()) == 0;  // NOLINT
}

}  // namespace limb::testing
