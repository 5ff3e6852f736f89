#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/demo_result.hpp"
#include "limb/model/core/read_options.hpp"

namespace limb::cli {

struct QuadrupedDemo {
  std::string model = "builtin:quadruped";
  ReadOptions read;
  std::string feet;     ///< "a,b,c,d": frames or bodies; empty: found
  std::string posture;  ///< "joint=angle,...": rad, instead of those found
  double seconds = 10;  ///< s of trotting
  std::optional<double>
      speed;                   ///< m/s; default: by the size of the robot, 0.5 for the built-in one
  std::optional<double> push;  ///< N s, to the left; default likewise, 4
  std::uint64_t seed = 1;
  bool flat = false;
};

/// `limb demo`: a quadruped, from its file to walking. The model is checked, its equations of
/// motion are proven and compiled; then it stands, trots over blocks, is pushed and stops, walking
/// on its own state estimate. Speed, gait, push and blocks suit its size. Not ok if it fell.
/// @throws Error as load_quadruped, and if interrupted.
DemoResult demo_quadruped(const QuadrupedDemo& demo);

}  // namespace limb::cli
