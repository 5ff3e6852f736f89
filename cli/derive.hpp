#pragma once

#include "cli/verb.hpp"

namespace limb::cli {

/// limb derive MODEL: the equations of motion as closed forms.
std::unique_ptr<Verb> make_derive();

}  // namespace limb::cli
