#pragma once

#include "limb/math/scalar.hpp"

namespace limb {

/// What decides where a foot comes down.
struct FootholdInput {
  Vector3<double> p_WC, v_WC;  ///< of the mass centre, now
  double yaw = 0;              ///< of the base, now
  Vector3<double> v_wanted;    ///< world axes
  double yaw_rate = 0;         ///< wanted, rad/s
  Vector3<double> p_CF;        ///< where it stands from the mass centre, at rest and yaw 0
  double left = 0;             ///< s until touch-down
  double stance_time = 0;      ///< s that the foot will then stand
  double height = 0;           ///< of the mass centre above the ground, m
  double ground = 0;           ///< height of the ground, m
  double gravity = 9.81;       ///< m/s^2
  double gain = 0.3;           ///< of the velocity error, share of sqrt(height / gravity)
  double farthest = 0.3;       ///< m: bound on the step from below its hip
};

/// Raibert's rule: under the hip at touch-down, ahead by half of what the body will move while the
/// foot stands, which keeps its velocity, and further by a gain times the velocity error, which
/// changes it. [Raibert 1986] The gain is a share of sqrt(height / gravity), the one that would
/// bring a point mass to rest over the foot.
Vector3<double> foothold(const FootholdInput& in);

}  // namespace limb
