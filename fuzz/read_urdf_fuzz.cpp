// Any bytes as URDF: a description, diagnostics or an Error, and nothing else. A robot that is read
// without error is written, and must be read back without error with the same number of parts.
#include <algorithm>
#include <string>

#include "fuzz/target.hpp"
#include "limb/base/error.hpp"
#include "limb/model/urdf/read_urdf.hpp"
#include "limb/model/urdf/write_urdf.hpp"

namespace {

using limb::fuzz::require;

bool has_joint_on_missing_world(const limb::Description<double>& robot) {
  const auto is_world = [](const auto& link) { return link.name == limb::kWorldLink; };
  const auto on_world = [](const auto& joint) { return joint.parent == limb::kWorldLink; };
  return std::any_of(robot.joints.begin(), robot.joints.end(), on_world) &&
         std::none_of(robot.links.begin(), robot.links.end(), is_world);
}

limb::Description<double> parse(std::string text, limb::Diagnostics& found) {
  return limb::parse_urdf(std::move(text), "fuzz.urdf", {{LIMB_FUZZ_FILES}}, found);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  limb::Diagnostics found;
  limb::Description<double> robot;
  try {
    robot = parse(std::string(limb::fuzz::as_text(data, size)), found);
  } catch (const limb::Error&) {
    return 0;
  }
  for (const auto& d : found) require(!d.text().empty() && d.source.line > 0);
  if (has_errors(found)) return 0;

  limb::Diagnostics notes, again;
  const auto copy = parse(limb::write_urdf(robot, notes), again);
  require(!has_errors(again));
  require(copy.links.size() == robot.links.size() + (has_joint_on_missing_world(robot) ? 1 : 0));
  require(copy.joints.size() == robot.joints.size());
  require(copy.actuators.size() == robot.actuators.size());
  return 0;
}
