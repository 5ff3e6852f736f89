#pragma once

#include <memory>

#include "cli/verb.hpp"

namespace limb::cli {

/// `limb demo`: a quadruped that walks on its own state estimate; also arm, lecture, planar.
std::unique_ptr<Verb> make_demo();

}  // namespace limb::cli
