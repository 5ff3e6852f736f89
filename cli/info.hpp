#pragma once

#include <memory>

#include "cli/verb.hpp"

namespace limb::cli {

/// `limb info MODEL`: what the robot is made of and how its coordinates are numbered.
std::unique_ptr<Verb> make_info();

}  // namespace limb::cli
