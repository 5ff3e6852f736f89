#pragma once

#include <string>

#include "limb/model/core/description.hpp"

namespace limb {

/// The robot as a recipe with explicit placements, in SI units and radians. Reading it back gives
/// the same description, number for number; the same description gives the same text.
/// @throws Error if a number is not finite.
std::string write_recipe(const Description<double>& description);

}  // namespace limb
