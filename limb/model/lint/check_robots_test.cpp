// Findings of the linter in real robots. Each was reviewed and is correct; a rule with false
// positives changes these lists.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "limb/model/lint/check.hpp"
#include "limb/model/lint/repair.hpp"
#include "limb/model/testing/shared.hpp"
#include "limb/model/urdf/read_urdf.hpp"

namespace limb {
namespace {

using Counts = std::map<std::string, int>;

TEST(CheckRobots, FindingsMatchTheReviewedOnes) {
  const auto folder = testing::shared_folder();
  if (folder.empty()) GTEST_SKIP() << testing::why_no_shared();
  const std::map<std::string, Counts> expected = {
      // Placeholder tensors with six equal entries; thigh products opposite to those of the shapes.
      {"anymal_b", {{"inertia-triangle", 1}, {"products-mirrored", 4}, {"quarter-turn", 1}}},
      {"hyq", {{"inertia-triangle", 5}, {"inertia-zero", 1}, {"quarter-turn", 13}}},
      // All limits are zeros.
      {"double_pendulum", {{"limit-empty", 2}}},
      {"double_pendulum_continuous", {{"effort-zero", 2}, {"velocity-zero", 2}}},
      // Gripper motors that no body has; the right shoulder has the products of the left one.
      {"talos_reduced",
       {{"coupling-of-fixed", 12},
        {"inertia-zero", 5},
        {"inertia-triangle", 2},
        {"products-mirrored", 1},
        {"asymmetry-copied", 1},
        {"quarter-turn", 10}}},
      {"go2", {}},
      {"iiwa14", {}},
      {"panda", {}},
      {"simple_humanoid", {}},
      // 1.57079632679
      {"ur5", {{"quarter-turn", 5}}}};
  for (const auto& [name, counts] : expected) {
    const auto robot = read_urdf(folder / "robots" / (name + ".urdf"));
    Counts found;
    for (const Diagnostic& d : check_robot(robot)) {
      EXPECT_NE(d.severity, Diagnostic::Severity::error) << d.text();
      if (d.rule != "mesh-not-found") ++found[d.rule];
    }
    EXPECT_EQ(found, counts) << name;
    const RepairedRobot repaired = repair_robot(robot);
    EXPECT_TRUE(repair_robot(repaired.robot).edits.empty()) << name;
  }
}

}  // namespace
}  // namespace limb
