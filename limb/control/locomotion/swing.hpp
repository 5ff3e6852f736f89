#pragma once

#include "limb/math/scalar.hpp"

namespace limb {

/// A point of a swing trajectory.
struct SwingPoint {
  Vector3<double> p, v, a;  ///< m, m/s, m/s^2
};

inline constexpr double kSwingLeave = 0.125, kSwingArrive = 0.875;

/// Swing trajectory of a foot from one foothold to another in the time T, at the fraction s of it:
///
///   p = from + (to - from) b(u) + clearance 64 s^3 (1 - s)^3 z,   b = u^3 (10 - 15 u + 6 u^2)
///
/// where u goes from 0 to 1 while s goes from kSwingLeave to kSwingArrive: the foot lifts before it
/// moves ahead, so that it clears a step in front of it, and comes straight down. Velocity and
/// acceleration are zero at both ends; in the middle the foot is `clearance` above the straight
/// line. Beyond s = 1 it moves straight down at the speed `search`, for ground lower than expected.
SwingPoint swing_point(const Vector3<double>& from, const Vector3<double>& to, double clearance,
                       double T, double s, double search);

}  // namespace limb
