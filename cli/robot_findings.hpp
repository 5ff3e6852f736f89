#pragma once

#include <string>
#include <string_view>

#include "limb/model/core/read_options.hpp"

namespace limb::cli {

/// What is wrong with a robot file although it can be read.
struct RobotFindings {
  int warnings = 0;         ///< of the reader: what it does not support or had to ignore
  int errors = 0;           ///< of the linter: the robot is physically impossible
  std::string first_error;  ///< "a.urdf:12: link 'arm': mass is -2, expected > 0"
  std::string text;         ///< for stderr: one line, or one per finding; empty without findings
};

/// Reads and checks the file. Nothing is found in a file that cannot be read: the verb reports
/// that.
RobotFindings find_in_robot(std::string_view call, const std::string& path,
                            const ReadOptions& options, bool verbose);

}  // namespace limb::cli
