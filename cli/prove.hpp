#pragma once

#include <memory>

#include "cli/verb.hpp"

namespace limb::cli {

/// `limb prove MODEL`: compares all formulations of the dynamics of a robot at random states.
std::unique_ptr<Verb> make_prove();

}  // namespace limb::cli
