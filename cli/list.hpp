#pragma once

#include <memory>

#include "cli/verb.hpp"

namespace limb::cli {

std::unique_ptr<Verb> make_list();

}  // namespace limb::cli
