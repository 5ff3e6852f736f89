#pragma once

#include "cli/verb.hpp"

namespace limb::cli {

/// `limb draw MODEL`: a figure of the robot with the letters of its parameters, as SVG.
std::unique_ptr<Verb> make_draw();

}  // namespace limb::cli
