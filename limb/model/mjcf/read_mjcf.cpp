#include "limb/model/mjcf/read_mjcf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "limb/base/error.hpp"
#include "limb/base/text_file.hpp"
#include "limb/model/mjcf/read_mjcf_actuators.hpp"
#include "limb/model/mjcf/read_mjcf_attach.hpp"
#include "limb/model/mjcf/read_mjcf_constraints.hpp"
#include "limb/model/mjcf/read_mjcf_scene.hpp"
#include "limb/model/mjcf/read_mjcf_spring_damper.hpp"
#include "limb/model/mjcf/read_mjcf_tendons.hpp"

namespace limb {
namespace mjcf {
namespace {

using Severity = Diagnostic::Severity;

void scale_to_total_mass(ReadContext& context) {
  const double wanted = context.compiler.settotalmass;
  if (!(wanted > 0)) return;
  double total = 0;
  for (const auto& link : context.result.links) total += link.inertial ? link.inertial->mass : 0;
  if (!(total > 0)) return;
  const double scale = wanted / total;
  for (auto& link : context.result.links) {
    if (!link.inertial) continue;
    link.inertial->mass *= scale;
    link.inertial->tensor *= scale;
  }
}

void check_sections(const Node& root, ReadContext& context) {
  constexpr std::array<std::string_view, 16> kKnownSections = {
      "compiler", "option",    "default", "asset",  "worldbody", "equality", "actuator",  "size",
      "visual",   "statistic", "contact", "sensor", "keyframe",  "custom",   "extension", "tendon"};
  for (const Node& section : root.children) {
    if (section.tag() == "deformable") {
      for (const Node& child : section.children) {
        if (child.tag() == "skin") continue;  // a picture
        add(context.diagnostics, Severity::error, child, "element-not-supported",
            fmt::format("<{}> is not supported", child.tag()), "limb has rigid bodies only");
      }
    } else if (std::find(kKnownSections.begin(), kKnownSections.end(), section.tag()) ==
               kKnownSections.end()) {
      note_unknown_child(context.diagnostics, root, section,
                         {"compiler", "option", "default", "asset", "worldbody", "equality",
                          "actuator", "size", "statistic", "visual", "contact", "sensor",
                          "keyframe", "custom", "extension", "tendon", "deformable", "include"});
    }
  }
}

/// Rules of what limb does not model end so (Unsupported).
bool is_unsupported(const Diagnostic& d) {
  return d.severity == Severity::error && d.rule.ends_with("-not-supported");
}

void report_unsupported(Unsupported option, Diagnostics& diagnostics) {
  for (Diagnostic& d : diagnostics) {
    if (!is_unsupported(d)) continue;
    if (option == Unsupported::ignore) {
      d.severity = Severity::warning;
    } else {
      d.fix += (d.fix.empty() ? "" : "; ") + std::string("to leave it out: --unsupported ignore");
    }
  }
}

}  // namespace

void read_model(const Node& root, ReadContext& context) {
  const auto each = [&](std::string_view tag, const auto& read) {
    for (const Node& section : root.children) {
      if (section.tag() == tag) read(section);
    }
  };
  check_sections(root, context);
  // In the order of their dependencies, independent of their order in the file.
  each("compiler", [&](const Node& n) { context.compiler.read(n, context.diagnostics); });
  each("option", [&](const Node& n) { read_option(n, context); });
  each("default", [&](const Node& n) { context.defaults.read(n, context.diagnostics); });
  each("asset", [&](const Node& n) {
    context.meshes.read(n, context.compiler, context.defaults, context.document,
                        context.diagnostics);
    context.height_fields.read(n, context.compiler, context.document, context.diagnostics);
  });
  context.named.bodies.emplace(kWorldLink, NamedElements::Body{{}, 0});  // even without <worldbody>
  each("worldbody", [&](const Node& n) { read_worldbody(n, context); });
  add_world_geoms(context);
  each("contact", [&](const Node& n) { read_contact(n, context); });
  each("tendon", [&](const Node& n) { read_tendons(n, context); });
  each("equality", [&](const Node& n) { read_equality(n, context); });
  each("actuator", [&](const Node& n) { read_actuators(n, context); });
  merge_sections(context);
  each("keyframe", [&](const Node& n) { read_keyframes(n, context); });
  scale_to_total_mass(context);
}

}  // namespace mjcf

Description<double> parse_mjcf(std::string text, const std::string& file,
                               const ReadOptions& options, Diagnostics& diagnostics) {
  const mjcf::Document document(std::move(text), file, options, diagnostics);
  const mjcf::Node& root = document.root();
  mjcf::ReadLimits limits;
  mjcf::ReadContext context(document, options, diagnostics, limits);
  context.result.file = file;
  if (root.tag() != "mujoco") {
    mjcf::add(
        diagnostics, Diagnostic::Severity::error, root, "root-element",
        fmt::format("the outermost element is <{}>, expected <mujoco>", root.tag().substr(0, 60)),
        root.tag() == "robot" ? "this is a URDF file" : "this is not an MJCF file");
    return std::move(context.result);
  }
  mjcf::expect_attributes(diagnostics, root, {"model"});
  context.result.name = XmlReader::text(*root.element, "model").value_or("");
  mjcf::read_model(root, context);
  mjcf::set_spring_dampers(context);
  mjcf::report_unsupported(options.unsupported, diagnostics);
  return std::move(context.result);
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
