#include "limb/model/core/load.hpp"

#include <fmt/format.h>

#include "limb/base/text_file.hpp"
#include "limb/model/core/builtin.hpp"
#include "limb/model/mjcf/read_mjcf.hpp"
#include "limb/model/recipe/read_recipe.hpp"
#include "limb/model/urdf/read_urdf.hpp"

namespace limb {
namespace {

/// Name of the first element of an XML text, after declaration, comments and doctype, or "".
std::string_view first_element(std::string_view text) {
  std::size_t i = 0;
  while ((i = text.find('<', i)) != text.npos) {
    const std::string_view rest = text.substr(i + 1);
    if (rest.starts_with("!--")) {
      i = text.find("-->", i);
    } else if (rest.starts_with('?') || rest.starts_with('!')) {
      i = text.find('>', i);
    } else {
      const std::size_t end = rest.find_first_of(" \t\r\n/>");
      return rest.substr(0, end);
    }
    if (i == text.npos) break;
  }
  return {};
}

std::string ending(const std::string& path) {
  return std::filesystem::path(path).extension().string();
}

}  // namespace

RobotFormat robot_format(const std::string& path, const std::string& text) {
  const std::string end = ending(path);
  if (end == ".toml") return RobotFormat::recipe;
  const std::string_view element = first_element(text);
  if (element == "mujoco" || element == "mujocoinclude") return RobotFormat::mjcf;
  // All other XML goes to the URDF reader, which reports what it found instead.
  if (!element.empty() && (end == ".urdf" || end == ".xml" || end == ".xacro" || end == ".mjcf" ||
                           element == "robot")) {
    return RobotFormat::urdf;
  }
  if (end == ".urdf" || end == ".xml") return RobotFormat::urdf;
  throw Error(fmt::format(
      "load: {}: not a robot file that limb reads (.urdf, MJCF .xml, .toml recipe, builtin:NAME)",
      path));
}

Description<double> parse_robot(const std::string& path, const ReadOptions& options,
                                Diagnostics& diagnostics) {
  if (is_builtin(path)) {
    return parse_recipe(std::string(builtin_text(path)), path, options, diagnostics);
  }
  std::string text = read_text_file("load", path);
  switch (robot_format(path, text)) {
    case RobotFormat::mjcf:
      return parse_mjcf(std::move(text), path, options, diagnostics);
    case RobotFormat::recipe:
      return parse_recipe(std::move(text), path, options, diagnostics);
    case RobotFormat::urdf:
      break;
  }
  return parse_urdf(std::move(text), path, options, diagnostics);
}

Description<double> load_description(const std::string& path, const ReadOptions& options) {
  Diagnostics diagnostics;
  Description<double> description = parse_robot(path, options, diagnostics);
  throw_first_error("load", diagnostics);
  return description;
}

Model<double> load_model(const std::string& path, Base base, const ReadOptions& options) {
  return build_model(load_description(path, options), base);
}

}  // namespace limb
