#pragma once

#include <memory>

#include "cli/verb.hpp"

namespace limb::cli {

/// `limb bench MODEL`: times of the dynamics functions of a robot on this machine.
std::unique_ptr<Verb> make_bench();

}  // namespace limb::cli
