#pragma once

#include "limb/control/locomotion/gait.hpp"
#include "limb/legged/legged_robot.hpp"

namespace limb {

/// A walk that suits the size of a quadruped. Robots of different size move alike if speeds grow
/// with the square root of their height, times too, and impulses with mass times speed (equal
/// Froude numbers). The reference is `builtin:quadruped`, 15 kg and 0.294 m high. Rounded.
struct WalkScale {
  Gait trot;
  double speed;         ///< m/s
  double push;          ///< N s, from the side
  double block_size;    ///< m, edge of the blocks of uneven ground
  double block_height;  ///< m, largest deviation of their height
};
WalkScale walk_scale(const LeggedRobot& robot);

/// Height relative to that of `builtin:quadruped`, rounded to a hundredth.
double size_ratio(const LeggedRobot& robot);

}  // namespace limb
