#pragma once

#include <string>

namespace limb::cli {

/// Converts SVG to PNG with librsvg's program rsvg-convert, at `scale` pixels per unit.
/// @throws Error if the program is not installed or fails.
std::string png_of_svg(const std::string& call, const std::string& svg, double scale);

}  // namespace limb::cli
