#pragma once

#include <fmt/format.h>

#include <string>

#include "limb/model/core/model.hpp"

namespace limb::bench {

/// Identical links with revolute joints about alternating axes: `limbs` chains of `length` links
/// each on one base link.
inline Model<double> chain(int length, int limbs = 1) {
  Description<double> robot;
  robot.name = "chain";
  LinkDescription<double> base;
  base.name = "l0";
  robot.links.push_back(base);
  for (int i = 1; i <= limbs * length; ++i) {
    LinkDescription<double> link;
    link.name = fmt::format("l{}", i);
    InertialDescription<double> inertial;
    inertial.mass = 1;
    inertial.X_LI.p = {0.05, 0.02, 0.1};
    inertial.tensor = Vector3<double>(0.02, 0.03, 0.01).asDiagonal();
    link.inertial = inertial;
    robot.links.push_back(link);
    JointDescription<double> joint;
    joint.name = fmt::format("j{}", i);
    joint.type = JointType::revolute;
    joint.parent = fmt::format("l{}", (i - 1) % length == 0 ? 0 : i - 1);
    joint.child = link.name;
    joint.axis = Vector3<double>::Unit(i % 3);
    joint.X_PJ.p = {0, 0, 0.2};
    robot.joints.push_back(joint);
  }
  return build_model(robot);
}

}  // namespace limb::bench
