#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "limb/model/core/description.hpp"

/// Robots that come with limb: the recipes of models/, embedded in the binary. They may be given
/// as builtin:NAME wherever a file name is expected.
namespace limb {

/// Names in alphabetical order, without "builtin:".
std::vector<std::string> builtin_names();

/// True for a path that starts with "builtin:".
bool is_builtin(std::string_view path);

/// The recipe; the name with or without "builtin:".
/// @throws Error that names the nearest robot.
std::string_view builtin_text(std::string_view name);

/// The robot with the default parameters of its recipe. @throws Error as builtin_text.
Description<double> read_builtin(std::string_view name);

}  // namespace limb
