#pragma once

#include "limb/sim/contact/collide.hpp"

namespace limb {

/// All points within a radius of a segment; a sphere if a == b.
struct Capsule {
  Vector3<double> a, b;
  double radius = 0;
};

/// The shape as a capsule; of a cylinder or an ellipsoid the largest one inside.
Capsule to_capsule(const PlacedShape& shape);

}  // namespace limb
