#pragma once

#include <memory>

#include "cli/verb.hpp"

namespace limb::cli {

/// `limb demo`: a quadruped from its file to a walk on its own estimate; arm, lecture, planar.
std::unique_ptr<Verb> make_demo();

}  // namespace limb::cli
