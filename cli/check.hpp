#pragma once

#include <memory>

#include "cli/verb.hpp"

namespace limb::cli {

/// `limb check MODEL`: what is wrong with a robot file, why it matters, and what would mend it.
std::unique_ptr<Verb> make_check();

}  // namespace limb::cli
