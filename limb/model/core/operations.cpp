#include "limb/model/core/operations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "limb/base/check.hpp"
#include "limb/base/nearest.hpp"
#include "limb/math/so3.hpp"

namespace limb {
namespace {

using Robot = Description<double>;
using Link = LinkDescription<double>;
using JointD = JointDescription<double>;

template <typename Items>
std::size_t find_named(std::string_view call, std::string_view kind, const Items& items,
                       std::string_view name) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].name == name) return i;
  }
  std::vector<std::string> known;
  for (const auto& item : items) known.push_back(item.name);
  const std::string close = nearest(name, known);
  throw Error(fmt::format("{}: no {} is named '{}'{}", call, kind, name,
                          close.empty() ? "" : fmt::format(" (closest: '{}')", close)));
}

/// For messages about links and frames.
struct NamedFrame {
  std::string name;
};

/// Child joints of every link, by index.
std::unordered_map<std::string, std::vector<std::size_t>> children_of(const Robot& robot) {
  std::unordered_map<std::string, std::vector<std::size_t>> children;
  for (std::size_t i = 0; i < robot.joints.size(); ++i) {
    children[robot.joints[i].parent].push_back(i);
  }
  return children;
}

template <typename Items, typename Keep>
Items filtered(const Items& items, const Keep& keep) {
  Items result;
  std::copy_if(items.begin(), items.end(), std::back_inserter(result), keep);
  return result;
}

void add_mass(Link& link, const Inertia<double>& inertia_L) {
  const Inertia<double> before = link.inertial ? link.inertial->inertia() : Inertia<double>();
  const Inertia<double> sum = before + inertia_L;
  if (sum.mass() == 0) return;
  InertialDescription<double> inertial = inertial_from(sum);
  if (link.inertial) inertial.source = link.inertial->source;
  link.inertial = inertial;
}

}  // namespace

InertialDescription<double> inertial_from(const Inertia<double>& inertia_L) {
  check_positive("inertial_from", "mass", inertia_L.mass());
  InertialDescription<double> inertial;
  inertial.mass = inertia_L.mass();
  inertial.X_LI.p = inertia_L.com();
  inertial.tensor = inertia_L.tensor_about_com();
  return inertial;
}

Robot extract_subtree(const Robot& robot, std::string_view link) {
  find_named("extract_subtree", "link", robot.links, link);
  const auto children = children_of(robot);
  std::unordered_set<std::string> links = {std::string(link)}, joints;
  std::vector<std::string> pending = {std::string(link)};
  while (!pending.empty()) {
    const auto found = children.find(pending.back());
    pending.pop_back();
    if (found == children.end()) continue;
    for (const std::size_t i : found->second) {
      const JointD& joint = robot.joints[i];
      joints.insert(joint.name);
      if (links.insert(joint.child).second) pending.push_back(joint.child);
    }
  }
  const auto refuse = [&](std::string_view kind, std::string_view name) {
    throw Error(
        fmt::format("extract_subtree: {} '{}' crosses the cut at link '{}'; remove it first", kind,
                    name, link));
  };
  Robot part = robot;
  part.name = std::string(link);
  part.links = filtered(robot.links, [&](const auto& l) { return links.count(l.name) != 0; });
  part.joints = filtered(robot.joints, [&](const auto& j) { return joints.count(j.name) != 0; });
  part.frames = filtered(robot.frames, [&](const auto& f) { return links.count(f.link) != 0; });
  part.actuators =
      filtered(robot.actuators, [&](const auto& a) { return joints.count(a.joint) != 0; });
  part.couplings = filtered(robot.couplings, [&](const auto& c) {
    const bool inside = joints.count(c.joint) != 0;
    for (const auto& term : c.terms) {
      if ((joints.count(term.joint) != 0) != inside) refuse("the coupling of joint", c.joint);
    }
    return inside;
  });
  part.loops = filtered(robot.loops, [&](const auto& l) {
    const bool inside = links.count(l.link_a) != 0;
    if ((links.count(l.link_b) != 0) != inside) refuse("loop", l.name);
    return inside;
  });
  return part;
}

Robot lock_joints(const Robot& robot, const std::map<std::string, std::vector<double>>& positions) {
  Robot locked = robot;
  std::map<std::string, double> constant;  // locked joints of one coordinate, for their followers
  const auto lock = [&](const std::string& name, const std::vector<double>& q) {
    JointD& d = locked.joints[find_named("lock_joints", "joint", locked.joints, name)];
    const Joint<double> joint = Joint<double>::make(d.type, d.axis, d.axis2, d.pitch);
    check_size("lock_joints", "q of joint '" + name + "'", static_cast<int>(q.size()), joint.nq());
    check_finite("lock_joints", "q of joint '" + name + "'", std::span<const double>(q));
    if (q.size() == 1) constant[name] = q.front();
    d.X_PJ = d.X_PJ * joint.pose(q.data());
    d.rpy.reset();
    d.type = JointType::fixed;
    d.limits.clear();
    d.damping = d.friction = d.armature = 0;
  };
  for (const auto& [name, q] : positions) {
    for (const auto& coupling : robot.couplings) {
      if (coupling.joint != name) continue;
      throw Error(fmt::format("lock_joints: joint '{}' follows '{}'; lock that one", name,
                              coupling.terms.empty() ? "a constant" : coupling.terms[0].joint));
    }
    lock(name, q);
  }
  // Followers: locked leaders become constants; a follower without leaders is locked as well.
  for (bool changed = true; changed;) {
    changed = false;
    for (auto c = locked.couplings.begin(); c != locked.couplings.end(); ++c) {
      for (auto term = c->terms.begin(); term != c->terms.end();) {
        const auto found = constant.find(term->joint);
        if (found == constant.end()) {
          ++term;
          continue;
        }
        double power = found->second;
        c->offset += term->ratio * power;
        for (const double coefficient : c->powers) {
          power *= found->second;
          c->offset += coefficient * power;
        }
        c->powers.clear();
        term = c->terms.erase(term);
      }
      if (!c->terms.empty()) continue;
      lock(c->joint, {c->offset});
      locked.couplings.erase(c);
      changed = true;
      break;
    }
  }
  std::erase_if(locked.actuators, [&](const auto& a) {
    return locked.joints[find_named("lock_joints", "joint", locked.joints, a.joint)].type ==
           JointType::fixed;
  });
  return locked;
}

Robot merge_fixed_joints(const Robot& robot) {
  Robot merged = robot;
  merged.links.clear();
  merged.joints.clear();
  // For each link: the link that it is merged into, and its pose there. Parents before children.
  struct MergedLink {
    std::string link;
    Pose<double> X;
  };
  std::unordered_map<std::string, MergedLink> merged_into;
  std::unordered_map<std::string, std::size_t> index;
  std::unordered_set<std::string> has_parent;
  for (const JointD& joint : robot.joints) has_parent.insert(joint.child);
  const auto children = children_of(robot);
  std::unordered_map<std::string, const Link*> links;
  for (const Link& link : robot.links) links[link.name] = &link;

  std::vector<std::string> pending;
  const auto assign = [&](const std::string& name, MergedLink where) {
    const Link* link = links.count(name) != 0 ? links.at(name) : nullptr;
    if (where.link == name && link != nullptr) {
      index[name] = merged.links.size();
      merged.links.push_back(*link);
    } else if (link != nullptr) {
      Link& target = merged.links[index.at(where.link)];
      if (link->inertial) add_mass(target, link->inertial->inertia().transformed(where.X));
      for (Geometry geometry : link->geometry) {
        geometry.X_LG = where.X * geometry.X_LG;
        target.geometry.push_back(std::move(geometry));
      }
      merged.frames.push_back({name, where.link, where.X, link->source});
    }
    merged_into[name] = std::move(where);
    pending.push_back(name);
  };
  if (children.count(kWorldLink) != 0 && links.count(kWorldLink) == 0) {
    assign(kWorldLink, {kWorldLink, {}});
  }
  for (const Link& link : robot.links) {
    if (has_parent.count(link.name) == 0) assign(link.name, {link.name, {}});
  }
  for (std::size_t i = 0; i < pending.size(); ++i) {  // breadth first; assign() appends
    const auto found = children.find(pending[i]);
    if (found == children.end()) continue;
    for (const std::size_t j : found->second) {
      JointD joint = robot.joints[j];
      const MergedLink parent = merged_into.at(joint.parent);
      const bool parent_is_link = index.count(parent.link) != 0;
      if (joint.type == JointType::fixed && parent_is_link) {
        assign(joint.child, {parent.link, parent.X * joint.X_PJ * joint.X_JC});
        continue;
      }
      joint.parent = parent.link;
      joint.X_PJ = parent.X * joint.X_PJ;
      joint.rpy.reset();
      assign(joint.child, {joint.child, {}});
      merged.joints.push_back(std::move(joint));
    }
  }
  // Keep the file's order of joints: the depth-first order of the model must not change.
  std::unordered_map<std::string, std::size_t> order;
  for (std::size_t i = 0; i < robot.joints.size(); ++i) order[robot.joints[i].name] = i;
  std::sort(merged.joints.begin(), merged.joints.end(),
            [&](const JointD& a, const JointD& b) { return order.at(a.name) < order.at(b.name); });
  const auto move_to_merged_link = [&](std::string& link, Pose<double>& X) {
    const auto found = merged_into.find(link);
    if (found == merged_into.end() || found->second.link == link) return;
    X = found->second.X * X;
    link = found->second.link;
  };
  for (auto& frame : merged.frames) move_to_merged_link(frame.link, frame.X_LF);
  for (auto& loop : merged.loops) {
    move_to_merged_link(loop.link_a, loop.X_AL);
    move_to_merged_link(loop.link_b, loop.X_BL);
  }
  return merged;
}

Robot attach_robot(const Robot& robot, std::string_view link, const Robot& other,
                   const Pose<double>& X_LR, std::string_view prefix) {
  find_named("attach_robot", "link", robot.links, link);
  std::unordered_set<std::string> has_parent, used_names;
  for (const auto& joint : other.joints) has_parent.insert(joint.child);
  std::vector<std::string> roots;
  for (const auto& l : other.links) {
    if (has_parent.count(l.name) == 0) roots.push_back(l.name);
  }
  if (roots.size() != 1) {
    throw Error(
        fmt::format("attach_robot: '{}' has {} root links, expected 1", other.name, roots.size()));
  }
  for (const auto& l : robot.links) used_names.insert("link " + l.name);
  for (const auto& j : robot.joints) used_names.insert("joint " + j.name);
  const auto renamed = [&](const std::string& name) { return std::string(prefix) + name; };
  const auto check_unique = [&](const std::string& kind, const std::string& name) {
    if (!used_names.insert(kind + " " + name).second) {
      throw Error(
          fmt::format("attach_robot: both robots have a {} named '{}'; give a prefix", kind, name));
    }
  };
  Robot combined = robot;
  for (Link l : other.links) {
    l.name = renamed(l.name);
    check_unique("link", l.name);
    combined.links.push_back(std::move(l));
  }
  JointD weld;
  weld.name = renamed(roots[0]) + "_mount";
  weld.parent = std::string(link);
  weld.child = renamed(roots[0]);
  weld.X_PJ = X_LR;
  check_unique("joint", weld.name);
  combined.joints.push_back(weld);
  for (JointD j : other.joints) {
    j.name = renamed(j.name);
    j.parent = renamed(j.parent);
    j.child = renamed(j.child);
    check_unique("joint", j.name);
    combined.joints.push_back(std::move(j));
  }
  for (auto f : other.frames) {
    f.name = renamed(f.name);
    f.link = renamed(f.link);
    combined.frames.push_back(std::move(f));
  }
  for (auto c : other.couplings) {
    c.joint = renamed(c.joint);
    for (auto& term : c.terms) term.joint = renamed(term.joint);
    combined.couplings.push_back(std::move(c));
  }
  for (auto l : other.loops) {
    l.name = renamed(l.name);
    l.link_a = renamed(l.link_a);
    l.link_b = renamed(l.link_b);
    combined.loops.push_back(std::move(l));
  }
  for (auto a : other.actuators) {
    a.joint = renamed(a.joint);
    combined.actuators.push_back(std::move(a));
  }
  return combined;
}

Robot attach_payload(const Robot& robot, std::string_view link, const Inertia<double>& payload_L) {
  check_positive("attach_payload", "mass of the payload", payload_L.mass());
  Robot loaded = robot;
  add_mass(loaded.links[find_named("attach_payload", "link", robot.links, link)], payload_L);
  return loaded;
}

Robot add_frame(const Robot& robot, std::string_view name, std::string_view parent,
                const Pose<double>& X_PF) {
  if (name.empty()) fail("add_frame", "name", "empty", "a name");
  check_rotation<double>("add_frame", "rotation of the pose", X_PF.R);
  check_finite("add_frame", "position of the pose",
               std::span(X_PF.p.data(), static_cast<std::size_t>(X_PF.p.size())));
  const auto has_name = [&](const auto& item) { return item.name == name; };
  if (std::any_of(robot.links.begin(), robot.links.end(), has_name) ||
      std::any_of(robot.frames.begin(), robot.frames.end(), has_name)) {
    throw Error(fmt::format("add_frame: a link or frame is already named '{}'", name));
  }
  Robot extended = robot;
  FrameDescription<double> frame{std::string(name), std::string(parent), X_PF, {}};
  const auto other = std::find_if(robot.frames.begin(), robot.frames.end(),
                                  [&](const auto& item) { return item.name == parent; });
  if (other != robot.frames.end()) {
    frame.link = other->link;
    frame.X_LF = other->X_LF * X_PF;
  } else {
    std::vector<NamedFrame> known;
    for (const auto& link : robot.links) known.push_back({link.name});
    for (const auto& each : robot.frames) known.push_back({each.name});
    find_named("add_frame", "link or frame", known, parent);
  }
  extended.frames.push_back(std::move(frame));
  return extended;
}

Robot with_gravity(const Robot& robot, const Vector3<double>& gravity) {
  check_finite("with_gravity", "gravity",
               std::span(gravity.data(), static_cast<std::size_t>(gravity.size())));
  Robot changed = robot;
  changed.gravity = gravity;
  return changed;
}

}  // namespace limb
