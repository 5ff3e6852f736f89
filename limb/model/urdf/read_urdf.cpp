#include "limb/model/urdf/read_urdf.hpp"

#include <fmt/format.h>

#include <unordered_set>

#include "limb/base/error.hpp"
#include "limb/base/nearest.hpp"
#include "limb/base/text_file.hpp"
#include "limb/model/urdf/read_urdf_elements.hpp"

namespace limb {
namespace {

using Element = XmlFile::Element;

[[noreturn]] void refuse(const XmlFile& file, const Element& element, std::string_view what) {
  throw Error(fmt::format("read_urdf: {}: {}", file.source(element).text(), what));
}

/// A part of `element` that is xacro syntax, or "".
std::string xacro_mark(const Element& element) {
  if (std::string_view(element.Name()).starts_with("xacro:")) {
    return fmt::format("<{}>", shorten(element.Name()));
  }
  for (const auto* a = element.FirstAttribute(); a != nullptr; a = a->Next()) {
    const std::string_view value = a->Value();
    if (value.find("${") != value.npos || value.find("$(") != value.npos) {
      return fmt::format("{}=\"{}\"", shorten(a->Name()), shorten(value));
    }
  }
  return {};
}

/// The next element in document order, inside `root`; elements below <gazebo> are skipped.
const Element* next(const Element* element, const Element& root) {
  if (std::string_view(element->Name()) != "gazebo") {
    if (const Element* child = element->FirstChildElement()) return child;
  }
  while (element != &root) {
    if (const Element* sibling = element->NextSiblingElement()) return sibling;
    element = element->Parent()->ToElement();
  }
  return nullptr;
}

void refuse_xacro(const XmlFile& file, bool may_have_marks) {
  const auto reject = [&](const Element& element, std::string_view mark) {
    refuse(file, element,
           fmt::format("is xacro ({}), expected URDF (run: xacro {} > robot.urdf)", mark,
                       file.file()));
  };
  const Element& root = file.root();
  if (may_have_marks) {
    for (const Element* e = &root; e != nullptr; e = next(e, root)) {
      const std::string mark = xacro_mark(*e);
      if (!mark.empty()) reject(*e, mark);
    }
  }
  if (file.file().ends_with(".xacro")) reject(root, "by its name");
}

void refuse_other_formats(const XmlFile& file) {
  const Element& root = file.root();
  const std::string_view name = root.Name();
  if (name == "sdf" || name == "gazebo") {
    refuse(file, root, "is SDF, expected URDF (export the robot as URDF)");
  }
  if (name == "mujoco" || name == "mujocoinclude") {
    refuse(file, root, "is MJCF, expected URDF (MJCF has its own reader: read_mjcf)");
  }
  if (name == "COLLADA") refuse(file, root, "is a COLLADA mesh, expected URDF");
  if (name == "launch") refuse(file, root, "is a launch file, expected URDF");
  if (name != "robot") {
    const std::vector<std::string> known = {"robot"};
    refuse(file, root,
           fmt::format("root element is <{}>{}, expected <robot>", shorten(name),
                       nearest(name, known).empty() ? "" : " (closest: 'robot')"));
  }
  if (const Element* second = root.NextSiblingElement()) {
    refuse(file, *second,
           fmt::format("not well-formed XML: <{}> after the end of the root element",
                       shorten(second->Name())));
  }
}

/// Removes couplings and actuators of joints that the file does not have, with a warning each:
/// files that contain a part of a robot often keep them for the whole robot.
void remove_absent_joints(Description<double>& robot, Diagnostics& diagnostics) {
  std::vector<std::string> names;
  for (const auto& joint : robot.joints) names.push_back(joint.name);
  const std::unordered_set<std::string_view> known(names.begin(), names.end());
  const auto warn = [&](const char* rule, const SourceLocation& source, const std::string& owner,
                        const std::string& joint, const char* reason) {
    const std::string close = nearest(joint, names);
    diagnostics.push_back(
        {Diagnostic::Severity::warning, rule, source,
         fmt::format("{} names joint '{}', no such joint{}", owner, shorten(joint),
                     close.empty() ? "" : fmt::format(" (closest: '{}')", shorten(close))),
         reason, "correct the name or remove the element"});
  };
  std::erase_if(robot.couplings, [&](const CouplingDescription<double>& coupling) {
    for (const auto& term : coupling.terms) {
      // Without a name the element has its own error.
      if (term.joint.empty() || known.contains(term.joint)) continue;
      warn("coupling-unknown-joint", coupling.source,
           fmt::format("<mimic> of joint '{}'", shorten(coupling.joint)), term.joint,
           "the joint moves on its own");
      return true;
    }
    return false;
  });
  std::erase_if(robot.actuators, [&](const ActuationDescription& actuator) {
    if (known.contains(actuator.joint)) return false;
    warn("actuator-unknown-joint", actuator.source, "<transmission>", actuator.joint,
         "it drives nothing");
    return true;
  });
}

}  // namespace

Description<double> parse_urdf(std::string text, const std::string& file,
                               const ReadOptions& options, Diagnostics& diagnostics) {
  // Most files contain none of these and need no second traversal.
  const bool may_be_xacro = text.find("<xacro:") != text.npos || text.find("${") != text.npos ||
                            text.find("$(") != text.npos;
  const XmlFile document("read_urdf", std::move(text), file);
  const Element& root = document.root();
  refuse_xacro(document, may_be_xacro);
  refuse_other_formats(document);

  urdf::ReadContext context{document, XmlReader(document, diagnostics), MeshPaths(file, options)};
  context.xml.expect_attributes(root, {"name", "version"});
  context.xml.expect_children(root, {"link", "joint", "material", "transmission", "gazebo",
                                     "ros2_control", "sensor", "plugin", "mujoco"});
  Description<double> robot;
  robot.file = file;
  robot.name = XmlReader::text(root, "name").value_or("");
  if (robot.name.empty()) {
    context.xml.add(Diagnostic::Severity::warning, root, "robot-name-missing",
                    "<robot> has no name", "URDF requires one", "<robot name=\"robot\">");
  }
  for (const Element* e = root.FirstChildElement(); e != nullptr; e = e->NextSiblingElement()) {
    const std::string_view tag = e->Name();
    if (tag == "link") robot.links.push_back(urdf::read_link(context, *e));
    if (tag == "joint") urdf::read_joint(context, *e, robot);
  }
  robot.actuators = urdf::read_transmissions(context, root);
  remove_absent_joints(robot, diagnostics);
  return robot;
}

Description<double> read_urdf(const std::filesystem::path& path, const ReadOptions& options) {
  Diagnostics diagnostics;
  auto robot = parse_urdf(read_text_file("read_urdf", path), path.string(), options, diagnostics);
  for (const Diagnostic& d : diagnostics) {
    if (d.severity != Diagnostic::Severity::error) continue;
    throw Error(fmt::format("read_urdf: {}: {}", d.source.text(), d.message));
  }
  return robot;
}

}  // namespace limb
