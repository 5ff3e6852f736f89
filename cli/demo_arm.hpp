#pragma once

#include "cli/demo_result.hpp"

namespace limb::cli {

/// `limb demo arm`: a seven-joint arm follows a circle, then hits a wall unknown to its
/// controller, under position control and under impedance control.
DemoResult demo_arm();

}  // namespace limb::cli
