#pragma once

#include <string>
#include <vector>

#include "limb/legged/legged_run.hpp"

/// Charts of a run of a legged robot, each one SVG.
namespace limb::cli {

/// Commanded, true and estimated motion of the base.
std::string legged_motion_chart(const LeggedRun& run);
/// Errors of the estimate with their 3-sigma bounds.
std::string legged_error_charts(const LeggedRun& run);
/// Contact forces in their friction cones, the centre of pressure, normal forces over time.
std::string legged_contact_chart(const LeggedRun& run);
/// Torque of each joint relative to its limit.
std::string legged_torque_chart(const LeggedRun& run);
/// Time of each part of the control step.
std::string legged_time_chart(const LeggedRun& run);

/// Torque of a joint relative to its limit, over a run.
struct TorqueShare {
  std::string joint;
  double limit = 0;                   ///< N m
  double rms = 0, high = 0, max = 0;  ///< high: 99th percentile
};
std::vector<TorqueShare> torque_shares(const LeggedRun& run);

/// Time of one part of the control step, us.
struct PartTimes {
  std::string part;
  double mean = 0, p99 = 0, p999 = 0, max = 0;
  std::size_t steps = 0;
};
/// From the time `start` on.
std::vector<PartTimes> part_times(const LeggedRun& run, double start);

}  // namespace limb::cli
