#pragma once

#include "limb/dynamics/workspace.hpp"
#include "limb/legged/legged_robot.hpp"

namespace limb {

struct HoldGains {
  double stiffness = 2.5;       ///< of each joint, 1/rad, in weights times heights
  double damping_time = 0.025;  ///< s
};

/// Holds the joints of a standing robot where they are: springs and dampers, and the torques by
/// which feet below an upright base carry the weight. Needs no estimate and no solver.
class StandingHold {
 public:
  explicit StandingHold(const LeggedRobot& robot, const HoldGains& gains = {});

  /// Where to stay: joint positions without the base's. @throws Error for a wrong size.
  void begin(VectorIn<double>& joint_q);
  /// Torques on all of the robot's velocities, zero on the base's. No allocation.
  /// @throws Error for wrong sizes.
  const VectorX<double>& step(VectorIn<double>& joint_q, VectorIn<double>& joint_v);

 private:
  Model<double> model_;
  std::vector<Foot> feet_;
  double stiffness_, damping_;
  Workspace<double> work_;
  VectorX<double> hold_, carry_, tau_, effort_;
};

}  // namespace limb
