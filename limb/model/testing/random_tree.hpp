#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "limb/math/testing/random.hpp"
#include "limb/model/core/description.hpp"

namespace limb::testing {

struct RandomTreeOptions {
  int joints = 12;  ///< including fixed ones, without the root's joint
  /// Types to draw from, without replacement until all have been used.
  std::vector<JointType> types = {kJointTypes.begin(), kJointTypes.end()};
  /// Joint between the world and the root link; fixed: the link is the root of the file, as in
  /// URDF.
  JointType root = JointType::fixed;
  bool with_couplings = false;  ///< some joints with one degree of freedom follow others
};

/// A random robot: links l0, l1, ... with plausible inertias, joints of all the given types on
/// random parents with random axes and placements. Joint names are random, so that their
/// alphabetical order differs from the file order. Same seed and options, same robot.
inline Description<double> random_tree(unsigned seed, const RandomTreeOptions& options = {}) {
  Random random(seed);
  const auto pick = [&](int n) { return std::min(n - 1, static_cast<int>(random.uniform(0, n))); };
  const auto numbered = [](std::string text, int i) { return text += std::to_string(i); };
  const auto link_name = [&](int i) { return numbered("l", i); };

  Description<double> robot;
  robot.name = numbered("random_tree_", static_cast<int>(seed));
  const auto add_link = [&] {
    LinkDescription<double> link;
    link.name = link_name(static_cast<int>(robot.links.size()));
    InertialDescription<double> inertial;
    inertial.mass = random.uniform(0.5, 3);
    inertial.X_LI = random.pose<double>(0.1);
    // Moments of a solid box with these edges: always physically consistent.
    const Eigen::Vector3d edge(random.uniform(0.1, 0.4), random.uniform(0.1, 0.4),
                               random.uniform(0.1, 0.4));
    const Eigen::Vector3d square = edge.cwiseAbs2() * (inertial.mass / 12);
    inertial.tensor =
        Eigen::Vector3d(square[1] + square[2], square[0] + square[2], square[0] + square[1])
            .asDiagonal();
    link.inertial = inertial;
    robot.links.push_back(std::move(link));
  };
  const auto add_joint = [&](std::string name, JointType type, const std::string& parent) {
    JointDescription<double> joint;
    joint.name = std::move(name);
    joint.type = type;
    joint.parent = parent;
    add_link();
    joint.child = robot.links.back().name;
    joint.X_PJ = random.pose<double>(0.5);
    joint.axis = random.direction<double>();
    joint.axis2 = random.direction<double>();
    joint.pitch = random.uniform(0.05, 0.2);
    joint.damping = random.uniform(0, 0.1);
    robot.joints.push_back(std::move(joint));
  };

  if (options.root == JointType::fixed) {
    add_link();
  } else {
    add_joint("base_joint", options.root, kWorldLink);
  }
  std::vector<JointType> remaining;
  for (int i = 0; i < options.joints; ++i) {
    if (remaining.empty()) remaining = options.types;
    const int index = pick(static_cast<int>(remaining.size()));
    const JointType type = remaining[static_cast<std::size_t>(index)];
    remaining.erase(remaining.begin() + index);
    // A random letter decides the alphabetical order, the number makes names unique.
    const std::string name = numbered({static_cast<char>('a' + pick(26)), '_'}, i);
    add_joint(name, type, link_name(pick(static_cast<int>(robot.links.size()))));
  }

  if (options.with_couplings) {
    std::string leader;
    for (const auto& joint : robot.joints) {
      if (joint_nq(joint.type) != 1) continue;
      if (leader.empty()) {
        leader = joint.name;
      } else if (random.uniform(0, 1) < 0.5) {
        robot.couplings.push_back(
            {joint.name, {{leader, random.uniform(-2, 2)}}, random.uniform(-1, 1), {}});
      }
    }
  }
  return robot;
}

}  // namespace limb::testing
