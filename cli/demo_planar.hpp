#pragma once

#include "cli/demo_arm.hpp"
#include "cli/planar_2r.hpp"

namespace limb::cli {

/// Arm, angles and rates of `limb demo planar`.
struct PlanarDemo {
  Planar2R arm;
  double q1_deg = 30, q2_deg = 60;
  Vector2<double> qd{1.0, 0.5};  ///< rad/s
};

/// The textbook two-link arm in numbers, computed with the types of the math room; no page.
DemoResult demo_planar(const PlanarDemo& demo);

}  // namespace limb::cli
