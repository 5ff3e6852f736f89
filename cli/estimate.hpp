#pragma once

#include <memory>

#include "cli/verb.hpp"

namespace limb::cli {

/// `limb estimate`: the state of the base from a log of IMU, encoders and contacts.
std::unique_ptr<Verb> make_estimate();

}  // namespace limb::cli
