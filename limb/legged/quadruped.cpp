#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "limb/base/check.hpp"
#include "limb/dynamics/constraints/actuated.hpp"
#include "limb/legged/find_feet.hpp"
#include "limb/legged/legged_robot.hpp"
#include "limb/legged/standing_posture.hpp"
#include "limb/model/core/load.hpp"
#include "limb/model/core/operations.hpp"

namespace limb {
namespace {

constexpr const char* kCall = "load_quadruped";

Base base_of(const Description<double>& robot) {
  const bool has_base = std::any_of(robot.joints.begin(), robot.joints.end(),
                                    [](const auto& j) { return j.type == JointType::free; });
  return has_base ? Base::described : Base::free;
}

/// Links at and below this one.
std::set<std::string> links_below(const Description<double>& robot, const std::string& link) {
  std::set<std::string> below = {link};
  for (std::size_t before = 0; before != below.size();) {
    before = below.size();
    for (const auto& joint : robot.joints) {
      if (below.count(joint.parent) != 0) below.insert(joint.child);
    }
  }
  return below;
}

/// The largest robot of a scene: the one with the most links.
Description<double> without_scene(Description<double> robot, std::vector<std::string>& remarks) {
  std::string largest;
  std::size_t most = 0, count = 0;
  std::vector<std::string> roots;
  for (const auto& joint : robot.joints) {
    if (joint.parent != kWorldLink || joint.type == JointType::fixed) continue;
    roots.push_back(joint.child);
    const std::size_t links = links_below(robot, joint.child).size();
    if (links > most) largest = joint.child;
    most = std::max(most, links);
    ++count;
  }
  if (count < 2) return robot;
  std::erase(roots, largest);
  remarks.push_back(
      fmt::format("left out, not connected with '{}': {}", largest, fmt::join(roots, ", ")));
  Description<double> alone = extract_subtree(robot, largest);
  alone.name = robot.name;
  return alone;
}

/// Joints of the robot that move a foot.
std::set<std::string> leg_joints(const Model<double>& model, const std::vector<FoundFoot>& feet) {
  std::set<std::string> names;
  for (const FoundFoot& foot : feet) {
    const BodyId body = model.frame(model.find_frame(foot.frame)).body;
    for (const BodyId id : bodies_to(model, body)) names.insert(model.body(id).name);
  }
  return names;
}

/// Locks joints that are in no leg and that cannot be controlled one by one.
Description<double> lock_uncontrolled(const Description<double>& robot, const Model<double>& model,
                                      const std::set<std::string>& legs,
                                      std::vector<std::string>& remarks) {
  std::set<std::string> followers, leaders;
  for (const auto& coupling : robot.couplings) {
    followers.insert(coupling.joint);
    for (const auto& term : coupling.terms) leaders.insert(term.joint);
  }
  std::map<std::string, std::vector<double>> positions;
  VectorX<double> neutral = model.without_couplings().neutral();
  for (std::size_t i = 2; i < model.bodies().size(); ++i) {
    const Body<double>& body = model.bodies()[i];
    if (legs.count(body.name) != 0 || followers.count(body.name) != 0) continue;
    const bool driven = model.actuated()[static_cast<std::size_t>(body.v_start)];
    if (body.joint.nq() == 1 && driven && leaders.count(body.name) == 0) continue;
    std::vector<double>& q = positions[body.name];
    for (int k = 0; k < body.joint.nq(); ++k) q.push_back(neutral[body.q_start + k]);
    if (q.size() == 1) {
      q[0] = std::max(q[0], body.limits[0].lower.value_or(q[0]));
      q[0] = std::min(q[0], body.limits[0].upper.value_or(q[0]));
    }
  }
  if (positions.empty()) return robot;
  std::vector<std::string> names;
  for (const auto& [name, unused] : positions) names.push_back(name);
  remarks.push_back(fmt::format("locked, because they cannot be controlled one by one: {}",
                                fmt::join(names, ", ")));
  return lock_joints(robot, positions);
}

/// A file that lists the motors of an arm only, as URDF transmissions often do: leg joints with
/// effort limits have motors too.
void add_leg_motors(Description<double>& robot, const std::set<std::string>& legs,
                    std::vector<std::string>& remarks) {
  const bool some = std::any_of(robot.actuators.begin(), robot.actuators.end(),
                                [&](const auto& motor) { return legs.count(motor.joint) != 0; });
  if (robot.actuators.empty() || some) return;
  for (const auto& joint : robot.joints) {
    if (legs.count(joint.name) == 0) continue;
    if (joint.limits.empty() || !(joint.limits[0].effort.value_or(0) > 0)) return;
  }
  for (const std::string& name : legs) robot.actuators.push_back({name, 1, {}});
  remarks.push_back("the file names motors, but not those of the legs; their effort limits count");
}

void check_legs(const Model<double>& model, const std::vector<FoundFoot>& feet) {
  const std::string who = "robot '" + model.name() + "'";
  const char* expected = "four legs of three joints each";
  std::vector<std::string> passive;
  for (const FoundFoot& foot : feet) {
    int joints = 0;
    for (const BodyId id : bodies_to(model, model.frame(model.find_frame(foot.frame)).body)) {
      const Body<double>& body = model.body(id);
      if (body.joint.nq() != 1) {
        fail(kCall, who,
             fmt::format("one whose leg joint '{}' has several degrees of freedom", body.name),
             "joints with one");
      }
      if (!model.actuated()[static_cast<std::size_t>(body.v_start)]) passive.push_back(body.name);
      ++joints;
    }
    if (joints < 3) {
      fail(kCall, who,
           fmt::format("one with {} joint{} in the leg of '{}'", joints, joints == 1 ? "" : "s",
                       foot.frame),
           expected, "a foot that is placed in three directions needs three joints");
    }
  }
  if (!passive.empty()) {
    if (passive.size() > 4) {
      const std::size_t rest = passive.size() - 3;
      passive.resize(3);
      passive.push_back(fmt::format("{} more", rest));
    }
    fail(kCall, who, fmt::format("one without motors in {}", fmt::join(passive, ", ")),
         "a motor in each joint of the legs");
  }
  if (model.nv() != model.uncoupled_nv()) {
    fail(kCall, who, "one with coupled joints in its legs", "joints that move independently");
  }
}

void remark_limits(const Model<double>& model, std::vector<std::string>& remarks) {
  int unlimited = 0;
  for (const Body<double>& body : model.bodies()) {
    unlimited += body.joint.nv() == 1 && !body.limits[0].effort ? 1 : 0;
  }
  if (unlimited > 0) {
    remarks.push_back(
        fmt::format("no torque limit in the file for {} of {} joints", unlimited, model.nv() - 6));
  }
}

}  // namespace

LeggedRobot make_quadruped(Description<double> robot, const QuadrupedOptions& options) {
  if (!(options.crouch > 0 && options.crouch < 1)) {
    fail(kCall, "crouch", to_text(options.crouch), "between 0 and 1");
  }
  std::vector<std::string> remarks;
  robot = without_scene(std::move(robot), remarks);
  const std::vector<FoundFoot> feet = find_feet(kCall, robot, base_of(robot), options.feet);
  {
    const Model<double> model = build_model(robot, base_of(robot));
    const std::set<std::string> legs = leg_joints(model, feet);
    if (legs.size() > 3 * feet.size()) {
      remarks.push_back("legs of more than three joints: the walk is not tuned for them");
    }
    add_leg_motors(robot, legs, remarks);
    robot = lock_uncontrolled(robot, model, legs, remarks);
  }
  Model<double> model = build_model(robot, base_of(robot));
  check_legs(model, feet);

  std::vector<std::string> names, sources;
  std::vector<FrameId> frames;
  for (const FoundFoot& foot : feet) {
    names.push_back(foot.frame);
    frames.push_back(model.find_frame(foot.frame));
    if (std::find(sources.begin(), sources.end(), foot.source) == sources.end())
      sources.push_back(foot.source);
  }
  remarks.insert(remarks.begin(),
                 fmt::format("feet: {} ({})", fmt::join(names, ", "), fmt::join(sources, "; ")));
  remark_limits(model, remarks);

  const VectorX<double> q = standing_posture(kCall, model, frames, options.crouch);
  std::vector<std::pair<std::string, double>> joints;
  for (const Body<double>& body : model.bodies()) {
    if (body.joint.nq() == 1) joints.emplace_back(body.name, q[body.q_start]);
  }
  joints.insert(joints.end(), options.joints.begin(), options.joints.end());
  LeggedRobot result = make_legged_robot(std::move(model), std::move(names), joints);
  if (const auto held = result.held_velocities(); !held.empty()) {
    remarks.push_back(fmt::format("{} joint{} in no leg, held in place", held.size(),
                                  held.size() == 1 ? "" : "s"));
  }
  result.remarks = std::move(remarks);
  return result;
}

LeggedRobot load_quadruped(const std::string& path, double crouch, const ReadOptions& options) {
  return make_quadruped(load_description(path, options), {crouch});
}

}  // namespace limb
