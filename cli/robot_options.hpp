#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "limb/model/load.hpp"

/// The arguments that every verb about a robot shares: MODEL, --base, --root.
namespace limb::cli {

class RobotOptions {
 public:
  /// Adds MODEL, and --base unless the verb has no use for it.
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
/// A number, or null where there is none.
nlohmann::json to_json(const std::optional<double>& x);
nlohmann::json to_json(const Source& source);

}  // namespace limb::cli
