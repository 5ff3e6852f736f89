#pragma once

#include "cli/verb.hpp"

namespace limb::cli {

/// `limb derive MODEL`: the equations of motion in closed form.
std::unique_ptr<Verb> make_derive();

}  // namespace limb::cli
