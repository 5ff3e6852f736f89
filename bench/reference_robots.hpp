#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "limb/model/load.hpp"

namespace limb::bench {

struct ReferenceRobot {
  std::string name;
  Model<double> model;
};

/// An arm, a quadruped and a humanoid of the folder of reference robots (LIMB_SHARED), or embedded
/// ones where there is none.
inline std::vector<ReferenceRobot> reference_robots() {
  const char* given = std::getenv("LIMB_SHARED");
  const std::filesystem::path robots =
      std::filesystem::path(given != nullptr ? given : LIMB_SHARED_DEFAULT) / "robots";
  const bool real = std::filesystem::exists(robots);
  const auto load = [&](const char* file, const char* builtin, Base base) {
    return load_model(real ? (robots / file).string() : builtin, base).without_couplings();
  };
  return {{"7-joint arm", load("iiwa14.urdf", "builtin:arm7", Base::fixed)},
          {"quadruped", load("hyq.urdf", "builtin:quadruped", Base::free)},
          {"humanoid", load("talos_reduced.urdf", "builtin:humanoid", Base::free)}};
}

}  // namespace limb::bench
