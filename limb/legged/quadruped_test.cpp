// Quadrupeds of any geometry: their feet are found and they stand.
#include <gtest/gtest.h>

#include <cmath>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/kinematics/frames.hpp"
#include "limb/legged/find_feet.hpp"
#include "limb/legged/legged_robot.hpp"
#include "limb/legged/testing/table_robot.hpp"
#include "limb/legged/walk_scale.hpp"
#include "limb/math/testing/compare.hpp"

namespace limb {
namespace {

using testing::message;
using testing::TableRobot;

std::vector<Vector3<double>> foot_positions(const LeggedRobot& robot) {
  Kinematics<double> kinematics(robot.model);
  forward_kinematics(robot.model, robot.q, kinematics);
  std::vector<Vector3<double>> all;
  for (const Foot& foot : robot.points()) {
    all.push_back(frame_pose(robot.model, kinematics, foot.frame).p);
  }
  return all;
}

/// Feet below the hips, legs of 0.42 m shortened by 30 %, left and right alike.
void expect_stands(const LeggedRobot& robot, double size) {
  const auto p = foot_positions(robot);
  ASSERT_EQ(p.size(), 4u);
  const double sides[4][2] = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
  // Solved to 1e-9 of the leg.
  const double close = 2e-9 * size;
  EXPECT_NEAR(robot.height(), 0.7 * 0.42 * size, close);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(p[i].x(), sides[i][0] * 0.19 * size, close) << robot.feet[i];
    EXPECT_NEAR(p[i].y(), sides[i][1] * 0.14 * size, close) << robot.feet[i];
    EXPECT_NEAR(p[i].z(), 0, close) << robot.feet[i];
  }
}

TEST(FindFeet, ByTheShapesAtTheEndsOfTheLegs) {
  using Shape = Geometry::Shape;
  for (const auto& [shape, text] : {std::pair{Shape::sphere, "sphere"},
                                    {Shape::box, "box"},
                                    {Shape::cylinder, "cylinder"},
                                    {Shape::ellipsoid, "ellipsoid"}}) {
    for (const auto& [role, which] : {std::pair{Geometry::Role::collision, "collision "},
                                      {Geometry::Role::visual, "visual "}}) {
      SCOPED_TRACE(std::string(which) + text);
      TableRobot table;
      table.foot = shape;
      table.role = role;
      Description<double> robot = table.description();
      const std::vector<FoundFoot> feet = find_feet("test", robot, Base::free);
      ASSERT_EQ(feet.size(), 4u);
      for (const FoundFoot& foot : feet) EXPECT_EQ(foot.source, std::string(which) + text);
      // Each shape ends at the end of the shank; ordered by their positions.
      ASSERT_EQ(robot.frames.size(), 4u);
      EXPECT_EQ(feet[0].frame, "FL_shank_foot");
      EXPECT_EQ(feet[1].frame, "FR_shank_foot");
      EXPECT_EQ(feet[2].frame, "RL_shank_foot");
      EXPECT_EQ(feet[3].frame, "RR_shank_foot");
      for (const auto& frame : robot.frames) {
        // Rounding of a few additions of lengths below 1 m.
        EXPECT_LT((frame.X_LF.p - Vector3<double>(0, 0, -0.21)).norm(), 1e-15) << frame.name;
      }
    }
  }
}

// The lower end of the axis of a capsule: its cap rolls about that point.
TEST(FindFeet, CapsulesEndAtTheCentreOfTheirCap) {
  TableRobot table;
  table.foot = Geometry::Shape::capsule;
  Description<double> robot = table.description();
  (void)find_feet("test", robot, Base::free);
  ASSERT_EQ(robot.frames.size(), 4u);
  EXPECT_NEAR(robot.frames[0].X_LF.p.z(), -0.21, 1e-15);
}

TEST(FindFeet, NamesComeBeforeShapes) {
  Description<double> robot = TableRobot().description();
  for (const char* leg : {"FL", "FR", "RL", "RR"}) {
    FrameDescription<double> frame;
    frame.name = std::string(leg) + "_Toe";
    frame.link = std::string(leg) + "_shank";
    frame.X_LF.p = {0, 0, -0.2};
    robot.frames.push_back(frame);
  }
  const std::vector<FoundFoot> feet = find_feet("test", robot, Base::free);
  EXPECT_EQ(feet[0].frame, "FL_Toe");
  EXPECT_EQ(feet[3].frame, "RR_Toe");
  EXPECT_EQ(feet[0].source, "frame named toe");
  EXPECT_EQ(robot.frames.size(), 4u);
}

TEST(FindFeet, MeshesCountByTheFrameOfTheirLink) {
  Description<double> robot = TableRobot().description();
  for (auto& link : robot.links) link.geometry.clear();
  for (const char* leg : {"FL", "FR", "RL", "RR"}) {
    LinkDescription<double> tip;
    tip.name = std::string(leg) + "_tip";
    Geometry mesh;
    mesh.shape = Geometry::Shape::mesh;
    tip.geometry = {mesh};
    robot.links.push_back(tip);
    JointDescription<double> weld;
    weld.name = tip.name + "_weld";
    weld.parent = std::string(leg) + "_shank";
    weld.child = tip.name;
    weld.X_PJ.p = {0, 0, -0.21};
    robot.joints.push_back(weld);
  }
  const std::vector<FoundFoot> feet = find_feet("test", robot, Base::free);
  EXPECT_EQ(feet[1].frame, "FR_tip");
  EXPECT_EQ(feet[1].source, "fixed frame with mesh");
}

TEST(FindFeet, GivenInAnyOrderAsFramesOrBodies) {
  Description<double> robot = TableRobot().description();
  const auto feet = find_feet("test", robot, Base::free, {"RR_shank", "FL_k", "FR_shank", "RL_k"});
  EXPECT_EQ(feet[0].frame, "FL_shank_foot");
  EXPECT_EQ(feet[3].frame, "RR_shank_foot");
  EXPECT_EQ(feet[0].source, "given, collision sphere");
  const auto with = [](std::vector<std::string> names) {
    return message([&] {
      Description<double> table = TableRobot().description();
      find_feet("test", table, Base::free, names);
    });
  };
  EXPECT_NE(with({"a", "b"}).find("feet is 2 names, expected four"), std::string::npos);
  EXPECT_NE(with({"FL_shank", "FR_shank", "RL_shank", "RR_shanc"}).find("RR_shanc"),
            std::string::npos);
}

TEST(Quadruped, StandsWithAxesOfAnyDirectionAndSign) {
  for (const bool turned : {false, true}) {
    for (const bool bent : {false, true}) {
      for (const double size : {0.4, 1.0, 2.0}) {
        SCOPED_TRACE(std::to_string(turned) + std::to_string(bent) + std::to_string(size));
        TableRobot table;
        table.turned = turned;
        table.bent_zero = bent;
        table.size = size;
        expect_stands(make_quadruped(table.description()), size);
      }
    }
  }
}

// Signs of the coordinates do not matter: turned or not, the knees are at the same places.
TEST(Quadruped, KneesBendInwardsOrAsTheNeutralPoseDoes) {
  const auto knee_ahead = [](const TableRobot& table, const char* joint) {
    const LeggedRobot robot = make_quadruped(table.description());
    Kinematics<double> kinematics(robot.model);
    forward_kinematics(robot.model, robot.q, kinematics);
    const auto body = static_cast<std::size_t>(robot.model.find_body(joint).value());
    const double x = kinematics.X_WB[body].p.x();
    return x > (x > 0 ? 0.19 : -0.19);
  };
  for (const bool turned : {false, true}) {
    TableRobot table;
    table.turned = turned;
    EXPECT_FALSE(knee_ahead(table, "FL_k"));
    EXPECT_TRUE(knee_ahead(table, "RR_k"));
    table.bent_zero = true;  // thighs backwards, all knees behind the hips
    EXPECT_FALSE(knee_ahead(table, "FL_k"));
    EXPECT_FALSE(knee_ahead(table, "RR_k"));
  }
}

TEST(Quadruped, StandsWithinItsLimits) {
  Description<double> robot = TableRobot().description();
  for (auto& joint : robot.joints) {
    if (!joint.name.ends_with("_k")) continue;
    joint.limits[0].lower = 0.3;  // bends to the other side at the front
    joint.limits[0].upper = 2.5;
  }
  const LeggedRobot standing = make_quadruped(robot);
  expect_stands(standing, 1);
  for (const char* knee : {"FL_k", "RR_k"}) {
    EXPECT_GT(standing.q[standing.model.body(standing.model.find_body(knee)).q_start], 0.3);
  }
  // 30 % shorter is a knee of 1.59 rad; with at most 1 rad the legs are longer than that.
  for (auto& joint : robot.joints) {
    if (joint.name.ends_with("_k")) joint.limits[0].upper = 1.3;
  }
  const LeggedRobot taller = make_quadruped(robot);
  EXPECT_GT(taller.height(), standing.height() + 0.01);
  EXPECT_LE(taller.q[taller.model.body(taller.model.find_body("FL_k")).q_start], 1.3);
  for (auto& joint : robot.joints) {
    if (joint.name.ends_with("_k")) joint.limits[0].upper = 0.31;
  }
  EXPECT_NE(message([&] { make_quadruped(robot); }).find("cannot stand within its joint limits"),
            std::string::npos);
}

// Legs of an ankle more: the foot is still below the hip and all feet are level.
TEST(Quadruped, StandsOnLegsOfFourJoints) {
  TableRobot table;
  table.joints = 4;
  const LeggedRobot robot = make_quadruped(table.description());
  const auto p = foot_positions(robot);
  for (std::size_t i = 0; i < 4; ++i) {
    // The weak preference for neutral angles leaves up to a thousandth of the leg.
    EXPECT_NEAR(p[i].x(), i < 2 ? 0.19 : -0.19, 1e-3);
    EXPECT_NEAR(p[i].z(), 0, 2e-3);
  }
}

TEST(Quadruped, ArmsAndTailsAreHeld) {
  TableRobot table;
  table.arm = table.tail = true;
  const LeggedRobot robot = make_quadruped(table.description());
  expect_stands(robot, 1);
  EXPECT_EQ(robot.held_velocities().size(), 4u);
  for (const int i : robot.held_velocities()) EXPECT_GE(i, 18);
  EXPECT_TRUE(make_quadruped(TableRobot().description()).held_velocities().empty());
}

TEST(Quadruped, LocksWhatItCannotControl) {
  TableRobot table;
  table.arm = true;
  Description<double> robot = table.description();
  CouplingDescription<double> mimic;
  mimic.joint = "arm_3";
  mimic.terms = {{"arm_2", -1.0}};
  robot.couplings.push_back(mimic);
  const LeggedRobot locked = make_quadruped(robot);
  EXPECT_EQ(locked.held_velocities().size(), 1u);
  EXPECT_EQ(locked.model.nv(), locked.model.uncoupled_nv());
  bool said = false;
  for (const std::string& remark : locked.remarks) {
    said = said || (remark.find("locked") == 0 && remark.find("arm_2") != std::string::npos);
  }
  EXPECT_TRUE(said);
}

// URDF files may have transmissions of an arm only.
TEST(Quadruped, LegJointsWithEffortLimitsHaveMotors) {
  TableRobot table;
  table.arm = true;
  Description<double> robot = table.description();
  for (const char* joint : {"arm_1", "arm_2"}) robot.actuators.push_back({joint, 1, {}});
  const LeggedRobot walker = make_quadruped(robot);
  EXPECT_EQ(walker.model.nv(), 6 + 12 + 2);  // arm_3 is locked
  for (int i = 6; i < walker.model.nv(); ++i) {
    EXPECT_TRUE(walker.model.actuated()[static_cast<std::size_t>(i)]);
  }
}

// A file may describe a scene: the robot is the largest of the moving things.
TEST(Quadruped, IsTakenOutOfItsScene) {
  Description<double> scene = TableRobot().description();
  LinkDescription<double> ball = scene.links[0];
  ball.name = "ball";
  scene.links.push_back(ball);
  for (const char* link : {"ball", "trunk"}) {
    JointDescription<double> root;
    root.name = std::string(link) + "_root";
    root.type = JointType::free;
    root.parent = kWorldLink;
    root.child = link;
    scene.joints.push_back(root);
  }
  const LeggedRobot robot = make_quadruped(scene);
  expect_stands(robot, 1);
  EXPECT_EQ(robot.model.name(), "table");
  EXPECT_EQ(robot.model.nv(), 18);
}

TEST(Quadruped, PostureOfTheUserReplacesWhatWasFound) {
  QuadrupedOptions options;
  options.joints = {{"FL_a", 0.1}, {"FR_a", -0.1}};
  const LeggedRobot robot = make_quadruped(TableRobot().description(), options);
  EXPECT_EQ(robot.q[robot.model.body(robot.model.find_body("FL_a")).q_start], 0.1);
  EXPECT_EQ(robot.q[robot.model.body(robot.model.find_body("RL_a")).q_start], 0);
}

TEST(Quadruped, LegsOfFourJointsHaveARemark) {
  TableRobot table;
  const auto count = [&] {
    const std::vector<std::string> remarks = make_quadruped(table.description()).remarks;
    return std::count(remarks.begin(), remarks.end(),
                      "legs of more than three joints: the walk is not tuned for them");
  };
  EXPECT_EQ(count(), 0);
  table.joints = 4;
  EXPECT_EQ(count(), 1);
}

TEST(Quadruped, RefusesOtherRobotsWithWhatWasFound) {
  const auto refusal = [](TableRobot table) {
    return message([&] { make_quadruped(table.description()); });
  };
  TableRobot table;
  table.legs = 2;
  const std::string biped = refusal(table);
  EXPECT_NE(biped.find("2 legs that reach the ground"), std::string::npos) << biped;
  EXPECT_NE(biped.find("expected four legs of three joints each"), std::string::npos) << biped;
  table.legs = 6;
  EXPECT_NE(refusal(table).find("6 legs that reach the ground"), std::string::npos);
  table = {};
  table.joints = 2;
  EXPECT_NE(refusal(table).find("2 joints in the leg of 'FL_shank_foot'"), std::string::npos);
  const std::string passive = message([] {
    Description<double> robot = TableRobot().description();
    robot.actuators.push_back({"FL_a", 1, {}});
    make_quadruped(robot);
  });
  EXPECT_NE(passive.find("without motors in FL_t, FL_k, FR_a, 8 more"), std::string::npos)
      << passive;
  const std::string bare = message([] {
    Description<double> robot = TableRobot().description();
    for (auto& link : robot.links) link.geometry.clear();
    make_quadruped(robot);
  });
  EXPECT_NE(bare.find("0 legs that reach the ground"), std::string::npos) << bare;
}

// Equal Froude numbers: v^2 / (g h), and impulse / (m v).
TEST(WalkScale, IsDynamicallySimilar) {
  const WalkScale reference = walk_scale(load_quadruped("builtin:quadruped"));
  EXPECT_EQ(reference.trot, Gait::trot());
  EXPECT_EQ(reference.speed, 0.5);
  EXPECT_EQ(reference.push, 4);
  EXPECT_EQ(reference.block_size, 0.25);
  EXPECT_EQ(reference.block_height, 0.02);
  TableRobot table;
  table.size = 4;
  table.mass = 60;
  const WalkScale large = walk_scale(make_quadruped(table.description()));
  EXPECT_EQ(large.trot, Gait::trot(1.0));
  EXPECT_EQ(large.speed, 1);
  // The mass of the links is 0.46 + 4 (0.045 + 0.077 + 0.013) = 1 of 60 kg.
  EXPECT_EQ(large.push, 32);
  EXPECT_EQ(large.block_size, 1);
  EXPECT_EQ(large.block_height, 0.08);
}

}  // namespace
}  // namespace limb
