#pragma once

#include <string>

#include "cli/verb.hpp"

namespace limb::cli {

/// Manual page of a verb, or of limb itself if `verb` is empty, as input of man: `limb man derive |
/// man -l -`. @throws Error for an unknown verb.
std::string man_page(const std::string& verb, std::span<const VerbGroup> groups);

}  // namespace limb::cli
