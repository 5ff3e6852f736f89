#pragma once

#include <span>
#include <string_view>

namespace limb {

struct BuiltinRecipe {
  std::string_view name, text;
};

/// The files of models/ in alphabetical order; written by cmake/LimbEmbed.cmake at build time.
std::span<const BuiltinRecipe> builtin_recipes();

}  // namespace limb
