#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/robot_findings.hpp"
#include "limb/model/core/load.hpp"

/// Arguments shared by all verbs about a robot: MODEL, --base, --root, --missing-meshes,
/// --unsupported, --verbose.
namespace limb::cli {

/// --missing-meshes, for all verbs that load a robot.
class MissingMeshesOption {
 public:
  void add(CLI::App& app);
  MissingMeshes value() const {
    return text_ == "ignore" ? MissingMeshes::ignore
           : text_ == "box"  ? MissingMeshes::box
                             : MissingMeshes::error;
  }

 private:
  std::string text_ = "error";
};

/// --unsupported, for all verbs that load a robot.
class UnsupportedOption {
 public:
  void add(CLI::App& app);
  Unsupported value() const { return text_ == "ignore" ? Unsupported::ignore : Unsupported::error; }

 private:
  std::string text_ = "error";
};

class RobotOptions {
 public:
  /// Adds MODEL, --root, --missing-meshes and --unsupported, and --base and --verbose if
  /// `with_base`.
  void add(CLI::App& app, bool with_base = true);

  const std::string& path() const { return path_; }
  Base base() const;
  ReadOptions read_options() const;
  /// What is wrong with the robot although it can be read.
  RobotFindings findings(std::string_view call, const std::string& path) const {
    return find_in_robot(call, path, read_options(), verbose_);
  }
  /// Says it on stderr; verbs call it first.
  void report(std::string_view call, const std::string& path) const;
  void report(std::string_view call) const { report(call, path_); }

 private:
  std::string path_;
  std::string base_ = "described";
  std::vector<std::string> roots_;
  MissingMeshesOption missing_meshes_;
  UnsupportedOption unsupported_;
  bool verbose_ = false;
};

nlohmann::json to_json(const Vector3<double>& v);
nlohmann::json to_json(const Matrix3<double>& m);
/// A number, or null if empty.
nlohmann::json to_json(const std::optional<double>& x);
nlohmann::json to_json(const SourceLocation& source);

}  // namespace limb::cli
