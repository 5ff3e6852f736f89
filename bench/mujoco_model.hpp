#pragma once

#include <mujoco/mujoco.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "limb/model/testing/write_mjcf.hpp"

namespace limb::bench {

/// The robot without joint damping, friction and armature in MuJoCo; prints the reason and returns
/// null if it cannot be loaded.
inline mjModel* mujoco_model(const char* name, const Model<double>& model) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("limb_bench_" + std::to_string(getpid()) + ".xml");
  std::ofstream(file) << testing::write_mjcf(model, testing::Drives::left_out);
  char error[500] = "";
  mjModel* m = mj_loadXML(file.string().c_str(), nullptr, error, sizeof error);
  std::filesystem::remove(file);
  if (m == nullptr) std::printf("%s: MuJoCo cannot load it: %s\n", name, error);
  return m;
}

}  // namespace limb::bench
