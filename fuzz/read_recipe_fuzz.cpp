// Any bytes as a recipe: read it, write the robot, and read that again.
#include <string>

#include "fuzz/target.hpp"
#include "limb/base/error.hpp"
#include "limb/model/recipe/read_recipe.hpp"
#include "limb/model/recipe/write_recipe.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    limb::Diagnostics diagnostics;
    const auto robot = limb::parse_recipe<double>(std::string(limb::fuzz::as_text(data, size)),
                                                  "fuzz.toml", {}, diagnostics);
    if (limb::has_errors(diagnostics)) return 0;
    limb::Diagnostics again;
    const std::string text = limb::write_recipe(robot);
    const auto copy = limb::parse_recipe<double>(text, "copy.toml", {}, again);
    // A robot that was read without error is written without error and stays the same.
    limb::fuzz::require(!limb::has_errors(again) && limb::write_recipe(copy) == text);
  } catch (const limb::Error&) {
  }
  return 0;
}
