#pragma once

#include <memory>

#include "cli/verb.hpp"

namespace limb::cli {

/// `limb compile MODEL`: dynamics of the robot as C source, or as machine code that is described.
std::unique_ptr<Verb> make_compile();

}  // namespace limb::cli
