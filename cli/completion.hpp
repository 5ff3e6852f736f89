#pragma once

#include <span>
#include <string>

#include "cli/verb.hpp"

namespace limb::cli {

/// A script that completes verbs, options, built-in robots and file names, made from the options of
/// the verbs. @param shell  bash, zsh or fish; @throws Error for another.
std::string completion_script(const std::string& shell, std::span<const VerbGroup> groups);

}  // namespace limb::cli
