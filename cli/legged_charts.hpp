#pragma once

#include <string>
#include <vector>

#include "limb/legged/legged_run.hpp"

/// Pictures of a run of a legged robot, each one SVG.
namespace limb::cli {

/// What was commanded, what was true, and what was estimated; errors with three deviations.
std::string legged_motion_chart(const LeggedRun& run);
std::string legged_error_charts(const LeggedRun& run);
/// Forces of the feet in their friction cones and where they press; normal forces over time.
std::string legged_contact_chart(const LeggedRun& run);
/// Of each joint, the share of its limit that its torque takes.
std::string legged_torque_chart(const LeggedRun& run);
/// How long each part of the control steps took.
std::string legged_time_chart(const LeggedRun& run);

/// Shares of its limit that the torque of a joint takes while the robot walks.
struct TorqueShare {
  std::string joint;
  double limit = 0;                    ///< N m
  double rms = 0, high = 0, most = 0;  ///< high: 99 % of the steps are below
};
std::vector<TorqueShare> torque_shares(const LeggedRun& run);

/// us, of all control steps from a time on.
struct PartTimes {
  std::string part;
  double mean = 0, p99 = 0, p999 = 0, most = 0;
  std::size_t steps = 0;
};
std::vector<PartTimes> part_times(const LeggedRun& run, double begin);

}  // namespace limb::cli
