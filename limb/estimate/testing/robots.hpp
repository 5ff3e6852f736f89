#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "limb/base/testing/left_out.hpp"
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

/// Those of the robots whose files are here. The others are reported as left out.
inline std::vector<Walker> available_walkers(std::vector<Walker> all = walkers()) {
  std::erase_if(all, [](const Walker& walker) {
    if (!walker.is_available()) leave_out(why_no_shared());
    return !walker.is_available();
  });
  EXPECT_GE(all.size(), 2U);  // those of the library
  return all;
}

/// The quadruped with a frame "imu" on its trunk that is rotated about three axes and away from the
/// origin of the base. The sensors of the robots above are turned by half a turn, which is its own
/// inverse.
inline Pose<double> tilted_imu() {
  return {axis_rotation<double>(2, 0.7) * axis_rotation<double>(1, -0.5) *
              axis_rotation<double>(0, 1.1),
          {0.15, -0.25, 0.2}};
}
inline Model<double> quadruped_with_imu() {
  Description<double> robot = load_description("builtin:quadruped");
  robot.frames.push_back({"imu", "trunk", tilted_imu(), {}});
  return build_model(robot, Base::described);
}

}  // namespace limb::testing
