#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "limb/model/description.hpp"
#include "limb/model/read_options.hpp"

/// Robots that are written, not exported: .toml recipes with expressions and symbols, in standard
/// DH, modified DH, screw axes or explicit placements. The format is told in docs/recipes.md.
namespace limb {

/// What a parameter of the recipe becomes, given its name and the value in the file. Empty: the
/// value in the file. Return another number to override it, a symbol to keep it open.
template <typename T>
using RecipeParameter = std::function<T(const std::string& name, const T& value)>;

/// Reads as far as it can; what is wrong is in `diagnostics`, with file and line.
/// Instantiated for double; other scalars include read_recipe_impl.hpp.
/// @throws Error if the text is not well-formed TOML, or beyond the limits of toml.hpp.
template <typename T = double>
Description<T> parse_recipe(std::string text, const std::string& file, const ReadOptions& options,
                            Diagnostics& diagnostics, const RecipeParameter<T>& parameter = {});
extern template Description<double> parse_recipe(std::string, const std::string&,
                                                 const ReadOptions&, Diagnostics&,
                                                 const RecipeParameter<double>&);

/// @throws Error "read_recipe: file:line: message" on the first error.
Description<double> read_recipe(const std::filesystem::path& path, const ReadOptions& options = {});

}  // namespace limb
