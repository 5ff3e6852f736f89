#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace limb {

/// Possible names of the mirrored part on the right side: "left_arm" -> "right_arm",
/// "LF_HIP" -> "RF_HIP", "FL_hip" -> "FR_hip", "arm_l_3" -> "arm_r_3", "leftfinger" ->
/// "rightfinger". Empty for a name that does not say left.
std::vector<std::string> right_names(std::string_view left);

/// Indices (left, right) of names that are mirror images of each other, in the order of the left.
std::vector<std::pair<std::size_t, std::size_t>> mirror_pairs(std::span<const std::string> names);

}  // namespace limb
