#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "limb/math/scalar.hpp"

/// Messages that Foxglove and other viewers draw, in its JSON schemas (docs/simulation.md).
namespace limb::foxglove {

/// The frame in which all poses are given.
inline constexpr const char* kWorld = "world";

/// Names of the schemas are "foxglove.FrameTransforms" and so on. Their contents are those of the
/// package @foxglove/schemas (npm) without descriptions; cli/mcap_vs_foxglove_test.py compares
/// them.
std::string frame_transforms_schema();
std::string joint_states_schema();
std::string scene_update_schema();

/// @param values  per frame the position (m) and the quaternion xyzw of its pose in the world.
void put_frame_transforms(std::string& json, std::uint64_t time_ns,
                          const std::vector<std::string>& frames, const VectorX<double>& values);
/// @param values  per joint position, velocity and effort; those that are not finite are left out.
void put_joint_states(std::string& json, std::uint64_t time_ns,
                      const std::vector<std::string>& joints, const VectorX<double>& values);
/// Replaces the arrows of the entity `id`. @param values  per arrow its point and its vector, m.
void put_arrows(std::string& json, std::uint64_t time_ns, const std::string& id,
                const VectorX<double>& values);

}  // namespace limb::foxglove
