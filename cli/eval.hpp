#pragma once

#include <memory>

#include "cli/verb.hpp"

namespace limb::cli {

/// `limb eval MODEL --input IN.json`: quantities of the robot at given states.
std::unique_ptr<Verb> make_eval();

}  // namespace limb::cli
