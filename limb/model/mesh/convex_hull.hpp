#pragma once

#include <array>
#include <span>
#include <vector>

#include "limb/math/scalar.hpp"

namespace limb {

/// Convex hull of points in space: triangles of indices into `points`, counter-clockwise seen from
/// outside, closed, every edge once in each direction.
///
/// Quickhull [Barber 1996]. Which side of a plane a point is on is decided exactly, so that grids,
/// duplicate points and flat faces with many points need no tolerance: points inside of the hull,
/// on its faces or on its edges are not used as corners unless they were the farthest when they
/// were added. n log n in practice.
/// @throws Error for fewer than four points, numbers that are not finite, and points that are in
/// one plane to within 1e-12 of their extent.
std::vector<std::array<int, 3>> convex_hull(std::span<const Vector3<double>> points);

}  // namespace limb
