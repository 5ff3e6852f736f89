#include "limb/model/read_mjcf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "limb/base/error.hpp"
#include "limb/base/text_file.hpp"
#include "limb/model/read_mjcf_constraints.hpp"

namespace limb {
namespace mjcf {
namespace {

using Severity = Diagnostic::Severity;

/// Gravity; the other options steer MuJoCo's simulation alone.
void read_option(const Node& node, Reading& reading) {
  const Attributes a(node, reading.diagnostics);
  reading.result.gravity = a.vector("gravity", reading.result.gravity);
  for (const Node& flag : node.children) {
    const Attributes f(flag, reading.diagnostics);
    if (f.keyword("gravity", {"enable", "disable"}, "enable") == "disable") {
      f.note("gravity-disabled", "gravity is disabled", "it is read as zero");
      reading.result.gravity.setZero();
    }
  }
}

void scale_to_total_mass(Reading& reading) {
  const double wanted = reading.compiler.settotalmass;
  if (!(wanted > 0)) return;
  double total = 0;
  for (const auto& link : reading.result.links) total += link.inertial ? link.inertial->mass : 0;
  if (!(total > 0)) return;
  const double scale = wanted / total;
  for (auto& link : reading.result.links) {
    if (!link.inertial) continue;
    link.inertial->mass *= scale;
    link.inertial->tensor *= scale;
  }
}

void warn_not_read(const Node& section, Reading& reading, const char* reason) {
  if (section.children.empty()) return;
  add(reading.diagnostics, Severity::warning, section, "element-not-read",
      fmt::format("<{}> is not read", section.tag()), reason);
}

void read_sections(const Node& root, Reading& reading) {
  const auto each = [&](std::string_view tag, const auto& read) {
    for (const Node& section : root.children) {
      if (section.tag() == tag) read(section);
    }
  };
  // In the order in which they decide about each other, whatever their order in the file.
  each("compiler", [&](const Node& n) { reading.compiler.read(n, reading.diagnostics); });
  each("option", [&](const Node& n) { read_option(n, reading); });
  each("default", [&](const Node& n) { reading.defaults.read(n, reading.diagnostics); });
  each("asset", [&](const Node& n) {
    read_meshes(n, reading.compiler, reading.defaults, reading.document, reading.meshes,
                reading.diagnostics);
  });
  each("worldbody", [&](const Node& n) { read_worldbody(n, reading); });
  each("equality", [&](const Node& n) { read_equality(n, reading); });
  each("actuator", [&](const Node& n) { read_actuators(n, reading); });
  scale_to_total_mass(reading);
}

void check_sections(const Node& root, Reading& reading) {
  constexpr std::array<std::string_view, 15> kQuiet = {
      "compiler", "option",    "default", "asset",  "worldbody", "equality", "actuator", "size",
      "visual",   "statistic", "contact", "sensor", "keyframe",  "custom",   "extension"};
  for (const Node& section : root.children) {
    if (section.tag() == "tendon") {
      warn_not_read(section, reading, "forces and couplings through tendons are missing");
    } else if (section.tag() == "deformable") {
      warn_not_read(section, reading, "limb has rigid bodies only");
    } else if (std::find(kQuiet.begin(), kQuiet.end(), section.tag()) == kQuiet.end()) {
      note_unknown_child(reading.diagnostics, root, section,
                         {"compiler", "option", "default", "asset", "worldbody", "equality",
                          "actuator", "size", "statistic", "visual", "contact", "sensor",
                          "keyframe", "custom", "extension", "tendon", "deformable", "include"});
    }
  }
}

}  // namespace
}  // namespace mjcf

Description<double> parse_mjcf(std::string text, const std::string& file,
                               const ReadOptions& options, Diagnostics& diagnostics) {
  const mjcf::Document document(std::move(text), file, options, diagnostics);
  const mjcf::Node& root = document.root();
  mjcf::Reading reading{document, diagnostics, {}, {}, {}, {}, {}};
  reading.result.file = file;
  if (root.tag() != "mujoco") {
    mjcf::add(
        diagnostics, Diagnostic::Severity::error, root, "root-element",
        fmt::format("the outermost element is <{}>, expected <mujoco>", root.tag().substr(0, 60)),
        root.tag() == "robot" ? "this is a URDF file" : "this is no MJCF file");
    return std::move(reading.result);
  }
  mjcf::expect_attributes(diagnostics, root, {"model"});
  reading.result.name = XmlReader::text(*root.element, "model").value_or("");
  mjcf::check_sections(root, reading);
  mjcf::read_sections(root, reading);
  return std::move(reading.result);
}

Description<double> read_mjcf(const std::filesystem::path& path, const ReadOptions& options) {
  Diagnostics diagnostics;
  Description<double> result =
      parse_mjcf(read_text_file("read_mjcf", path), path.string(), options, diagnostics);
  for (const Diagnostic& d : diagnostics) {
    if (d.severity == Diagnostic::Severity::error) {
      throw Error(fmt::format("read_mjcf: {}: {}", d.source.text(), d.message));
    }
  }
  return result;
}

}  // namespace limb
