#pragma once

#include <string>

#include "cli/verb.hpp"

namespace limb::cli {

/// The page of a verb for the documentation, in Markdown; without name the page that lists all
/// verbs.
/// @throws Error for an unknown verb.
std::string markdown_page(const std::string& name, std::span<const VerbGroup> groups);

}  // namespace limb::cli
