#pragma once

#include <string>

#include "cli/planar_2r.hpp"

namespace limb::cli {

/// The arm as an SVG picture.
std::string draw_planar_2r(const Planar2R& arm, const Planar2RState& state,
                           const Planar2RResult& result);

}  // namespace limb::cli
