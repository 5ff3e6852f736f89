#include "limb/legged/legged_robot.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "limb/dynamics/kinematics/forward_kinematics.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/load.hpp"
#include "limb/model/testing/shared.hpp"

namespace limb {
namespace {

using testing::message;

void expect_standing(const LeggedRobot& robot) {
  Kinematics<double> kinematics(robot.model);
  forward_kinematics(robot.model, robot.q, kinematics);
  ASSERT_EQ(robot.feet.size(), 4u);
  const double sides[4][2] = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
  double lowest = 1;
  for (std::size_t i = 0; i < 4; ++i) {
    const Vector3<double> p = frame_pose(robot.model, kinematics, robot.points()[i].frame).p;
    EXPECT_GT(sides[i][0] * p.x(), 0.05) << robot.feet[i];
    EXPECT_GT(sides[i][1] * p.y(), 0.05) << robot.feet[i];
    EXPECT_LT(p.z(), 0.05 * robot.height()) << robot.feet[i];
    lowest = std::min(lowest, p.z());
  }
  EXPECT_NEAR(lowest, 0, 8 * std::numeric_limits<double>::epsilon());
}

TEST(LeggedRobot, BuiltinQuadrupedStandsOnItsFeet) {
  const LeggedRobot robot = load_quadruped("builtin:quadruped");
  EXPECT_EQ(robot.feet, (std::vector<std::string>{"FL_foot", "FR_foot", "RL_foot", "RR_foot"}));
  expect_standing(robot);
  // Two links of 0.21 m, both at the angle acos(0.7) from the vertical.
  EXPECT_NEAR(robot.height(), 2 * 0.21 * 0.7, 1e-15);
}

TEST(LeggedRobot, RealQuadrupedsStandOnTheirFeet) {
  const auto shared = testing::shared_folder();
  if (shared.empty()) GTEST_SKIP() << "no folder of reference robots (LIMB_SHARED)";
  for (const char* name : {"go2", "anymal_b", "hyq"}) {
    SCOPED_TRACE(name);
    expect_standing(load_quadruped((shared / "robots" / name).string() + ".urdf"));
  }
}

TEST(LeggedRobot, RejectsInvalidArguments) {
  EXPECT_NE(message([] {
              load_quadruped("builtin:humanoid");
            }).find("expected four legs of three joints each"),
            std::string::npos);
  EXPECT_NE(message([] {
              load_quadruped("builtin:quadruped", 1);
            }).find("crouch is 1, expected between 0 and 1"),
            std::string::npos);
  EXPECT_NE(message([] {
              make_legged_robot(load_model("builtin:arm7"), {"tool"}, {});
            }).find("expected a robot on a free base"),
            std::string::npos);
  EXPECT_NE(message([] {
              make_legged_robot(load_model("builtin:quadruped"), {"FL_fot"}, {});
            }).find("FL_fot"),
            std::string::npos);
}

}  // namespace
}  // namespace limb
