#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "limb/model/core/description.hpp"
#include "limb/model/core/read_options.hpp"

/// Robots written by hand: .toml recipes with expressions and symbols, in standard DH, modified DH,
/// screw axes or explicit placements. The format is described in docs/recipes.md.
namespace limb {

/// Value of a parameter of the recipe, given its name and the value in the file. Empty: the value
/// in the file. Return another number to override it, or a symbol to keep it symbolic.
template <typename T>
using RecipeParameter = std::function<T(const std::string& name, const T& value)>;

/// The angle of a rotation (rad), given its owner ("joint 'elbow'") and the value in the file.
/// Empty: the value in the file.
template <typename T>
using RecipeAngle = std::function<T(const std::string& owner, const T& angle)>;

/// Reads as much as possible; mistakes are in `diagnostics`, with file and line.
/// Instantiated for double; other scalars include read_recipe_impl.hpp.
/// @throws Error if the text is not well-formed TOML or exceeds the limits of toml.hpp.
template <typename T = double>
Description<T> parse_recipe(std::string text, const std::string& file, const ReadOptions& options,
                            Diagnostics& diagnostics, const RecipeParameter<T>& parameter = {},
                            const RecipeAngle<T>& angle = {});
extern template Description<double> parse_recipe(std::string, const std::string&,
                                                 const ReadOptions&, Diagnostics&,
                                                 const RecipeParameter<double>&,
                                                 const RecipeAngle<double>&);

/// @throws Error "read_recipe: file:line: message" on the first error.
Description<double> read_recipe(const std::filesystem::path& path, const ReadOptions& options = {});

}  // namespace limb
