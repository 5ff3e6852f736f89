#pragma once

#include "cli/demo_result.hpp"
#include "cli/planar_2r.hpp"

namespace limb::cli {

/// Options of `limb demo planar`.
struct PlanarDemo {
  Planar2R arm;
  double q1_deg = 30, q2_deg = 60;
  Vector2<double> qd{1.0, 0.5};  ///< rad/s
};

/// `limb demo planar`: poses, velocities and inertias of the textbook two-link arm, computed with
/// the types of limb/math. The result has no page.
DemoResult demo_planar(const PlanarDemo& demo);

}  // namespace limb::cli
