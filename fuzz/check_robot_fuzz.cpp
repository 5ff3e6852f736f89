// Any bytes as URDF or MJCF: check the robot, however broken, and repair it. A repaired URDF text
// can be read again.
#include <string>

#include "fuzz/target.hpp"
#include "limb/base/error.hpp"
#include "limb/model/core/load.hpp"
#include "limb/model/lint/check.hpp"
#include "limb/model/lint/repair.hpp"
#include "limb/model/mjcf/read_mjcf.hpp"
#include "limb/model/urdf/read_urdf.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace limb;
  const std::string text(fuzz::as_text(data, size));
  const ReadOptions options{{"/fuzz-has-no-such-folder"}};
  Diagnostics found;
  try {
    if (robot_format("fuzz.xml", text) == RobotFormat::mjcf) {
      const auto robot = parse_mjcf(text, "fuzz.xml", options, found);
      for (const auto& d : check_robot(robot)) fuzz::require(!d.text().empty());
      repair_robot(robot);
      return 0;
    }
    parse_urdf(text, "fuzz.urdf", options, found);
  } catch (const Error&) {
    return 0;
  }
  const RepairedUrdf repaired = repair_urdf_text(text, "fuzz.urdf", options);
  for (const FileEdit& edit : repaired.edits) fuzz::require(!edit.text().empty());
  Diagnostics again;
  parse_urdf(repaired.text, "again.urdf", options, again);
  fuzz::require(has_errors(found) || !has_errors(again));
  return 0;
}
