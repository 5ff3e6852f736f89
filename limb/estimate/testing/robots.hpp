#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "limb/model/core/load.hpp"
#include "limb/model/testing/shared.hpp"

namespace limb::testing {

/// A legged robot: its file, its feet and its inertial sensor.
struct Walker {
  std::string name;  ///< builtin:..., or a file of the shared robots
  std::vector<std::string> feet;
  std::string imu;

  bool is_available() const { return name.starts_with("builtin:") || !shared_folder().empty(); }
  Model<double> load() const {
    if (name.starts_with("builtin:")) return load_model(name);
    return load_model((shared_folder() / "robots" / name).string(), Base::free);
  }
};

inline std::vector<Walker> walkers() {
  return {
      {"builtin:quadruped", {"FL_foot", "FR_foot", "RL_foot", "RR_foot"}, ""},
      {"builtin:humanoid", {"left_sole", "right_sole"}, ""},
      {"hyq.urdf", {"lf_foot", "rf_foot", "lh_foot", "rh_foot"}, "trunk_imu"},
      {"anymal_b.urdf", {"LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"}, "imu_link"},
      {"talos_reduced.urdf", {"left_sole_link", "right_sole_link"}, ""},
  };
}

}  // namespace limb::testing
