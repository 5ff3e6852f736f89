#pragma once

#include <string>

#include "limb/legged/legged_run.hpp"

namespace limb::cli {

/// An HTML fragment with a 3D animation of the run: canvas, play button, slider, and a view that
/// can be rotated. It loads nothing from elsewhere.
std::string legged_animation(const LeggedRun& run);

}  // namespace limb::cli
