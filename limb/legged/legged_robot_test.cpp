#include "limb/legged/legged_robot.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "limb/base/testing/temporary_folder.hpp"
#include "limb/base/testing/worst.hpp"
#include "limb/base/text_file.hpp"
#include "limb/dynamics/kinematics/forward_kinematics.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/core/load.hpp"
#include "limb/model/recipe/write_recipe.hpp"
#include "limb/model/testing/shared.hpp"

namespace limb {
namespace {

using testing::message;

void expect_standing(const LeggedRobot& robot) {
  Kinematics<double> kinematics(robot.model);
  forward_kinematics(robot.model, robot.q, kinematics);
  ASSERT_EQ(robot.feet.size(), 4u);
  const double sides[4][2] = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
  Least lowest;
  for (std::size_t i = 0; i < 4; ++i) {
    const Vector3<double> p = frame_pose(robot.model, kinematics, robot.points()[i].frame).p;
    EXPECT_GT(sides[i][0] * p.x(), 0.05) << robot.feet[i];
    EXPECT_GT(sides[i][1] * p.y(), 0.05) << robot.feet[i];
    EXPECT_LT(p.z(), 0.05 * robot.height()) << robot.feet[i];
    lowest.add(p.z());
  }
  EXPECT_NEAR(lowest.value(), 0, 8 * std::numeric_limits<double>::epsilon());
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
  if (shared.empty()) GTEST_SKIP() << testing::why_no_shared();
  for (const char* name : {"go2", "anymal_b", "hyq"}) {
    SCOPED_TRACE(name);
    expect_standing(load_quadruped((shared / "robots" / name).string() + ".urdf"));
  }
}

// Legs of two links of 0.21 m with both at acos(1 - crouch) from the vertical: the height is
// (1 - crouch) of the stretched leg, and knees bend by twice that angle against the hips.
TEST(LeggedRobot, CrouchShortensTheLegs) {
  for (const double crouch : {0.2, 0.3, 0.5}) {
    const LeggedRobot robot = load_quadruped("builtin:quadruped", crouch);
    EXPECT_NEAR(robot.height(), 0.42 * (1 - crouch), 1e-14);
    for (const char* leg : {"FL", "FR", "RL", "RR"}) {
      const auto q = [&](const char* joint) {
        return robot.q[robot.model.body(robot.model.find_body(leg + std::string(joint))).q_start];
      };
      EXPECT_DOUBLE_EQ(q("_flexion"), std::acos(1 - crouch));
      EXPECT_DOUBLE_EQ(q("_knee"), -2 * std::acos(1 - crouch));
      EXPECT_EQ(q("_abduction"), 0);
    }
  }
  // Knees cannot be straighter than their limit of -0.84 rad: the legs are shorter than asked for.
  const LeggedRobot limited = load_quadruped("builtin:quadruped", 0.05);
  const Body<double>& knee = limited.model.body(limited.model.find_body("FL_knee"));
  EXPECT_LE(limited.q[knee.q_start], *knee.limits[0].upper);
  EXPECT_LT(limited.height(), 0.42 * 0.95);
  EXPECT_GT(limited.height(), 0.42 * 0.8);
  for (const double crouch : {0.0, 1.0, -0.1, std::nan("")}) {
    EXPECT_NE(message([&] { load_quadruped("builtin:quadruped", crouch); }), "no error") << crouch;
  }
}

// Knees bend in the direction that their limits allow; without limits backwards at the front and
// forwards at the rear.
TEST(LeggedRobot, KneesBendAsTheirLimitsAllow) {
  const auto knees = [](double lower, double upper, bool limited) {
    RobotBuilder<double> robot("table");
    const Matrix3<double> I = 0.01 * Matrix3<double>::Identity();
    robot.link("trunk", 10, {0, 0, 0}, I);
    for (const auto& [name, x, y] :
         {std::tuple{"FL", 0.3, 0.2}, {"FR", 0.3, -0.2}, {"RL", -0.3, 0.2}, {"RR", -0.3, -0.2}}) {
      const std::string leg = name;
      for (const char* part : {"hip", "thigh", "shank"})
        robot.link(leg + part, 0.5, {0, 0, -0.1}, I);
      robot.joint(leg + "_a", Joint<double>::revolute({1, 0, 0}), "trunk", leg + "hip",
                  {Matrix3<double>::Identity(), {x, y, 0}});
      robot.joint(leg + "_t", Joint<double>::revolute({0, 1, 0}), leg + "hip", leg + "thigh");
      robot.joint(leg + "_k", Joint<double>::revolute({0, 1, 0}), leg + "thigh", leg + "shank",
                  {Matrix3<double>::Identity(), {0, 0, -0.25}});
      if (limited) {
        DofLimits<double> limits;
        limits.lower = lower;
        limits.upper = upper;
        robot.limits({limits});
      }
      robot.frame(leg + "_foot", leg + "shank", {Matrix3<double>::Identity(), {0, 0, -0.25}});
    }
    const testing::TemporaryFolder folder;
    const auto path = folder.path() / "table.toml";
    write_text_file("test", path, write_recipe(robot.description()));
    const LeggedRobot table = load_quadruped(path.string());
    EXPECT_NEAR(table.height(), 0.5 * 0.7, 1e-14);
    std::vector<double> signs;
    for (const char* leg : {"FL_k", "FR_k", "RL_k", "RR_k"}) {
      const double q = table.q[table.model.body(table.model.find_body(leg)).q_start];
      EXPECT_NEAR(std::abs(q), 2 * std::acos(0.7), 1e-14);
      signs.push_back(q > 0 ? 1 : -1);
    }
    return signs;
  };
  EXPECT_EQ(knees(0, 0, false), (std::vector<double>{-1, -1, 1, 1}));
  EXPECT_EQ(knees(-2, 2, true), (std::vector<double>{-1, -1, 1, 1}));
  EXPECT_EQ(knees(-2, 0.5, true), (std::vector<double>{-1, -1, -1, -1}));
  EXPECT_EQ(knees(-0.5, 2, true), (std::vector<double>{1, 1, 1, 1}));
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
