#pragma once

#include <memory>

#include "cli/verb.hpp"

namespace limb::cli {

/// `limb simulate`: the motion of a robot in time, from a scenario file or of a model alone.
std::unique_ptr<Verb> make_simulate();

}  // namespace limb::cli
