#pragma once

#include "limb/model/core/builder.hpp"

namespace limb::testing {

/// A mass of 2 kg that slides along x, without gravity.
inline RobotBuilder<double> slider() {
  RobotBuilder<double> robot("slider");
  robot.gravity({0, 0, 0}).link("block", 2, {0, 0, 0}, Eigen::Matrix3d::Identity());
  robot.joint("rail", Joint<double>::prismatic({1, 0, 0}), "world", "block");
  return robot;
}

}  // namespace limb::testing
