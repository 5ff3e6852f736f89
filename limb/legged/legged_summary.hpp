#pragma once

#include <span>

#include "limb/legged/legged_run.hpp"

namespace limb {

/// Statistics of a run from a start time on.
struct LeggedSummary {
  double begin = 0, end = 0;  ///< s
  bool fell = false;
  Vector3<double> mean_velocity = Vector3<double>::Zero();  ///< true, m/s, heading frame
  double distance = 0;                                      ///< m, true, length of the path
  double largest_tilt = 0;                                  ///< rad, true
  double position_error = 0, yaw_error = 0;   ///< m, rad: of the estimated displacement since begin
  double velocity_error = 0, tilt_error = 0;  ///< root mean square, m/s, rad
  double beyond_three_sigma = 0;              ///< fraction of steps and components of the estimate
  long steps = 0, fell_back = 0, unsolved = 0;
};
LeggedSummary summarize(const LeggedRun& run, double begin);
/// The same for a record of steps.
LeggedSummary summarize(std::span<const LeggedStep> steps, bool fell, double begin);

}  // namespace limb
