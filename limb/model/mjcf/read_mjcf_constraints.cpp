#include "limb/model/mjcf/read_mjcf_constraints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace limb::mjcf {
namespace {

using Loop = LoopDescription<double>;

/// The element that the attribute names, or null and an error; null without error if it is missing.
template <typename Value>
const Value* find(const Attributes& a, const char* attribute, const char* kind,
                  const std::unordered_map<std::string, Value>& known) {
  const std::string name = a.text(attribute);
  const auto found = known.find(name);
  if (found != known.end()) return &found->second;
  if (!a.has(attribute)) return nullptr;
  std::vector<std::string> names;
  if (!a.has_many_diagnostics()) {
    for (const auto& [other, unused] : known) names.push_back(other);
    std::sort(names.begin(), names.end());
  }
  a.error("reference-unknown",
          fmt::format("attribute '{}' is '{}', no such {}{}", attribute, name.substr(0, 60), kind,
                      closest(name, names)),
          "it is not read");
  return nullptr;
}

void missing(const Attributes& a, const char* what) {
  a.error("attribute-missing", fmt::format("has no attribute '{}'", what),
          "without it the element has no meaning");
}

/// Between two sites: their frames coincide.
void read_between_sites(const Attributes& a, Loop loop, ReadContext& context) {
  const auto* site1 = find(a, "site1", "site", context.named.sites);
  const auto* site2 = find(a, "site2", "site", context.named.sites);
  for (const char* name : {"site1", "site2"}) {
    if (!a.has(name)) missing(a, name);
  }
  if (site1 == nullptr || site2 == nullptr) return;
  loop.link_a = site1->link;
  loop.link_b = site2->link;
  loop.X_AL = site1->X_LS;
  loop.X_BL = site2->X_LS;
  context.result.loops.push_back(std::move(loop));
}

/// Between two bodies. Poses that are not written follow from the poses of the bodies in the file.
void read_between_bodies(const Attributes& a, Loop loop, ReadContext& context) {
  if (!a.has("body1")) return missing(a, "body1 or site1");
  const auto* X_WA = find(a, "body1", "body", context.named.bodies);
  const Pose<double> X_WW;
  const auto* X_WB = a.has("body2") ? find(a, "body2", "body", context.named.bodies) : &X_WW;
  if (X_WA == nullptr || X_WB == nullptr) return;
  loop.link_a = a.text("body1");
  loop.link_b = a.text("body2", kWorldLink);
  const Pose<double> X_AB = X_WA->inverse() * *X_WB;
  if (loop.kind == Loop::Kind::connect) {
    if (!a.has("anchor")) return missing(a, "anchor");
    loop.X_AL.p = a.vector("anchor");
    loop.X_BL = X_AB.inverse() * loop.X_AL;
    context.result.loops.push_back(std::move(loop));
    return;
  }
  loop.X_BL.p = a.vector("anchor");
  loop.X_AL = X_AB * loop.X_BL;
  const auto relpose = a.numbers("relpose", 7);
  // A zero quaternion means the relative pose in the file.
  if (relpose &&
      std::any_of(relpose->begin() + 3, relpose->end(), [](double x) { return x != 0; })) {
    const auto& x = *relpose;
    const Vector4<double> wxyz(x[3], x[4], x[5], x[6]);
    loop.X_AL = Pose<double>::from_quaternion(
        Quaternion<double>::from_wxyz(wxyz.stableNormalized()), {x[0], x[1], x[2]});
  }
  context.result.loops.push_back(std::move(loop));
}

bool is_scalar(const JointDescription<double>& joint) {
  return joint.type == JointType::revolute || joint.type == JointType::continuous ||
         joint.type == JointType::prismatic;
}

/// q1 - ref1 = c0 + c1 (q2 - ref2)
void read_joint_equality(const Attributes& a, ReadContext& context) {
  if (!a.has("joint1")) return missing(a, "joint1");
  const auto& joints = context.result.joints;
  const auto* first = find(a, "joint1", "joint", context.named.joints);
  const auto* second = find(a, "joint2", "joint", context.named.joints);
  if (first == nullptr || (a.has("joint2") && second == nullptr)) return;
  if (!is_scalar(joints[first->index]) ||
      (second != nullptr && !is_scalar(joints[second->index]))) {
    return a.error("equality-joint-type", "couples joints that are not hinge or slide",
                   "only joints of one degree of freedom can be coupled");
  }
  std::vector<double> c = {0, 1, 0, 0, 0};
  (void)a.overlay("polycoef", c);
  if (second != nullptr && (c[2] != 0 || c[3] != 0 || c[4] != 0)) {
    return a.warn(
        "equality-not-linear",
        fmt::format("polycoef is [{}]: only the first two numbers can be read", fmt::join(c, ", ")),
        "limb couples joints linearly; this equality is left out");
  }
  CouplingDescription<double> coupling;
  coupling.joint = joints[first->index].name;
  coupling.offset = first->ref + c[0];
  coupling.source = a.node().source();
  if (second != nullptr) {
    coupling.terms.push_back({joints[second->index].name, c[1]});
    coupling.offset -= c[1] * second->ref;
  }
  context.result.couplings.push_back(std::move(coupling));
}

/// Largest magnitude of a range of an actuator; infinite if it is not active. Whether the range is
/// active follows from `limited`: auto means that it is written, and autolimits is on.
double largest_of(const Attributes& a, const char* range_name, const char* limited_name,
                  const Compiler& compiler) {
  constexpr double kUnlimited = std::numeric_limits<double>::infinity();
  const std::string limited = a.keyword(limited_name, {"true", "false", "auto"}, "auto");
  if (limited == "false" || (limited == "auto" && !compiler.autolimits) || !a.has(range_name)) {
    return kUnlimited;
  }
  const auto range = a.numbers(range_name, 2);
  if (!range || ((*range)[0] == 0 && (*range)[1] == 0)) return kUnlimited;
  return std::max(std::abs((*range)[0]), std::abs((*range)[1]));
}

/// Largest force of an actuator, before its gear: 'forcerange', and for one whose force is its
/// control times a gain also 'ctrlrange'.
double largest_force(const Attributes& a, const Compiler& compiler) {
  double force = largest_of(a, "forcerange", "forcelimited", compiler);
  const bool motor = a.node().tag() == "motor";
  const bool direct =
      motor || (a.node().tag() == "general" && a.text("biastype", "none") == "none" &&
                a.text("gaintype", "fixed") == "fixed" && a.text("dyntype", "none") != "muscle");
  if (!direct) return force;
  double gain = 1;
  if (!motor && a.has("gainprm")) {
    std::vector<double> gains(10, 0.0);
    gains[0] = 1;
    (void)a.overlay("gainprm", gains);
    gain = std::abs(gains[0]);
  }
  return std::min(force, gain * largest_of(a, "ctrlrange", "ctrllimited", compiler));
}

/// Lowers the effort limit of a joint to what its actuators can exert together.
void limit_effort(JointDescription<double>& joint, double effort) {
  if (!std::isfinite(effort) || !(effort > 0)) return;
  if (joint.limits.empty()) joint.limits.resize(1);
  std::optional<double>& limit = joint.limits[0].effort;
  limit = std::min(effort, limit.value_or(effort));
}

}  // namespace

void read_equality(const Node& section, ReadContext& context) {
  std::size_t number = 0;
  for (const Node& node : section.children) {
    const std::string_view tag = node.tag();
    const bool loop_like = tag == "connect" || tag == "weld";
    if (!loop_like && tag != "joint") {
      if (tag == "tendon" || tag == "flex" || tag == "flexvert" || tag == "flexstrain" ||
          tag == "distance") {
        add(context.diagnostics, Diagnostic::Severity::warning, node, "element-not-read",
            fmt::format("equality <{}> is not read", tag), "this constraint is left out");
      } else {
        note_unknown_child(context.diagnostics, section, node, {"connect", "weld", "joint"});
      }
      continue;
    }
    expect_attributes(context.diagnostics, node,
                      {"active", "anchor", "body1", "body2", "class", "joint1", "joint2", "name",
                       "polycoef", "relpose", "site1", "site2", "solimp", "solref", "torquescale"});
    const DefaultClass& default_class =
        context.defaults.named_by(node, "class", context.defaults.main(), context.diagnostics);
    const Attributes a(node, "equality", default_class, context.diagnostics);
    ++number;
    if (a.keyword("active", {"true", "false"}, "true") == "false") {
      a.note("equality-not-active", "is not active", "it is left out");
    } else if (loop_like) {
      Loop loop;
      loop.kind = tag == "weld" ? Loop::Kind::weld : Loop::Kind::connect;
      loop.name = name_of(node, context.diagnostics);
      if (loop.name.empty()) loop.name = fmt::format("{}#{}", tag, number);
      loop.source = node.source();
      if (a.has("site1") || a.has("site2")) {
        read_between_sites(a, std::move(loop), context);
      } else {
        read_between_bodies(a, std::move(loop), context);
      }
    } else {
      read_joint_equality(a, context);
    }
  }
}

void read_actuators(const Node& section, ReadContext& context) {
  std::map<std::size_t, double> effort;  // of each driven joint
  for (const Node& node : section.children) {
    if (default_tag(node.tag()) != "actuator") {
      note_unknown_child(context.diagnostics, section, node,
                         {"motor", "position", "velocity", "general", "intvelocity", "damper",
                          "cylinder", "muscle", "adhesion", "plugin"});
      continue;
    }
    const DefaultClass& default_class =
        context.defaults.named_by(node, "class", context.defaults.main(), context.diagnostics);
    const Attributes a(node, "actuator", default_class, context.diagnostics);
    const char* attribute = a.has("joint") ? "joint" : "jointinparent";
    if (!a.has(attribute)) {
      a.note("actuator-not-read", "drives no joint, and is not read",
             "limb reads only actuators of joints, not of tendons, sites and bodies");
      continue;
    }
    const auto* joint = find(a, attribute, "joint", context.named.joints);
    if (joint == nullptr) continue;
    JointDescription<double>& driven = context.result.joints[joint->index];
    std::vector<double> gear = {1, 0, 0, 0, 0, 0};
    (void)a.overlay("gear", gear);
    if (!is_scalar(driven) &&
        std::any_of(gear.begin() + 1, gear.end(), [](double x) { return x != 0; })) {
      a.note("gear-not-read", "only the first number of 'gear' is read",
             "the axis of an actuator of a ball or free joint is not modelled");
    }
    if (is_scalar(driven)) {
      std::vector<double> damping = {0, 0, 0};
      (void)a.overlay("damping", damping);
      driven.armature += gear[0] * gear[0] * a.number("armature", 0);
      driven.damping += gear[0] * gear[0] * damping[0];
      effort[joint->index] += std::abs(gear[0]) * largest_force(a, context.compiler);
    }
    context.result.actuators.push_back({driven.name, gear[0], node.source()});
  }
  for (const auto& [index, most] : effort) limit_effort(context.result.joints[index], most);
}

}  // namespace limb::mjcf
