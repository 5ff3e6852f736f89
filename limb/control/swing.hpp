#pragma once

#include "limb/math/scalar.hpp"

namespace limb {

/// Where a foot in the air shall be, and how it shall move there.
struct SwingPoint {
  Vector3<double> p, v, a;  ///< m, m/s, m/s^2
};

inline constexpr double kSwingLeave = 0.125, kSwingArrive = 0.875;

/// The way of a foot from one place to another in the time T, at the share s of it:
///
///   p = from + (to - from) b(u) + clearance 64 s^3 (1 - s)^3 z,   b = u^3 (10 - 15 u + 6 u^2)
///
/// where u goes from 0 to 1 while s goes from kSwingLeave to kSwingArrive: up before ahead, so that
/// a foot behind a step clears it, and straight down. At both ends the foot rests and does not
/// accelerate; in the middle it is `clearance` above the straight line. Beyond s = 1 it goes
/// straight down with the speed `search`, for ground that is lower than thought.
SwingPoint swing_point(const Vector3<double>& from, const Vector3<double>& to, double clearance,
                       double T, double s, double search);

}  // namespace limb
