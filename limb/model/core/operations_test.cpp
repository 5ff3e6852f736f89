// Operations on robots preserve their kinematics and dynamics.
#include "limb/model/core/operations.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "limb/model/core/builder.hpp"
#include "limb/model/testing/reference_dynamics.hpp"

namespace limb {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// base - j1 - l1 - (weld) - plate - j2 - l2 - (weld) - tool; a follower f on the base mimics j1.
RobotBuilder<double> arm() {
  RobotBuilder<double> b("arm");
  const Matrix3d I = Vector3d(0.03, 0.02, 0.01).asDiagonal();
  b.link("base", 4.0, {0, 0, 0.1}, I).link("l1", 2.0, {0.1, 0, 0.2}, I);
  b.link("plate", 0.5, {0, 0.05, 0}, I * 0.1).link("l2", 1.5, {0, 0.1, 0.1}, I);
  b.link("tool", 0.2, {0, 0, 0.02}, I * 0.01).link("f", 0.1, {0, 0, 0.01}, I * 0.01);
  b.joint("j1", Joint<double>::revolute(Vector3d::UnitZ()), "base", "l1",
          {axis_rotation(0, 0.3), {0, 0, 0.3}});
  b.joint("w1", Joint<double>::fixed(), "l1", "plate", {axis_rotation(1, 0.7), {0.1, 0, 0.4}});
  b.joint("j2", Joint<double>::revolute(Vector3d::UnitY()), "plate", "l2",
          {axis_rotation(2, -0.4), {0, 0.1, 0}});
  b.joint("w2", Joint<double>::fixed(), "l2", "tool", {axis_rotation(0, 1.1), {0, 0, 0.2}});
  b.joint("jf", Joint<double>::revolute(Vector3d::UnitX()), "base", "f");
  b.couple("jf", {{"j1", 2.0}}, 0.1);
  b.frame("tip", "tool", {axis_rotation(2, 0.2), {0, 0, 0.1}});
  return b;
}

// Chains of a dozen poses and inertias of order 1.
constexpr double kTolerance = 64 * kEps;

TEST(MergeFixedJoints, KeepsDynamicsFramesAndOrder) {
  const auto before = arm().description();
  const auto after = merge_fixed_joints(before);
  EXPECT_EQ(after.links.size(), 4u);
  EXPECT_EQ(after.joints.size(), 3u);
  const Model<double> a = build_model(before), b = build_model(after);
  const VectorXd q = Vector3d(0.4, -0.8, 0.9);
  EXPECT_LT((testing::mass_matrix(a, q) - testing::mass_matrix(b, q)).norm(), kTolerance);
  EXPECT_LT((testing::gravity_force(a, q) - testing::gravity_force(b, q)).norm(), 10 * kTolerance);
  for (const char* frame : {"base", "l1", "plate", "l2", "tool", "f", "tip"}) {
    EXPECT_LT(
        (testing::frame_pose(a, q, frame).matrix() - testing::frame_pose(b, q, frame).matrix())
            .norm(),
        kTolerance)
        << frame;
  }
  EXPECT_EQ(merge_fixed_joints(after).links.size(), after.links.size());
}

TEST(LockJoints, LocksAJointAndItsFollower) {
  const auto before = arm().description();
  const auto after = lock_joints(before, {{"j1", {0.4}}});
  const Model<double> a = build_model(before), b = build_model(after);
  ASSERT_EQ(b.nv(), 1);
  EXPECT_TRUE(b.coupling().is_identity());
  const VectorXd q = Vector3d(0.4, -0.8, 2 * 0.4 + 0.1), q_left = VectorXd::Constant(1, -0.8);
  EXPECT_NEAR(testing::mass_matrix(b, q_left)(0, 0), testing::mass_matrix(a, q)(1, 1), kTolerance);
  for (const char* frame : {"tip", "f"}) {
    EXPECT_LT(
        (testing::frame_pose(a, q, frame).matrix() - testing::frame_pose(b, q_left, frame).matrix())
            .norm(),
        kTolerance);
  }
}

// 0.1 + 2 q - 3 q^2 + 0.5 q^3 at q = 0.4.
TEST(LockJoints, FollowersOfAPolynomialAreLockedAtItsValue) {
  auto before = arm().description();
  before.couplings.at(0).powers = {-3, 0.5};
  const Model<double> a = build_model(before);
  ASSERT_EQ(a.loops().size(), 1u);
  const Model<double> b = build_model(lock_joints(before, {{"j1", {0.4}}}));
  ASSERT_EQ(b.nv(), 1);
  EXPECT_TRUE(b.loops().empty());
  const VectorXd q = Vector3d(0.4, -0.8, 0.1 + 0.8 - 3 * 0.16 + 0.5 * 0.064),
                 q_left = VectorXd::Constant(1, -0.8);
  EXPECT_LT((testing::frame_pose(a, q, "f").matrix() - testing::frame_pose(b, q_left, "f").matrix())
                .norm(),
            kTolerance);
}

TEST(LockJoints, RejectsFollowersWrongSizesAndUnknownNames) {
  const auto robot = arm().description();
  const auto message = [&](const std::map<std::string, std::vector<double>>& positions) {
    try {
      lock_joints(robot, positions);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(message({{"jf", {0.1}}}), "lock_joints: joint 'jf' follows 'j1'; lock that one");
  EXPECT_EQ(message({{"j2", {0.1, 0.2}}}),
            "lock_joints: q of joint 'j2' has 2 entries, expected 1");
  EXPECT_EQ(message({{"j3", {0.1}}}), "lock_joints: no joint is named 'j3' (closest: 'j1')");
  EXPECT_EQ(message({{"j2", {std::numeric_limits<double>::quiet_NaN()}}}),
            "lock_joints: q of joint 'j2'[0] is nan, expected a finite number");
}

TEST(ExtractSubtree, HasTheDynamicsOfThePart) {
  const auto whole = arm().description();
  const auto part = extract_subtree(whole, "plate");
  EXPECT_EQ(part.links.size(), 3u);
  const Model<double> model = build_model(part);
  ASSERT_EQ(model.uncoupled_nv(), 1);
  const VectorXd q = VectorXd::Constant(1, 0.5);
  const VectorXd q_whole = Vector3d(0.1, 0.5, 0.3);
  EXPECT_NEAR(testing::mass_matrix(model, q)(0, 0),
              testing::mass_matrix(build_model(whole), q_whole)(1, 1), kTolerance);
  auto crossed = whole;
  crossed.couplings[0].terms[0].joint = "j2";
  try {
    extract_subtree(crossed, "plate");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "extract_subtree: the coupling of joint 'jf' crosses the cut at link 'plate'; "
                 "remove it first");
  }
}

TEST(AttachPayload, AddsItsInertiaToTheLink) {
  const auto robot = arm().description();
  const auto payload = Inertia<double>::from_com(0.8, {0, 0.1, 0.2},
                                                 Matrix3d(Vector3d(0.01, 0.02, 0.02).asDiagonal()));
  const Model<double> before = build_model(robot);
  const Model<double> after = build_model(attach_payload(robot, "tool", payload));
  const VectorXd q = Vector3d(0.4, -0.8, 0.9);
  // Expected: M plus J^T I J of the payload at the tool.
  const std::size_t body = static_cast<std::size_t>(before.find_body("j2").value());
  const Frame<double>& tool = before.frame(before.find_frame("tool"));
  const auto J = testing::body_jacobian(before, q, body);
  const Eigen::MatrixXd added = J.transpose() * payload.transformed(tool.X_BF).matrix() * J;
  EXPECT_LT((testing::mass_matrix(after, q) - testing::mass_matrix(before, q) - added).norm(),
            kTolerance);
  EXPECT_THROW(attach_payload(robot, "tool", Inertia<double>()), Error);
}

TEST(AttachRobot, WeldsASecondRobotWithAPrefix) {
  const auto robot = arm().description();
  const Pose<double> X{axis_rotation(0, 0.5), {0, 0, 0.3}};
  const auto twin = attach_robot(robot, "tool", robot, X, "second_");
  const Model<double> model = build_model(twin), single = build_model(robot);
  EXPECT_EQ(model.uncoupled_nv(), 6);
  EXPECT_EQ(model.coupling().ny_v(), 4);
  VectorXd q = VectorXd::Zero(6);
  EXPECT_LT((testing::frame_pose(model, q, "second_tip").matrix() -
             (testing::frame_pose(single, VectorXd(Vector3d::Zero()), "tool") * X *
              testing::frame_pose(single, VectorXd(Vector3d::Zero()), "tip"))
                 .matrix())
                .norm(),
            kTolerance);
  try {
    attach_robot(robot, "tool", robot, X);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "attach_robot: both robots have a link named 'base'; give a prefix");
  }
}

TEST(AddFrame, IsAtItsPoseInALinkOrAnotherFrame) {
  const auto robot = arm().description();
  const Pose<double> X{axis_rotation(0, 0.5), {0, 0.2, 0.3}}, Y{axis_rotation(2, -0.2), {1, 0, 0}};
  const auto extended = add_frame(add_frame(robot, "grip", "tool", X), "finger", "grip", Y);
  const Model<double> model = build_model(extended), before = build_model(robot);
  const VectorXd q = Vector3d(0.4, -0.8, 0.9);
  const Pose<double> X_WT = testing::frame_pose(before, q, "tool");
  EXPECT_LT((testing::frame_pose(model, q, "grip").matrix() - (X_WT * X).matrix()).norm(),
            kTolerance);
  EXPECT_LT((testing::frame_pose(model, q, "finger").matrix() - (X_WT * X * Y).matrix()).norm(),
            kTolerance);
  EXPECT_EQ(testing::mass_matrix(model, q), testing::mass_matrix(before, q));
  const auto message = [&](std::string_view name, std::string_view parent, const Pose<double>& at) {
    try {
      add_frame(extended, name, parent, at);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(message("tool", "l2", X), "add_frame: a link or frame is already named 'tool'");
  EXPECT_EQ(message("grip", "l2", X), "add_frame: a link or frame is already named 'grip'");
  EXPECT_EQ(message("", "l2", X), "add_frame: name is empty, expected a name");
  EXPECT_EQ(message("a", "gripp", X),
            "add_frame: no link or frame is named 'gripp' (closest: 'grip')");
  const Pose<double> scaled{2 * Matrix3d::Identity(), Vector3d::Zero()};
  EXPECT_NE(message("a", "l2", scaled).find("add_frame: rotation of the pose"), std::string::npos);
  const Pose<double> infinite{Matrix3d::Identity(), {0, std::nan(""), 0}};
  EXPECT_NE(message("a", "l2", infinite).find("add_frame: position of the pose"),
            std::string::npos);
}

TEST(WithGravity, ChangesOnlyGravity) {
  const auto robot = arm().description();
  const auto moon = with_gravity(robot, {0.1, -0.2, -1.62});
  EXPECT_EQ(build_model(moon).gravity(), Vector3d(0.1, -0.2, -1.62));
  EXPECT_EQ(build_model(robot).gravity(), Vector3d(0, 0, -9.81));
  const VectorXd q = Vector3d(0.4, -0.8, 0.9);
  EXPECT_EQ(testing::mass_matrix(build_model(moon), q),
            testing::mass_matrix(build_model(robot), q));
  EXPECT_THROW(with_gravity(robot, {0, 0, std::nan("")}), Error);
}

}  // namespace
}  // namespace limb
