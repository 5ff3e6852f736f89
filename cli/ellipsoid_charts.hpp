#pragma once

#include <string>

#include "cli/chart.hpp"
#include "cli/log_file.hpp"
#include "limb/model/core/model.hpp"

namespace limb::cli {

/// Ellipsoids of a frame along a logged motion, in the plane in which they are largest, and the
/// lengths of their axes over time:
///
///   velocity  {J qd: |qd| = 1}, J J^T: velocities of the origin of the frame that joint velocities
///             of one unit reach (manipulability); joints with motors, or all joints without any
///             motor
///   inertia   {v: v^T Lambda v = 1}, Lambda^-1 = J M^-1 J^T: velocities with a kinetic energy of
///             1/2 J; along an axis of length a the apparent mass is 1 / a^2
///                                                                [Yoshikawa 1985] [Khatib 1987]
/// @throws Error "call: ..." if there is no such frame, it never moves, or the mass matrix is
/// singular.
void add_ellipsoid_charts(Figure& figure, const std::string& call, const Model<double>& model,
                          const LogSeries& state, const std::string& frame);

}  // namespace limb::cli
