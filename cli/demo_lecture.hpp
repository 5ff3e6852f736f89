#pragma once

#include "cli/demo_result.hpp"

namespace limb::cli {

/// `limb demo lecture`: the RR arm of the lectures derived, proven and simulated.
DemoResult demo_lecture();

}  // namespace limb::cli
