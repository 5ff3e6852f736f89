#pragma once

#include "limb/dynamics/recursive/workspace.hpp"
#include "limb/legged/legged_robot.hpp"

namespace limb {

struct HoldGains {
  double stiffness = 2.5;       ///< of each leg joint, 1/rad, in units of weight times height
  double damping_time = 0.025;  ///< s
  double rate = 20;  ///< 1/s, of joints that are in no leg: critically damped with the inertia that
                     ///< each has while the others yield
};

/// Holds the joints of a standing robot in place: springs and dampers, and feed-forward torques
/// with which the feet below an upright base support the weight. Needs neither an estimate nor a
/// solver.
class StandingHold {
 public:
  explicit StandingHold(const LeggedRobot& robot, const HoldGains& gains = {});

  /// Sets the target: joint positions without the base. @throws Error for a wrong size.
  void set_target(VectorIn<double>& joint_q);
  /// Torques for all velocities of the robot, zero for the base. No allocation.
  /// @throws Error for wrong sizes.
  const VectorX<double>& step(VectorIn<double>& joint_q, VectorIn<double>& joint_v);

 private:
  Model<double> model_;
  std::vector<Foot> feet_;
  Workspace<double> work_;
  VectorX<double> stiffness_, damping_;  ///< of each joint
  VectorX<double> q_target_, feed_forward_, tau_, effort_;
};

}  // namespace limb
