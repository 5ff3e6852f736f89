#pragma once

#include "cli/demo_result.hpp"
#include "limb/model/core/read_options.hpp"

namespace limb::cli {

struct LectureDemo {
  std::string model = "builtin:rr";
  ReadOptions read;
};

/// `limb demo lecture`: a robot derived, proven and simulated, by default the RR arm of the
/// lectures. A robot without a closed form of a few pages has its recursive form instead.
/// @throws Error if the robot cannot be read.
DemoResult demo_lecture(const LectureDemo& demo);

}  // namespace limb::cli
