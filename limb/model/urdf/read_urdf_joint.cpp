#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <unordered_set>

#include "limb/base/nearest.hpp"
#include "limb/base/number.hpp"
#include "limb/model/urdf/read_urdf_elements.hpp"

namespace limb::urdf {
namespace {

using Severity = Diagnostic::Severity;

/// Type names in URDF; the last five are extensions of limb.
const std::vector<std::string>& type_names() {
  static const std::vector<std::string> names = {
      "revolute",  "continuous", "prismatic",   "fixed",   "floating",   "planar",
      "spherical", "universal",  "cylindrical", "helical", "translation"};
  return names;
}

JointType read_type(ReadContext& context, const Element& element) {
  const std::string name = context.xml.required(element, "type");
  if (name == "floating") return JointType::free;
  const auto& known = type_names();
  const bool is_known = std::find(known.begin(), known.end(), name) != known.end();
  if (is_known) return *joint_type_from_text(name);
  if (!name.empty()) {
    const std::string close = nearest(name, known);
    context.xml.add(
        Severity::error, element, "joint-type-unknown",
        fmt::format("{}: unknown type '{}'{}, expected one of {}", XmlReader::title(element),
                    shorten(name), close.empty() ? "" : fmt::format(" (closest: '{}')", close),
                    fmt::join(known, ", ")),
        "the motion of the child is not defined",
        close.empty() ? "" : fmt::format("type=\"{}\"", close));
  }
  return JointType::fixed;
}

bool has_axis(JointType type) {
  return type != JointType::fixed && type != JointType::free && type != JointType::spherical &&
         type != JointType::translation;
}

/// The unit vector of <axis> or <axis2>; `fallback` if the element is missing.
Vector3<double> read_axis(ReadContext& context, const Element& joint, const char* tag,
                          const Vector3<double>& fallback) {
  const Element* element = context.only_child(joint, tag);
  if (element == nullptr) return fallback;
  context.xml.expect_attributes(*element, {"xyz", "pitch"});
  const auto xyz = context.xml.numbers(*element, "xyz", 3);
  if (!xyz) return fallback;
  const Vector3<double> axis((*xyz)[0], (*xyz)[1], (*xyz)[2]);
  const double largest = axis.cwiseAbs().maxCoeff();
  if (largest == 0) {
    context.xml.add(Severity::error, *element, "axis-zero",
                    fmt::format("{}: {} is 0 0 0", XmlReader::title(joint), tag),
                    "the joint has no direction of motion",
                    fmt::format("<{} xyz=\"{}\"/>", tag, fallback[0] == 1 ? "1 0 0" : "0 1 0"));
    return fallback;
  }
  // An axis of length 1 up to rounding is kept bit for bit, so that a written file reads back
  // equal.
  const double squared = axis.squaredNorm();
  if (std::abs(squared - 1) <= 4 * epsilon<double>()) return axis;
  const Vector3<double> unit = (axis / largest).normalized();  // avoids overflow
  const double length = axis.stableNorm();
  // Six digits of a unit vector leave up to 1e-6 in its length.
  if (!(std::abs(length - 1) < 1e-5)) {
    context.xml.add(Severity::warning, *element, "axis-not-unit",
                    fmt::format("{}: {} has length {}, expected 1", XmlReader::title(joint), tag,
                                to_text(length)),
                    "tools that do not normalise it scale the joint's motion",
                    fmt::format("<{} xyz=\"{} {} {}\"/>", tag, to_text(unit[0]), to_text(unit[1]),
                                to_text(unit[2])));
  }
  return unit;
}

/// Whether the attribute 'unlimited' of <limit> lists `bound`.
bool is_unlimited(const Element& limit, std::string_view bound) {
  const char* listed = limit.Attribute("unlimited");
  if (listed == nullptr) return false;
  std::istringstream words(listed);
  for (std::string word; words >> word;) {
    if (word == bound) return true;
  }
  return false;
}

DofLimits<double> read_bounds(ReadContext& context, const Element& limit) {
  context.xml.expect_attributes(limit, {"lower", "upper", "effort", "velocity", "acceleration",
                                        "deceleration", "jerk", "unlimited", "dof"});
  const auto bound = [&](const char* name) {
    return is_unlimited(limit, name) ? std::nullopt : context.xml.number(limit, name);
  };
  DofLimits<double> limits;
  limits.lower = bound("lower");
  limits.upper = bound("upper");
  limits.velocity = bound("velocity");
  limits.effort = bound("effort");
  return limits;
}

bool is_empty(const DofLimits<double>& l) {
  return !l.lower && !l.upper && !l.velocity && !l.effort;
}

/// <limit> of revolute and prismatic joints: URDF requires or defaults all four bounds.
void complete_bounds(ReadContext& context, const Element& joint, const Element& limit,
                     DofLimits<double>& limits) {
  const auto is_absent = [&](const char* name) {
    return limit.Attribute(name) == nullptr && !is_unlimited(limit, name);
  };
  if (is_absent("lower")) limits.lower = 0;
  if (is_absent("upper")) limits.upper = 0;
  for (const char* name : {"effort", "velocity"}) {
    if (!is_absent(name)) continue;
    context.xml.add(Severity::warning, limit, "limit-incomplete",
                    fmt::format("{}: <limit> has no attribute '{}'", XmlReader::title(joint), name),
                    "URDF requires it; it is taken as unlimited");
  }
}

/// One <limit dof="i"> per degree of freedom: an extension, as such joints have no limits in URDF.
void read_dof_limits(ReadContext& context, const Element& element,
                     JointDescription<double>& joint) {
  const auto nv = static_cast<std::size_t>(joint_nv(joint.type));
  std::vector<DofLimits<double>> limits(nv);
  for (const Element* e = element.FirstChildElement("limit"); e != nullptr;
       e = e->NextSiblingElement("limit")) {
    if (e->Attribute("dof") == nullptr) {
      context.xml.add(Severity::note, *e, "limit-ignored",
                      fmt::format("{}: <limit> of a {} joint has no meaning in URDF",
                                  XmlReader::title(element), element.Attribute("type")),
                      "it is ignored");
      continue;
    }
    const double dof = context.xml.number(*e, "dof").value_or(0);
    const auto index = static_cast<std::size_t>(std::clamp(dof, 0.0, double(nv)));
    if (double(index) != dof || index >= nv) {
      context.xml.add(Severity::error, *e, "dof-unknown",
                      fmt::format("{}: <limit> is for degree of freedom {}, expected 0 to {}",
                                  XmlReader::title(element), to_text(dof), nv - 1),
                      "the joint has no such degree of freedom");
      continue;
    }
    limits[index] = read_bounds(context, *e);
  }
  if (!std::all_of(limits.begin(), limits.end(), is_empty)) joint.limits = std::move(limits);
}

void read_limits(ReadContext& context, const Element& element, JointDescription<double>& joint) {
  if (joint_nv(joint.type) == 0) return;  // exporters leave them in fixed joints
  if (joint_nv(joint.type) > 1) return read_dof_limits(context, element, joint);
  const bool is_required = joint.type == JointType::revolute || joint.type == JointType::prismatic;
  const Element* limit = context.only_child(element, "limit");
  if (limit == nullptr) {
    if (is_required) {
      context.xml.add(
          Severity::error, element, "limit-missing",
          fmt::format("{}: a {} joint needs <limit>", XmlReader::title(element),
                      to_text(joint.type)),
          "URDF requires its range, effort and velocity",
          joint.type == JointType::revolute
              ? "type=\"continuous\", or <limit lower=\"\" upper=\"\" effort=\"\" velocity=\"\"/>"
              : "<limit lower=\"\" upper=\"\" effort=\"\" velocity=\"\"/>");
    }
    return;
  }
  DofLimits<double> limits = read_bounds(context, *limit);
  if (is_required) complete_bounds(context, element, *limit, limits);
  if (joint.type == JointType::continuous && (limits.lower || limits.upper)) {
    context.xml.add(Severity::note, *limit, "limit-ignored",
                    fmt::format("{}: a continuous joint has no range, lower and upper are ignored",
                                XmlReader::title(element)),
                    "URDF gives the range to revolute joints only",
                    "type=\"revolute\" if the range is meant");
    limits.lower = limits.upper = std::nullopt;
  }
  if (!is_empty(limits)) joint.limits = {limits};
}

void read_dynamics(ReadContext& context, const Element& element, JointDescription<double>& joint) {
  const Element* dynamics = context.only_child(element, "dynamics");
  if (dynamics == nullptr || joint.type == JointType::fixed) return;
  context.xml.expect_attributes(*dynamics, {"damping", "friction", "armature"});
  joint.damping = context.xml.number(*dynamics, "damping").value_or(0);
  joint.friction = context.xml.number(*dynamics, "friction").value_or(0);
  joint.armature = context.xml.number(*dynamics, "armature").value_or(0);
}

/// Several <mimic> are an extension of limb: the joint follows their sum.
void read_mimic(ReadContext& context, const Element& element, const std::string& joint,
                Description<double>& robot) {
  CouplingDescription<double> coupling;
  coupling.joint = joint;
  for (const Element* e = element.FirstChildElement("mimic"); e != nullptr;
       e = e->NextSiblingElement("mimic")) {
    context.xml.expect_attributes(*e, {"joint", "multiplier", "offset"});
    if (coupling.terms.empty()) coupling.source = context.file.source(*e);
    coupling.terms.push_back(
        {context.xml.required(*e, "joint"), context.xml.number(*e, "multiplier").value_or(1)});
    coupling.offset += context.xml.number(*e, "offset").value_or(0);
  }
  if (!coupling.terms.empty()) robot.couplings.push_back(std::move(coupling));
}

std::string read_link_name(ReadContext& context, const Element& joint, const char* tag) {
  const Element* element = context.required_child(joint, tag, XmlReader::title(joint));
  if (element == nullptr) return {};
  context.xml.expect_attributes(*element, {"link"});
  return context.xml.required(*element, "link");
}

/// <mechanicalReduction> directly below `element`, or nullopt.
std::optional<double> read_reduction(ReadContext& context, const Element& element) {
  const Element* reduction = element.FirstChildElement("mechanicalReduction");
  if (reduction == nullptr) return std::nullopt;
  const char* text = reduction->GetText();
  const auto value = parse_number(text == nullptr ? "" : text);
  if (!value) {
    context.xml.add(Severity::warning, *reduction, "reduction-not-a-number",
                    fmt::format("<mechanicalReduction> is '{}', expected a finite number",
                                shorten(text == nullptr ? "" : text)),
                    "the gear is taken as 1");
  }
  return value.value_or(1);
}

}  // namespace

void read_joint(ReadContext& context, const Element& element, Description<double>& robot) {
  XmlReader& xml = context.xml;
  xml.expect_attributes(element, {"name", "type", "dont_collapse"});
  xml.expect_children(element, {"origin", "parent", "child", "axis", "axis2", "limit", "dynamics",
                                "mimic", "calibration", "safety_controller"});
  JointDescription<double> joint;
  joint.source = context.file.source(element);
  joint.name = xml.required(element, "name");
  joint.type = read_type(context, element);
  joint.parent = read_link_name(context, element, "parent");
  joint.child = read_link_name(context, element, "child");
  joint.X_PJ = context.origin(element, &joint.rpy);
  if (has_axis(joint.type)) joint.axis = read_axis(context, element, "axis", joint.axis);
  if (joint.type == JointType::universal) {
    joint.axis2 = read_axis(context, element, "axis2", joint.axis2);
  }
  if (joint.type == JointType::helical) {
    const Element* axis = element.FirstChildElement("axis");
    if (axis != nullptr) joint.pitch = xml.number(*axis, "pitch").value_or(0);
  }
  read_limits(context, element, joint);
  read_dynamics(context, element, joint);
  read_mimic(context, element, joint.name, robot);
  robot.joints.push_back(std::move(joint));
}

std::vector<ActuationDescription> read_transmissions(ReadContext& context, const Element& element) {
  std::vector<ActuationDescription> actuators;
  std::unordered_set<std::string> seen;
  for (const Element* t = element.FirstChildElement("transmission"); t != nullptr;
       t = t->NextSiblingElement("transmission")) {
    // The gear is below the actuator or, in the older form, below the transmission; a differential
    // lists its joints and actuators in the same order.
    const auto common = read_reduction(context, *t);
    const Element* actuator = t->FirstChildElement("actuator");
    for (const Element* j = t->FirstChildElement("joint"); j != nullptr;
         j = j->NextSiblingElement("joint")) {
      const auto own = actuator == nullptr ? std::nullopt : read_reduction(context, *actuator);
      if (actuator != nullptr) actuator = actuator->NextSiblingElement("actuator");
      const std::string name = context.xml.required(*j, "name");
      if (name.empty() || !seen.insert(name).second) continue;
      actuators.push_back({name, own.value_or(common.value_or(1)), context.file.source(*j)});
    }
  }
  return actuators;
}

}  // namespace limb::urdf
