#pragma once

#include <memory>

#include "cli/verb.hpp"

namespace limb::cli {

/// `limb prove MODEL`: every formulation of the dynamics on this robot, and that they agree.
std::unique_ptr<Verb> make_prove();

}  // namespace limb::cli
