#include "limb/model/core/builtin.hpp"

#include <fmt/format.h>

#include "limb/base/error.hpp"
#include "limb/base/nearest.hpp"
#include "limb/model/core/builtin_data.hpp"
#include "limb/model/recipe/read_recipe.hpp"

namespace limb {
namespace {

constexpr std::string_view kPrefix = "builtin:";

std::string_view bare(std::string_view name) {
  return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
}

}  // namespace

std::vector<std::string> builtin_names() {
  std::vector<std::string> names;
  for (const BuiltinRecipe& recipe : builtin_recipes()) names.emplace_back(recipe.name);
  return names;
}

bool is_builtin(std::string_view path) {
  return path.starts_with(kPrefix);
}

std::string_view builtin_text(std::string_view name) {
  for (const BuiltinRecipe& recipe : builtin_recipes()) {
    if (recipe.name == bare(name)) return recipe.text;
  }
  const std::vector<std::string> names = builtin_names();
  const std::string close = nearest(bare(name), names);
  throw Error(fmt::format("builtin_text: no robot 'builtin:{}' ({})", bare(name).substr(0, 60),
                          close.empty() ? fmt::format("there are: {}", fmt::join(names, ", "))
                                        : fmt::format("closest: 'builtin:{}'", close)));
}

Description<double> read_builtin(std::string_view name) {
  const std::string file = fmt::format("{}{}", kPrefix, bare(name));
  Diagnostics diagnostics;
  auto result = parse_recipe<double>(std::string(builtin_text(name)), file, {}, diagnostics);
  if (!diagnostics.empty()) throw Error("read_builtin: " + diagnostics.front().text());
  return result;
}

}  // namespace limb
