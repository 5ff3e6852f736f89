#pragma once

#include <memory>

#include "cli/verb.hpp"

namespace limb::cli {

/// `limb info MODEL`: joints, frames and masses of a robot, and the indices of its coordinates.
std::unique_ptr<Verb> make_info();

}  // namespace limb::cli
