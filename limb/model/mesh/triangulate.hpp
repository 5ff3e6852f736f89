#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "limb/math/scalar.hpp"

namespace limb {

/// Concave polygons with more corners are not cut: the time grows with the cube of their number.
inline constexpr std::size_t kMaxConcaveCorners = 256;

/// Cuts a polygon with three corners or more into triangles of the same orientation: quadrilaterals
/// along the shorter diagonal, convex polygons into a fan from the first corner, concave ones by
/// ear clipping in the plane of their area vector. Corners that form no ear (the polygon crosses
/// itself) become a fan. Returns false for a concave polygon with more than kMaxConcaveCorners.
bool triangulate(std::span<const Vector3<double>> vertices, std::span<const int> corners,
                 std::vector<std::array<int, 3>>& triangles);

}  // namespace limb
