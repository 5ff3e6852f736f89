#pragma once

#include <memory>

#include "cli/verb.hpp"

namespace limb::cli {

/// `limb eval MODEL --input IN.json`: dynamics quantities of a robot at given states.
std::unique_ptr<Verb> make_eval();

}  // namespace limb::cli
