#pragma once

#include <cmath>

#include "limb/math/scalar.hpp"

namespace limb {

/// R_WC of a contact: z along the unit normal, x in the xz-plane of the world (perpendicular to the
/// world's x axis instead where the normal is near the world's y axis).
inline Matrix3<double> contact_axes(const Vector3<double>& normal) {
  const Vector3<double> reference =
      std::abs(normal.y()) < 0.9 ? Vector3<double>::UnitY() : Vector3<double>::UnitX();
  Matrix3<double> R;
  R.col(2) = normal;
  R.col(0) = reference.cross(normal).normalized();
  R.col(1) = normal.cross(R.col(0));
  return R;
}

}  // namespace limb
