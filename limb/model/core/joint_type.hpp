#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace limb {

/// The joint types, with their coordinates q and velocities v (linear before angular):
///
///   type         nq nv  q                        v
///   fixed         0  0
///   revolute      1  1  angle                    rate
///   continuous    1  1  angle, not wrapped       rate
///   prismatic     1  1  displacement             rate
///   helical       1  1  angle                    rate; translates by pitch * angle along the axis
///   cylindrical   2  2  displacement, angle      rates, about and along one axis
///   universal     2  2  first, second angle      rates; the second axis turns with the first
///   translation   3  3  x y z                    rates
///   planar        3  3  x y angle                v_x v_y in axes of the child, rate
///   spherical     4  3  quaternion x y z w       angular velocity in axes of the child
///   free          7  6  position, quaternion     twist (v, w) of the child in axes of the child
enum class JointType {
  fixed,
  revolute,
  continuous,
  prismatic,
  helical,
  cylindrical,
  universal,
  translation,
  planar,
  spherical,
  free,
};

inline constexpr std::array kJointTypes = {
    JointType::fixed,   JointType::revolute,    JointType::continuous, JointType::prismatic,
    JointType::helical, JointType::cylindrical, JointType::universal,  JointType::translation,
    JointType::planar,  JointType::spherical,   JointType::free,
};

constexpr int joint_nq(JointType type) {
  constexpr std::array<int, 11> kSizes = {0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 7};
  return kSizes[static_cast<std::size_t>(type)];
}

constexpr int joint_nv(JointType type) {
  constexpr std::array<int, 11> kSizes = {0, 1, 1, 1, 1, 2, 2, 3, 3, 3, 6};
  return kSizes[static_cast<std::size_t>(type)];
}

constexpr std::string_view to_text(JointType type) {
  constexpr std::array<std::string_view, 11> kNames = {
      "fixed",     "revolute",    "continuous", "prismatic", "helical", "cylindrical",
      "universal", "translation", "planar",     "spherical", "free"};
  return kNames[static_cast<std::size_t>(type)];
}

constexpr std::optional<JointType> joint_type_from_text(std::string_view text) {
  for (const JointType type : kJointTypes) {
    if (to_text(type) == text) return type;
  }
  return std::nullopt;
}

}  // namespace limb
