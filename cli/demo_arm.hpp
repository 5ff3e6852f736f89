#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace limb::cli {

/// What a demonstration leaves: a page, a screen of text, and its numbers.
struct DemoResult {
  std::string page, text;
  nlohmann::ordered_json numbers;
  /// Pictures of the page by name, for documents.
  std::string picture;
  bool ok = true;  ///< it came out as it should
};

/// `limb demo arm`: a seven-joint arm follows a circle, then meets a wall that nobody told it of,
/// under position control and under impedance control.
DemoResult demo_arm();

}  // namespace limb::cli
