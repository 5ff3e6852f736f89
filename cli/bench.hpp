#pragma once

#include <memory>

#include "cli/verb.hpp"

namespace limb::cli {

/// `limb bench MODEL`: how fast the dynamics of this robot are on this machine.
std::unique_ptr<Verb> make_bench();

}  // namespace limb::cli
