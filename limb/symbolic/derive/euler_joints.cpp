#include "limb/symbolic/derive/euler_joints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace limb::symbolic {
namespace {

constexpr const char* kRootJoint = "root_joint";  // as in build_model()
/// Three angles of the base in every entry make closed forms long.
constexpr std::size_t kMaxJointsOnEulerAngles = 3;

using T = Polynomial;
using JointD = JointDescription<T>;

bool is_manifold(JointType type) {
  return type == JointType::free || type == JointType::planar || type == JointType::spherical;
}

/// The joints of a free base, as build_model() makes them from the option.
void apply_base(Description<T>& d, Base base) {
  if (base == Base::fixed) {
    for (JointD& joint : d.joints) {
      if (joint.parent == kWorldLink && joint.type == JointType::free) {
        joint.type = JointType::fixed;
      }
    }
  }
  if (base != Base::free) return;
  const bool has_world = std::any_of(d.joints.begin(), d.joints.end(), [](const JointD& joint) {
    return joint.parent == kWorldLink;
  });
  if (has_world) {
    for (JointD& joint : d.joints) {
      if (joint.parent != kWorldLink || joint.type != JointType::fixed) continue;
      joint.type = JointType::free;
      joint.name = kRootJoint;
    }
    return;
  }
  std::set<std::string> children;
  for (const JointD& joint : d.joints) children.insert(joint.child);
  std::vector<JointD> roots;
  for (const auto& link : d.links) {
    if (children.contains(link.name) || link.name == kWorldLink) continue;
    JointD root;
    root.name = kRootJoint;
    root.type = JointType::free;
    root.parent = kWorldLink;
    root.child = link.name;
    root.source = link.source;
    roots.push_back(std::move(root));
  }
  d.joints.insert(d.joints.begin(), roots.begin(), roots.end());
}

void add_actuator(Description<T>& d, const std::string& joint) {
  ActuationDescription actuator;
  actuator.joint = joint;
  d.actuators.push_back(std::move(actuator));
}

struct Step {
  const char* suffix;
  JointType type;
  Vector3<T> axis;
};

std::vector<Step> steps_of(const JointD& joint) {
  const auto unit = [](int i) { return Vector3<T>(Vector3<T>::Unit(i)); };
  if (joint.type == JointType::planar) {
    const Matrix3<T> plane = Joint<T>::planar(joint.axis).plane();
    return {{"_x", JointType::prismatic, plane.col(0)},
            {"_y", JointType::prismatic, plane.col(1)},
            {"_angle", JointType::continuous, joint.axis}};
  }
  std::vector<Step> steps;
  if (joint.type == JointType::free) {
    steps = {{"_x", JointType::prismatic, unit(0)},
             {"_y", JointType::prismatic, unit(1)},
             {"_z", JointType::prismatic, unit(2)}};
  }
  steps.push_back({"_yaw", JointType::continuous, unit(2)});
  steps.push_back({"_pitch", JointType::continuous, unit(1)});
  steps.push_back({"_roll", JointType::continuous, unit(0)});
  return steps;
}

}  // namespace

void replace_manifold_joints(Description<T>& d, Base base, std::vector<std::string>& notes) {
  apply_base(d, base);
  if (std::none_of(d.joints.begin(), d.joints.end(),
                   [](const JointD& joint) { return is_manifold(joint.type); })) {
    return;
  }
  const auto moving = static_cast<std::size_t>(
      std::count_if(d.joints.begin(), d.joints.end(),
                    [](const JointD& joint) { return joint.type != JointType::fixed; }));
  for (const JointD& joint : d.joints) {
    const bool angles = joint.type == JointType::free || joint.type == JointType::spherical;
    if (!angles || moving <= 1 + kMaxJointsOnEulerAngles) continue;
    throw Error(fmt::format(
        "symbolic: joint '{}' is {} and the robot has {} other joints, expected at most {}: its "
        "closed form is too long (use the recursive form)",
        joint.name, limb::to_text(joint.type), moving - 1, kMaxJointsOnEulerAngles));
  }
  // Without actuators in the file every joint except a free base has a motor.
  const bool all_driven = d.actuators.empty();
  std::vector<JointD> joints;
  for (const JointD& joint : d.joints) {
    if (!is_manifold(joint.type)) {
      if (all_driven && joint.type != JointType::fixed) add_actuator(d, joint.name);
      joints.push_back(joint);
      continue;
    }
    const bool driven = all_driven
                            ? joint.type != JointType::free
                            : std::any_of(d.actuators.begin(), d.actuators.end(),
                                          [&](const auto& a) { return a.joint == joint.name; });
    std::erase_if(d.actuators, [&](const auto& a) { return a.joint == joint.name; });
    if (!joint.damping.is_zero() || !joint.friction.is_zero() || !joint.armature.is_zero()) {
      throw Error(fmt::format(
          "symbolic: joint '{}' is {} and has armature, damping or friction: it has no closed form "
          "(use the recursive form)",
          joint.name, limb::to_text(joint.type)));
    }
    const std::vector<Step> steps = steps_of(joint);
    std::string parent = joint.parent;
    for (std::size_t k = 0; k < steps.size(); ++k) {
      JointD next;
      next.name = joint.name + steps[k].suffix;
      next.type = steps[k].type;
      next.axis = steps[k].axis;
      next.source = joint.source;
      next.parent = parent;
      const bool last = k + 1 == steps.size();
      if (k == 0) next.X_PJ = joint.X_PJ;
      if (k == 0) next.rpy = joint.rpy;
      if (last) next.X_JC = joint.X_JC;
      next.child = last ? joint.child : next.name + "_link";
      if (!last) d.links.push_back({next.child, std::nullopt, {}, joint.source});
      parent = next.child;
      if (driven) add_actuator(d, next.name);
      joints.push_back(std::move(next));
    }
    if (joint.type != JointType::planar) {
      notes.push_back(fmt::format(
          "joint '{}' is {}: its orientation is written with yaw, pitch and roll, which are "
          "singular at a pitch of 90 degrees; forces are those on these coordinates",
          joint.name, limb::to_text(joint.type)));
    }
  }
  d.joints = std::move(joints);
}

}  // namespace limb::symbolic
