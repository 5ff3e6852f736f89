#pragma once

#include <cstdint>
#include <string>

#include "limb/estimate/walk/synthetic_walk.hpp"

namespace limb::cli {

/// Writes the noisy measurements of a synthetic walk as a log with the topics imu, position,
/// velocity, contact and truth.
/// @throws Error "call: ..." if the file cannot be written.
void write_walk_log(const std::string& call, const std::string& path, const SyntheticWalk& walk,
                    const WalkErrors& errors, std::uint64_t seed, const std::string& model_name);

}  // namespace limb::cli
