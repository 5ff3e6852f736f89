#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace limb::cli {

/// Adds an option that takes one of the given words. An error reads
/// "limb plot: --view is 'x', expected one of side, front, top".
CLI::Option* add_choice(CLI::App& app, const std::string& option, std::string& value,
                        const std::string& description, const std::vector<std::string>& choices);

}  // namespace limb::cli
