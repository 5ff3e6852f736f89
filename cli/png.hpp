#pragma once

#include <string>

namespace limb::cli {

/// Draws the SVG by librsvg's program rsvg-convert, at `scale` pixels for each of its units.
/// @throws Error in one line where that program is not installed or refuses.
std::string png_of_svg(const std::string& call, const std::string& svg, double scale);

}  // namespace limb::cli
