#pragma once

#include <span>
#include <string>
#include <string_view>

namespace limb {

/// The known name that `typed` was probably meant to be, or "" when none is near: at most two
/// letters added, dropped, changed or swapped with their neighbour, and fewer than the letters of
/// `typed`. Names of more than 256 letters are near to nothing.
std::string nearest(std::string_view typed, std::span<const std::string> known);

}  // namespace limb
