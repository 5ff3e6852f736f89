#pragma once

#include <memory>

#include "cli/verb.hpp"

namespace limb::cli {

/// `limb simulate`: simulates a scenario file, or a model without one.
std::unique_ptr<Verb> make_simulate();

}  // namespace limb::cli
