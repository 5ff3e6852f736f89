#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace limb {

/// The names that the same part on the other side may have: "left_arm" -> "right_arm",
/// "LF_HIP" -> "RF_HIP", "FL_hip" -> "FR_hip", "arm_l_3" -> "arm_r_3", "leftfinger" ->
/// "rightfinger". Only left becomes right; empty for a name without a left side.
std::vector<std::string> right_names(std::string_view left);

/// Indices (left, right) of the names that are each other's mirror image, in order of the left.
std::vector<std::pair<std::size_t, std::size_t>> mirror_pairs(std::span<const std::string> names);

}  // namespace limb
