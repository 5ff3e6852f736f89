#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace limb::cli {

/// Output of a demonstration: an HTML page, text for the terminal, and its numbers.
struct DemoResult {
  std::string page, text;
  nlohmann::ordered_json numbers;
  std::string picture;  ///< SVG, for --picture
  bool ok = true;       ///< false if a check failed or the robot fell
};

}  // namespace limb::cli
