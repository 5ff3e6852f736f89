// Feet and postures of quadrupeds from files, blocks, and a robot that is held.
#include "limb/legged/legged_robot.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "limb/dynamics/kinematics.hpp"
#include "limb/legged/terrain.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/load.hpp"
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

TEST(LeggedRobot, SaysWhatIsWrong) {
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

TEST(Terrain, BlocksAreWithinTheirHeightsAndTheSameForASeed) {
  const BlockField field;
  const Ground a = block_ground(field, 3), b = block_ground(field, 3), c = block_ground(field, 4);
  double highest = -1, lowest = 1, other = 0;
  for (int i = 0; i < 2000; ++i) {
    const double x = -1 + 0.0071 * i, y = std::sin(i);
    const double h = ground_height(a, x, y);
    EXPECT_EQ(h, ground_height(b, x, y));
    const bool beside = x < field.begin - 0.01 || x > field.begin + field.length + 0.01;
    EXPECT_TRUE(!beside || h == 0);
    highest = std::max(highest, h);
    lowest = std::min(lowest, h);
    other = std::max(other, std::abs(h - ground_height(c, x, y)));
  }
  EXPECT_LE(highest, field.height);
  EXPECT_GT(highest, 0.9 * field.height);
  EXPECT_GE(lowest, -field.height);
  EXPECT_LT(lowest, -0.9 * field.height);
  EXPECT_GT(other, field.height);
  EXPECT_NE(message([] { block_ground({.size = 1e-3}, 1); }).find("at most 100 000 blocks"),
            std::string::npos);
}

}  // namespace
}  // namespace limb
