#pragma once

#include "limb/sim/contact/collide.hpp"

namespace limb {

/// All points within a radius of a segment: spheres and capsules.
struct Round {
  Vector3<double> a, b;
  double radius = 0;
};

/// What a shape is as one; a cylinder or an ellipsoid, the largest inside.
Round round_of(const PlacedShape& shape);

}  // namespace limb
