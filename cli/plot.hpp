#pragma once

#include <memory>

#include "cli/verb.hpp"

namespace limb::cli {

/// `limb plot`: charts or a report from a log.
std::unique_ptr<Verb> make_plot();

}  // namespace limb::cli
