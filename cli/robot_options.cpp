#include "cli/robot_options.hpp"

#include <cstdio>

#include "cli/choice.hpp"
#include "cli/colour.hpp"

namespace limb::cli {

void MissingMeshesOption::add(CLI::App& app) {
  add_choice(app, "--missing-meshes", text_,
             "MJCF mesh of a mass not found: error (default), ignore or box",
             {"error", "ignore", "box"})
      ->capture_default_str();
}

void UnsupportedOption::add(CLI::App& app) {
  add_choice(app, "--unsupported", text_,
             "MJCF element that limb lacks and that changes the motion: error (default) or ignore",
             {"error", "ignore"})
      ->capture_default_str();
}

void RobotOptions::add(CLI::App& app, bool with_base) {
  app.add_option("MODEL", path_, ".urdf, MJCF .xml, .toml recipe or builtin:NAME")->required();
  if (with_base) {
    add_choice(app, "--base", base_, "base: described (as in the file, default), fixed or free",
               {"described", "fixed", "free"})
        ->capture_default_str();
    app.add_flag("-v,--verbose", verbose_, "print every warning about the robot file");
  }
  app.add_option("--root", roots_, "folder for package:// and relative paths; repeatable")
      ->type_name("FOLDER");
  missing_meshes_.add(app);
  unsupported_.add(app);
}

Base RobotOptions::base() const {
  if (base_ == "fixed") return Base::fixed;
  return base_ == "free" ? Base::free : Base::described;
}

ReadOptions RobotOptions::read_options() const {
  ReadOptions options;
  for (const std::string& root : roots_) options.roots.emplace_back(root);
  options.missing_meshes = missing_meshes_.value();
  options.unsupported = unsupported_.value();
  return options;
}

void RobotOptions::report(std::string_view call, const std::string& path) const {
  const std::string text = findings(call, path).text;
  std::fputs((has_colour(stderr) ? coloured(text) : text).c_str(), stderr);
}

nlohmann::json to_json(const Vector3<double>& v) {
  return nlohmann::json::array({v[0], v[1], v[2]});
}

nlohmann::json to_json(const Matrix3<double>& m) {
  nlohmann::json rows = nlohmann::json::array();
  for (int i = 0; i < 3; ++i) rows.push_back(to_json(Vector3<double>(m.row(i))));
  return rows;
}

nlohmann::json to_json(const std::optional<double>& x) {
  return x ? nlohmann::json(*x) : nlohmann::json(nullptr);
}

nlohmann::json to_json(const SourceLocation& source) {
  return {{"file", source.file}, {"line", source.line}};
}

}  // namespace limb::cli
