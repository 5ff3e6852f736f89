#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "limb/model/core/load.hpp"

/// Arguments shared by all verbs about a robot: MODEL, --base, --root.
namespace limb::cli {

class RobotOptions {
 public:
  /// Adds MODEL and --root, and --base if `with_base`.
  void add(CLI::App& app, bool with_base = true);

  const std::string& path() const { return path_; }
  Base base() const;
  ReadOptions read_options() const;

 private:
  std::string path_;
  std::string base_ = "described";
  std::vector<std::string> roots_;
};

nlohmann::json to_json(const Vector3<double>& v);
nlohmann::json to_json(const Matrix3<double>& m);
/// A number, or null if empty.
nlohmann::json to_json(const std::optional<double>& x);
nlohmann::json to_json(const SourceLocation& source);

}  // namespace limb::cli
