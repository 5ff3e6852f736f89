#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <unordered_set>

#include "limb/base/nearest.hpp"
#include "limb/base/number.hpp"
#include "limb/model/read_urdf_parts.hpp"

namespace limb::urdf {
namespace {

using Severity = Diagnostic::Severity;

/// The type as URDF writes it; the last five are limb's own.
const std::vector<std::string>& type_names() {
  static const std::vector<std::string> names = {
      "revolute",  "continuous", "prismatic",   "fixed",   "floating",   "planar",
      "spherical", "universal",  "cylindrical", "helical", "translation"};
  return names;
}

JointType read_type(Reading& reading, const Element& element) {
  const std::string name = reading.xml.required(element, "type");
  if (name == "floating") return JointType::free;
  const auto& known = type_names();
  const bool is_known = std::find(known.begin(), known.end(), name) != known.end();
  if (is_known) return *joint_type_from_text(name);
  if (!name.empty()) {
    const std::string close = nearest(name, known);
    reading.xml.add(
        Severity::error, element, "joint-type-unknown",
        fmt::format("{}: unknown type '{}'{}, expected one of {}", XmlReader::title(element),
                    shorten(name), close.empty() ? "" : fmt::format(" (closest: '{}')", close),
                    fmt::join(known, ", ")),
        "how the child moves is not known", close.empty() ? "" : fmt::format("type=\"{}\"", close));
  }
  return JointType::fixed;
}

bool has_axis(JointType type) {
  return type != JointType::fixed && type != JointType::free && type != JointType::spherical &&
         type != JointType::translation;
}

/// The direction below <axis> or <axis2>, of length 1; `otherwise` where none is written.
Vector3<double> read_axis(Reading& reading, const Element& joint, const char* tag,
                          const Vector3<double>& otherwise) {
  const Element* element = reading.only_child(joint, tag);
  if (element == nullptr) return otherwise;
  reading.xml.expect_attributes(*element, {"xyz", "pitch"});
  const auto xyz = reading.xml.numbers(*element, "xyz", 3);
  if (!xyz) return otherwise;
  const Vector3<double> axis((*xyz)[0], (*xyz)[1], (*xyz)[2]);
  const double largest = axis.cwiseAbs().maxCoeff();
  if (largest == 0) {
    reading.xml.add(Severity::error, *element, "axis-zero",
                    fmt::format("{}: {} is 0 0 0", XmlReader::title(joint), tag),
                    "a joint cannot move about or along no direction",
                    fmt::format("<{} xyz=\"{}\"/>", tag, otherwise[0] == 1 ? "1 0 0" : "0 1 0"));
    return otherwise;
  }
  // What is of length 1 up to rounding stays bit for bit, so that a written file reads back equal.
  const double squared = axis.squaredNorm();
  if (std::abs(squared - 1) <= 4 * epsilon<double>()) return axis;
  const Vector3<double> unit = (axis / largest).normalized();  // no overflow on the way
  const double length = axis.stableNorm();
  // Six digits of a unit vector leave up to 1e-6 in its length.
  if (!(std::abs(length - 1) < 1e-5)) {
    reading.xml.add(Severity::warning, *element, "axis-not-unit",
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

DofLimits<double> read_bounds(Reading& reading, const Element& limit) {
  reading.xml.expect_attributes(limit, {"lower", "upper", "effort", "velocity", "acceleration",
                                        "deceleration", "jerk", "unlimited", "dof"});
  const auto bound = [&](const char* name) {
    return is_unlimited(limit, name) ? std::nullopt : reading.xml.number(limit, name);
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

/// <limit> of revolute and prismatic joints: all four bounds are URDF's to require or to default.
void complete_bounds(Reading& reading, const Element& joint, const Element& limit,
                     DofLimits<double>& limits) {
  const auto is_absent = [&](const char* name) {
    return limit.Attribute(name) == nullptr && !is_unlimited(limit, name);
  };
  if (is_absent("lower")) limits.lower = 0;
  if (is_absent("upper")) limits.upper = 0;
  for (const char* name : {"effort", "velocity"}) {
    if (!is_absent(name)) continue;
    reading.xml.add(Severity::warning, limit, "limit-incomplete",
                    fmt::format("{}: <limit> has no attribute '{}'", XmlReader::title(joint), name),
                    "URDF requires it; it is taken as unlimited");
  }
}

/// One <limit dof="i"> a degree of freedom: limb's own, as URDF gives such joints no limits.
void read_dof_limits(Reading& reading, const Element& element, JointDescription<double>& joint) {
  const auto nv = static_cast<std::size_t>(joint_nv(joint.type));
  std::vector<DofLimits<double>> limits(nv);
  for (const Element* e = element.FirstChildElement("limit"); e != nullptr;
       e = e->NextSiblingElement("limit")) {
    if (e->Attribute("dof") == nullptr) {
      reading.xml.add(Severity::note, *e, "limit-ignored",
                      fmt::format("{}: <limit> of a {} joint has no meaning in URDF",
                                  XmlReader::title(element), element.Attribute("type")),
                      "it is ignored");
      continue;
    }
    const double dof = reading.xml.number(*e, "dof").value_or(0);
    const auto index = static_cast<std::size_t>(std::clamp(dof, 0.0, double(nv)));
    if (double(index) != dof || index >= nv) {
      reading.xml.add(Severity::error, *e, "dof-unknown",
                      fmt::format("{}: <limit> is for degree of freedom {}, expected 0 to {}",
                                  XmlReader::title(element), to_text(dof), nv - 1),
                      "the joint has no such degree of freedom");
      continue;
    }
    limits[index] = read_bounds(reading, *e);
  }
  if (!std::all_of(limits.begin(), limits.end(), is_empty)) joint.limits = std::move(limits);
}

void read_limits(Reading& reading, const Element& element, JointDescription<double>& joint) {
  if (joint_nv(joint.type) == 0) return;  // exporters leave them in fixed joints
  if (joint_nv(joint.type) > 1) return read_dof_limits(reading, element, joint);
  const bool is_required = joint.type == JointType::revolute || joint.type == JointType::prismatic;
  const Element* limit = reading.only_child(element, "limit");
  if (limit == nullptr) {
    if (is_required) {
      reading.xml.add(
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
  DofLimits<double> limits = read_bounds(reading, *limit);
  if (is_required) complete_bounds(reading, element, *limit, limits);
  if (joint.type == JointType::continuous && (limits.lower || limits.upper)) {
    reading.xml.add(Severity::note, *limit, "limit-ignored",
                    fmt::format("{}: a continuous joint has no range, lower and upper are ignored",
                                XmlReader::title(element)),
                    "URDF gives the range to revolute joints only",
                    "type=\"revolute\" if the range is meant");
    limits.lower = limits.upper = std::nullopt;
  }
  if (!is_empty(limits)) joint.limits = {limits};
}

void read_dynamics(Reading& reading, const Element& element, JointDescription<double>& joint) {
  const Element* dynamics = reading.only_child(element, "dynamics");
  if (dynamics == nullptr || joint.type == JointType::fixed) return;
  reading.xml.expect_attributes(*dynamics, {"damping", "friction", "armature"});
  joint.damping = reading.xml.number(*dynamics, "damping").value_or(0);
  joint.friction = reading.xml.number(*dynamics, "friction").value_or(0);
  joint.armature = reading.xml.number(*dynamics, "armature").value_or(0);
}

/// Several <mimic> are limb's own: the joint follows the sum of them.
void read_mimic(Reading& reading, const Element& element, const std::string& joint,
                Description<double>& robot) {
  CouplingDescription<double> coupling;
  coupling.joint = joint;
  for (const Element* e = element.FirstChildElement("mimic"); e != nullptr;
       e = e->NextSiblingElement("mimic")) {
    reading.xml.expect_attributes(*e, {"joint", "multiplier", "offset"});
    if (coupling.terms.empty()) coupling.source = reading.file.source(*e);
    coupling.terms.push_back(
        {reading.xml.required(*e, "joint"), reading.xml.number(*e, "multiplier").value_or(1)});
    coupling.offset += reading.xml.number(*e, "offset").value_or(0);
  }
  if (!coupling.terms.empty()) robot.couplings.push_back(std::move(coupling));
}

std::string read_link_name(Reading& reading, const Element& joint, const char* tag) {
  const Element* element = reading.required_child(joint, tag, XmlReader::title(joint));
  if (element == nullptr) return {};
  reading.xml.expect_attributes(*element, {"link"});
  return reading.xml.required(*element, "link");
}

/// <mechanicalReduction> directly below `element`, 1 where there is none.
std::optional<double> read_reduction(Reading& reading, const Element& element) {
  const Element* reduction = element.FirstChildElement("mechanicalReduction");
  if (reduction == nullptr) return std::nullopt;
  const char* text = reduction->GetText();
  const auto value = parse_number(text == nullptr ? "" : text);
  if (!value) {
    reading.xml.add(Severity::warning, *reduction, "reduction-not-a-number",
                    fmt::format("<mechanicalReduction> is '{}', expected a finite number",
                                shorten(text == nullptr ? "" : text)),
                    "the gear is taken as 1");
  }
  return value.value_or(1);
}

}  // namespace

void read_joint(Reading& reading, const Element& element, Description<double>& robot) {
  XmlReader& xml = reading.xml;
  xml.expect_attributes(element, {"name", "type", "dont_collapse"});
  xml.expect_children(element, {"origin", "parent", "child", "axis", "axis2", "limit", "dynamics",
                                "mimic", "calibration", "safety_controller"});
  JointDescription<double> joint;
  joint.source = reading.file.source(element);
  joint.name = xml.required(element, "name");
  joint.type = read_type(reading, element);
  joint.parent = read_link_name(reading, element, "parent");
  joint.child = read_link_name(reading, element, "child");
  joint.X_PJ = reading.origin(element, &joint.rpy);
  if (has_axis(joint.type)) joint.axis = read_axis(reading, element, "axis", joint.axis);
  if (joint.type == JointType::universal) {
    joint.axis2 = read_axis(reading, element, "axis2", joint.axis2);
  }
  if (joint.type == JointType::helical) {
    const Element* axis = element.FirstChildElement("axis");
    if (axis != nullptr) joint.pitch = xml.number(*axis, "pitch").value_or(0);
  }
  read_limits(reading, element, joint);
  read_dynamics(reading, element, joint);
  read_mimic(reading, element, joint.name, robot);
  robot.joints.push_back(std::move(joint));
}

std::vector<ActuationDescription> read_transmissions(Reading& reading, const Element& element) {
  std::vector<ActuationDescription> actuators;
  std::unordered_set<std::string> seen;
  for (const Element* t = element.FirstChildElement("transmission"); t != nullptr;
       t = t->NextSiblingElement("transmission")) {
    // The gear stands below the actuator, or below the whole in the older form; a differential
    // names its joints and actuators in the same order.
    const auto common = read_reduction(reading, *t);
    const Element* actuator = t->FirstChildElement("actuator");
    for (const Element* j = t->FirstChildElement("joint"); j != nullptr;
         j = j->NextSiblingElement("joint")) {
      const auto own = actuator == nullptr ? std::nullopt : read_reduction(reading, *actuator);
      if (actuator != nullptr) actuator = actuator->NextSiblingElement("actuator");
      const std::string name = reading.xml.required(*j, "name");
      if (name.empty() || !seen.insert(name).second) continue;
      actuators.push_back({name, own.value_or(common.value_or(1)), reading.file.source(*j)});
    }
  }
  return actuators;
}

}  // namespace limb::urdf
