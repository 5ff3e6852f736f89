#pragma once

#include "limb/math/scalar.hpp"

namespace limb {

/// Sign of the determinant of (b - a, c - a, d - a), exactly: 1 if d is above the plane of a, b, c,
/// which are counter-clockwise seen from above; -1 below; 0 in the plane.
///
/// Sums of products are kept as unevaluated sums of doubles without rounding [Shewchuk 1997,
/// expansions]. About 1 us; test with a rounded determinant and its error bound first. Exact
/// unless a product of three differences overflows or has digits below 1e-320.
int exact_orientation(const Vector3<double>& a, const Vector3<double>& b, const Vector3<double>& c,
                      const Vector3<double>& d);

}  // namespace limb
