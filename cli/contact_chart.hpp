#pragma once

#include "cli/log_file.hpp"
#include "cli/svg.hpp"

namespace limb::cli {

/// Whether the log has contact forces.
bool has_contact(const LogData& log);

/// Draws two charts side by side: the contact forces in their friction cone, and a top view of the
/// path of the centre of pressure with the final support polygon.
void draw_contact(Svg& svg, const Svg::Point& corner, double width, double height,
                  const LogData& log);

}  // namespace limb::cli
