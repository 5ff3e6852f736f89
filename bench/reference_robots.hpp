#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "limb/model/core/load.hpp"
#include "limb/model/testing/shared.hpp"

namespace limb::bench {

/// The folder of reference robots: in LIMB_SHARED, or next to the repository.
inline std::filesystem::path reference_folder() {
  return testing::shared_path() / "robots";
}

struct ReferenceRobot {
  std::string name;
  Model<double> model;
};

/// An arm, a quadruped and a humanoid of that folder, or built-in ones without it.
inline std::vector<ReferenceRobot> reference_robots() {
  const std::filesystem::path robots = reference_folder();
  const bool real = std::filesystem::exists(robots);
  const auto load = [&](const char* name, const char* file, const char* builtin, Base base) {
    const std::string path = real ? (robots / file).string() : builtin;
    return ReferenceRobot{real ? name : builtin, load_model(path, base).without_couplings()};
  };
  return {load("iiwa14", "iiwa14.urdf", "builtin:arm7", Base::fixed),
          load("hyq", "hyq.urdf", "builtin:quadruped", Base::free),
          load("talos", "talos_reduced.urdf", "builtin:humanoid", Base::free)};
}

}  // namespace limb::bench
