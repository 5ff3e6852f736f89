// Any bytes as a recipe: read, write what was read, and read that again.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "limb/base/error.hpp"
#include "limb/model/read_recipe.hpp"
#include "limb/model/write_recipe.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    limb::Diagnostics diagnostics;
    const auto robot = limb::parse_recipe<double>(
        std::string(reinterpret_cast<const char*>(data), size), "fuzz.toml", {}, diagnostics);
    if (limb::has_errors(diagnostics)) return 0;
    limb::Diagnostics again;
    const std::string text = limb::write_recipe(robot);
    const auto copy = limb::parse_recipe<double>(text, "copy.toml", {}, again);
    // What was read without error must be written without error, and stay the same.
    if (limb::has_errors(again) || limb::write_recipe(copy) != text) std::abort();
  } catch (const limb::Error&) {
  }
  return 0;
}
