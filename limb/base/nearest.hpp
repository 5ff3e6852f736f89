#pragma once

#include <span>
#include <string>
#include <string_view>

namespace limb {

/// The known name closest to `typed`, or "" if none is close: at most two letters added, dropped,
/// changed or swapped with their neighbour, and fewer than the letters of `typed`. A `typed` of
/// more than 256 letters has no closest name.
std::string nearest(std::string_view typed, std::span<const std::string> known);

}  // namespace limb
