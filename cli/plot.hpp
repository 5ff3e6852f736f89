#pragma once

#include <memory>

#include "cli/verb.hpp"

namespace limb::cli {

/// `limb plot`: pictures and a report of a log.
std::unique_ptr<Verb> make_plot();

}  // namespace limb::cli
