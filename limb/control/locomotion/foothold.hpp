#pragma once

#include "limb/math/scalar.hpp"

namespace limb {

/// Inputs of the foothold of one foot.
struct FootholdInput {
  Vector3<double> p_WC, v_WC;  ///< of the mass centre, now
  double yaw = 0;              ///< of the base, now
  Vector3<double> v_desired;   ///< world axes
  double yaw_rate = 0;         ///< desired, rad/s
  Vector3<double> p_CF;        ///< of the foot from the mass centre, at rest and yaw 0
  double left = 0;             ///< s until touch-down
  double stance_time = 0;      ///< s, duration of the stance that follows
  double height = 0;           ///< of the mass centre above the ground, m
  double ground = 0;           ///< height of the ground, m
  double gravity = 9.81;       ///< m/s^2
  double gain = 0.3;           ///< of the velocity error, as a fraction of sqrt(height / gravity)
  double farthest = 0.3;       ///< m: bound on the distance from the point below the hip
};

/// Raibert's rule: the point under the hip at touch-down, shifted ahead by half of the body's
/// motion during stance, which keeps the velocity, and by a gain times the velocity error, which
/// corrects it. [Raibert 1986] The gain is a fraction of sqrt(height / gravity), the capture-point
/// gain that brings a point mass to rest over the foot.
Vector3<double> foothold(const FootholdInput& in);

}  // namespace limb
