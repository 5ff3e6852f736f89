#pragma once

#include <memory>

#include "cli/verb.hpp"

namespace limb::cli {

/// `limb check MODEL`: problems in a robot file, why they matter, and how to fix them.
std::unique_ptr<Verb> make_check();

}  // namespace limb::cli
