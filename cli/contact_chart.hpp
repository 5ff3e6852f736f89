#pragma once

#include "cli/log_file.hpp"
#include "cli/svg.hpp"

namespace limb::cli {

/// Whether the log is of a robot that stands on something.
bool has_contact(const LogData& log);

/// Two pictures of contact side by side: all forces of the feet inside their friction cone, and
/// from above the path of the centre of pressure with the support polygon at the end.
void draw_contact(Svg& svg, const Svg::Point& corner, double width, double height,
                  const LogData& log);

}  // namespace limb::cli
