#pragma once

#include <cmath>

#include "limb/math/scalar.hpp"

namespace limb {

/// R_WC of a contact: z along the unit normal; x in the plane of the world's x and z, or, where the
/// normal is near the world's y, wherever the plane of y and z puts it.
inline Matrix3<double> contact_axes(const Vector3<double>& normal) {
  const Vector3<double> aside =
      std::abs(normal.y()) < 0.9 ? Vector3<double>::UnitY() : Vector3<double>::UnitX();
  Matrix3<double> R;
  R.col(2) = normal;
  R.col(0) = aside.cross(normal).normalized();
  R.col(1) = normal.cross(R.col(0));
  return R;
}

}  // namespace limb
