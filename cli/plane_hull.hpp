#pragma once

#include <vector>

#include "cli/svg.hpp"

namespace limb::cli {

/// Corners of the convex hull of points in a plane, anticlockwise for y upwards.
std::vector<Svg::Point> plane_hull(std::vector<Svg::Point> points);

}  // namespace limb::cli
