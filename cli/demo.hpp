#pragma once

#include <memory>

#include "cli/verb.hpp"

namespace limb::cli {

/// `limb demo`: the textbook two-link arm, computed with the types of the math room; arm and
/// lecture
std::unique_ptr<Verb> make_demo();

}  // namespace limb::cli
