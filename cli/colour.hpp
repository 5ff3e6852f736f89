#pragma once

#include <cstdio>
#include <string>

namespace limb::cli {

/// Whether output to this stream is coloured: it is a terminal, and the variable NO_COLOR is not
/// set (https://no-color.org).
bool has_colour(std::FILE* stream);

/// The words error, warning and note after a place ("arm.urdf:12: error: ...") in red, yellow and
/// cyan.
std::string coloured(const std::string& text);

}  // namespace limb::cli
