#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limb/model/mjcf/read_mjcf_body.hpp"

namespace limb::mjcf {
namespace {

JointType joint_type(std::string_view word) {
  return word == "slide"  ? JointType::prismatic
         : word == "ball" ? JointType::spherical
         : word == "free" ? JointType::free
                          : JointType::revolute;
}

/// The range if it is active; an error where that is not known.
std::optional<std::vector<double>> checked_range(const Attributes& a, const char* range_name,
                                                 const char* limited_name,
                                                 const Compiler& compiler) {
  const std::string limited = a.keyword(limited_name, {"true", "false", "auto"}, "auto");
  if (limited == "true" && !a.has(range_name)) {
    a.error("range-missing",
            fmt::format("{} is 'true' and '{}' is missing", limited_name, range_name),
            "the limits are not known");
  }
  if (limited == "auto" && a.has(range_name) && !compiler.autolimits && a.numbers(range_name, 2)) {
    a.error(
        "limited-missing",
        fmt::format("'{}' is given, '{}' is not, and autolimits is off", range_name, limited_name),
        "it is not known whether the range is active",
        fmt::format("write {}=\"true\" or \"false\"", limited_name));
  }
  return active_range(a, range_name, limited_name, compiler);
}

void read_limits(const Attributes& a, const Compiler& compiler, JointDescription<double>& joint) {
  DofLimits<double> limits;
  const bool angle = joint.type == JointType::revolute;
  if (joint.type == JointType::spherical) {
    const bool forced = a.keyword("limited", {"true", "false", "auto"}, "auto") == "true";
    const auto range = active_range(a, "range", "limited", compiler);
    if (forced || range) {
      a.error(
          "range-not-supported",
          fmt::format("the range of a ball joint, {}, is not supported", range ? (*range)[1] : 0.0),
          "limb limits single degrees of freedom, not the angle of a ball joint");
    }
  } else if (const auto range = checked_range(a, "range", "limited", compiler)) {
    if (angle || joint.type == JointType::prismatic) {
      const double unit = angle ? compiler.angle_unit : 1;
      limits.lower = unit * (*range)[0];
      limits.upper = unit * (*range)[1];
    }
  }
  if (const auto force = checked_range(a, "actuatorfrcrange", "actuatorfrclimited", compiler)) {
    limits.effort = std::max(std::abs((*force)[0]), std::abs((*force)[1]));
    if ((*force)[0] != -(*force)[1]) {
      a.note("effort-not-symmetric",
             fmt::format("actuatorfrcrange is {} to {}; {} is used in both directions", (*force)[0],
                         (*force)[1], *limits.effort),
             "limb has one effort limit");
    }
  }
  if (angle && !limits.lower) joint.type = JointType::continuous;
  if (limits.lower || limits.effort) joint.limits = {limits};
}

void read_dynamics(const Attributes& a, const Compiler& compiler, JointDescription<double>& joint) {
  joint.damping = a.linear_coefficient("damping");
  joint.armature = a.number("armature", 0);
  joint.friction = a.number("frictionloss", 0);
  joint.stiffness = a.linear_coefficient("stiffness");
  if (joint.stiffness < 0) {
    a.error("stiffness-negative",
            fmt::format("stiffness is {}, expected 0 or more", joint.stiffness),
            "the spring would push the joint away");
    joint.stiffness = 0;
  }
  const bool angle = joint.type == JointType::revolute;
  joint.spring_rest = (angle ? compiler.angle_unit : 1) * a.number("springref", 0);
  if (joint.stiffness != 0 && !angle && joint.type != JointType::prismatic) {
    a.error("spring-not-supported", "a spring of a ball or free joint is not supported",
            "the motion would differ", "remove 'stiffness'");
    joint.stiffness = 0;
  }
}

/// Replaces stiffness and damping of the joint, which need all masses (set_spring_dampers).
void read_spring_damper(const Attributes& a, BodyJoint& joint) {
  std::vector<double> values = {0, 0};
  (void)a.overlay("springdamper", values);
  if (!(values[0] > 0 && values[1] > 0)) return;
  JointDescription<double>& d = joint.description;
  if (d.type == JointType::spherical || d.type == JointType::free) {
    a.error("spring-not-supported", "'springdamper' of a ball or free joint is not supported",
            "the motion would differ", "remove 'springdamper'");
    return;
  }
  joint.spring_damper = SpringDamper{values[0], values[1]};
  d.stiffness = d.damping = 0;
}

}  // namespace

BodyJoint read_joint(const Node& node, const DefaultClass& default_class, const Pose<double>& X_BF,
                     ReadContext& context) {
  BodyJoint joint;
  JointDescription<double>& d = joint.description;
  d.name = context.name_of_copy(node);
  d.source = node.source();
  joint.named = !d.name.empty();
  if (node.tag() == "freejoint") {
    expect_attributes(context.diagnostics, node, {"align", "group", "name"});
    d.type = JointType::free;
    const Attributes a(node, context.diagnostics);
    if (a.keyword("align", {"true", "false", "auto"}, "auto") == "true") {
      a.warn("alignfree-not-read", "attribute 'align' is not read",
             "MuJoCo moves the body's frame to its mass centre, limb does not");
    }
    return joint;
  }
  expect_attributes(context.diagnostics, node,
                    {"actuatorfrclimited",
                     "actuatorfrcrange",
                     "actuatorgravcomp",
                     "armature",
                     "axis",
                     "class",
                     "damping",
                     "frictionloss",
                     "group",
                     "limited",
                     "margin",
                     "name",
                     "pos",
                     "range",
                     "ref",
                     "solimpfriction",
                     "solimplimit",
                     "solreffriction",
                     "solreflimit",
                     "springdamper",
                     "springref",
                     "springyield",
                     "stiffness",
                     "type",
                     "user"});
  const Attributes a(node, "joint", default_class, context.diagnostics);
  d.type = joint_type(a.keyword("type", {"free", "ball", "slide", "hinge"}, "hinge"));
  read_dynamics(a, context.compiler, d);
  read_spring_damper(a, joint);
  if (d.type == JointType::free) {  // without limits, whatever its class says
    return joint;
  }
  read_limits(a, context.compiler, d);

  joint.pos = X_BF * a.vector("pos");
  if (d.type == JointType::spherical) return joint;
  // MJCF gives a direction of any length; a zero one stays zero for the structure check.
  const Vector3<double> axis = X_BF.R * a.vector("axis", Vector3<double>::UnitZ());
  d.axis = axis.norm() > 1e-15 ? Vector3<double>(axis.normalized()) : Vector3<double>::Zero();
  const double unit = d.type == JointType::prismatic ? 1 : context.compiler.angle_unit;
  joint.ref = unit * a.number("ref", 0);
  return joint;
}

}  // namespace limb::mjcf
