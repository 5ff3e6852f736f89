#pragma once

#include <memory>

#include "cli/verb.hpp"

namespace limb::cli {

/// `limb compile MODEL`: compiles the dynamics of a robot to C source or to machine code.
std::unique_ptr<Verb> make_compile();

}  // namespace limb::cli
