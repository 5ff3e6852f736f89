#pragma once

#include <cstdint>

#include "cli/demo_result.hpp"
#include "limb/model/core/read_options.hpp"

namespace limb::cli {

struct QuadrupedDemo {
  std::string model = "builtin:quadruped";
  ReadOptions read;
  double seconds = 10;  ///< s of trotting
  double speed = 0.5;   ///< m/s
  double push = 4;      ///< N s, to the left
  std::uint64_t seed = 1;
  bool flat = false;
};

/// `limb demo`: a quadruped, from its file to walking. The model is checked, its equations of
/// motion are proven and compiled; then it stands, trots over blocks, is pushed and stops, walking
/// on its own state estimate. Not ok if it fell or a check failed.
/// @throws Error as load_quadruped, and if interrupted.
DemoResult demo_quadruped(const QuadrupedDemo& demo);

}  // namespace limb::cli
