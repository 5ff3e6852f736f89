#include <gtest/gtest.h>

#include "limb/dynamics/ik/inverse_kinematics.hpp"
#include "limb/dynamics/kinematics/frames.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/model/core/load.hpp"
#include "limb/model/testing/shared.hpp"

// Whole robots: the goals are poses at random states, and therefore reachable.
namespace limb {
namespace {

using Goal = FrameGoal<double>;

Pose<double> pose_at(const Model<double>& model, const VectorX<double>& q, FrameId frame) {
  Kinematics<double> k(model);
  forward_kinematics(model, q, k);
  return frame_pose(model, k, frame);
}

void expect_within_limits(const Model<double>& model, const VectorX<double>& q) {
  const VectorX<double> joints = model.coupling().expand_position(q);
  for (const Body<double>& body : model.bodies()) {
    if (body.joint.nq() != body.joint.nv()) continue;
    for (int j = 0; j < body.joint.nv(); ++j) {
      const auto& limit = body.limits[static_cast<std::size_t>(j)];
      const double x = joints[body.q_start + j];
      EXPECT_GE(x, limit.lower.value_or(x)) << body.name;
      EXPECT_LE(x, limit.upper.value_or(x)) << body.name;
    }
  }
}

struct Rate {
  int solved = 0, tried = 0;
};

/// Poses of the frame at random states inside the limits, each from another random state.
Rate success(const Model<double>& model, const char* name, int tries, int restarts) {
  std::mt19937_64 engine(2024);
  const FrameId frame = model.find_frame(name);
  IkScratch<double> scratch(model, 1);
  VectorX<double> goal(model.nq()), start = goal, q = goal;
  Rate rate;
  for (; rate.tried < tries; ++rate.tried) {
    random_configuration(model, engine, goal);
    random_configuration(model, engine, start);
    const Goal task = Goal::pose(frame, pose_at(model, goal, frame));
    const auto& report =
        inverse_kinematics(model, scratch, std::span(&task, 1), start, q, {.restarts = restarts});
    expect_within_limits(model, q);
    if (!report.ok()) {
      // Reachable goals must not be reported as unreachable.
      EXPECT_NE(report.status, Status::unreachable);
      continue;
    }
    ++rate.solved;
    // The report is checked against the pose itself.
    const Pose<double> X = pose_at(model, q, frame);
    EXPECT_LT((X.p - task.X_WG.p).norm(), 1.1e-8);
    EXPECT_LT(so3::log<double>(task.X_WG.R.transpose() * X.R).norm(), 1.1e-8);
  }
  return rate;
}

// Measured over 500 goals: 368 from one random start, all with up to 10 restarts.
TEST(InverseKinematicsRobots, SevenJointArm) {
  const Model<double> model = load_model("builtin:arm7");
  const Rate once = success(model, "tool", 500, 0);
  RecordProperty("one_start", once.solved);
  EXPECT_GE(once.solved, 330);
  const Rate often = success(model, "tool", 500, 10);
  RecordProperty("ten_restarts", often.solved);
  EXPECT_GE(often.solved, 497);
}

// A few isolated solutions per goal, most of them outside the limits: measured 309 of 500 from one
// start, all with up to 50 restarts.
TEST(InverseKinematicsRobots, SixJointArm) {
  const Model<double> model = load_model("builtin:arm6");
  EXPECT_GE(success(model, "tool", 500, 0).solved, 250);
  EXPECT_GE(success(model, "tool", 500, 50).solved, 490);
}

// Narrow limits; measured 298 of 300.
TEST(InverseKinematicsRobots, RealArmWithAHand) {
  const auto shared = testing::shared_folder();
  if (shared.empty()) GTEST_SKIP() << testing::why_no_shared();
  const Model<double> model = load_model((shared / "robots" / "panda.urdf").string());
  EXPECT_GE(success(model, "panda_hand", 300, 10).solved, 290);
}

// All four feet at given points with the base locked. From one start all four legs succeed in 31 of
// 100 cases (each in three of four: knees flex in one direction only), with up to 30 restarts
// in 99.
TEST(InverseKinematicsRobots, QuadrupedFeetWithTheBaseLocked) {
  const Model<double> model = load_model("builtin:quadruped");
  const std::vector<std::string> base = {model.bodies()[1].name};
  IkOptions<double> options;
  options.locked = locked_joints<double>(model, base);
  options.restarts = 30;
  std::mt19937_64 engine(5);
  VectorX<double> q0(model.nq()), goal_q = q0, q = q0;
  IkScratch<double> scratch(model, 4);
  int solved = 0;
  for (int i = 0; i < 100; ++i) {
    random_configuration(model, engine, goal_q);
    random_configuration(model, engine, q0);
    q0.head<7>() = goal_q.head<7>();
    std::vector<Goal> goals;
    for (const char* foot : {"FL_foot", "FR_foot", "RL_foot", "RR_foot"}) {
      const FrameId id = model.find_frame(foot);
      goals.push_back(Goal::position(id, pose_at(model, goal_q, id).p));
    }
    const auto& report = inverse_kinematics(model, scratch, goals, q0, q, options);
    solved += report.ok();
    EXPECT_EQ(report.errors.size(), 4U);
    EXPECT_EQ(q.head<7>(), q0.head<7>());
    expect_within_limits(model, q);
  }
  EXPECT_GE(solved, 97);
}

// Both hands and both feet, the base free: 6 + 6 rows for the feet, 3 + 3 for the hands, and a
// posture in the null space.
TEST(InverseKinematicsRobots, HumanoidWithPosture) {
  const Model<double> model = load_model("builtin:humanoid");
  VectorX<double> stand(model.nq()), q = stand;
  neutral(model, stand);
  for (const char* side : {"left_", "right_"}) {
    for (const auto& [joint, angle] :
         {std::pair{"hip_pitch", -0.4}, {"knee", 0.8}, {"ankle_pitch", -0.4}, {"elbow", 0.5}}) {
      const Body<double>& body = model.body(model.find_body(side + std::string(joint)));
      stand[body.q_start] = angle;
    }
  }
  std::vector<Goal> goals;
  for (const char* foot : {"left_sole", "right_sole"}) {
    const FrameId id = model.find_frame(foot);
    goals.push_back(Goal::pose(id, pose_at(model, stand, id)));
  }
  const FrameId left = model.find_frame("left_palm"), right = model.find_frame("right_palm");
  IkOptions<double> options;
  options.posture = stand;
  IkScratch<double> scratch(model, 4);
  testing::Random random(6);
  SCOPED_TRACE(random.text());
  for (int i = 0; i < 20; ++i) {
    goals.resize(2);
    goals.push_back(
        Goal::position(left, pose_at(model, stand, left).p + random.vector<double>(0.1)));
    goals.push_back(
        Goal::position(right, pose_at(model, stand, right).p + random.vector<double>(0.1)));
    const auto with = inverse_kinematics(model, scratch, goals, stand, q, options);
    EXPECT_TRUE(with.ok()) << with.text(model);
    EXPECT_TRUE(with.posture_converged) << with.text(model);
    for (const auto& error : with.errors) EXPECT_LE(error.position, 1e-8);
    expect_within_limits(model, q);
    // Without the posture the solution is not nearer to it.
    const VectorX<double> near = q;
    inverse_kinematics(model, scratch, goals, stand, q);
    EXPECT_LE(distance(model, near, stand), distance(model, q, stand) + 1e-9);
    // The solution is a minimum: from it the posture changes nothing.
    const auto again = inverse_kinematics(model, scratch, goals, near, q, options);
    EXPECT_LT(distance(model, q, near), 1e-4);
    EXPECT_TRUE(again.posture_converged);
  }
}

// All joint types, couplings, quaternions: the pose of the last frame at a random state, from a
// nearby start. Measured: all 40.
TEST(InverseKinematicsRobots, RandomTreesOfAllJointTypes) {
  int solved = 0, tried = 0;
  for (const testing::Sample& s : testing::samples(10)) {
    SCOPED_TRACE(s.name);
    const FrameId frame(static_cast<int>(s.model.frames().size()) - 1);
    const Goal goal = Goal::pose(frame, pose_at(s.model, s.q, frame));
    const VectorX<double> start = testing::integrate_configuration<double>(s.model, s.q, 0.3 * s.v);
    IkScratch<double> scratch(s.model, 1);
    VectorX<double> q(s.q.size());
    const auto& report = inverse_kinematics(s.model, scratch, std::span(&goal, 1), start, q);
    ++tried;
    solved += report.ok();
    if (report.ok()) {
      EXPECT_LT((pose_at(s.model, q, frame).p - goal.X_WG.p).norm(), 1.1e-8);
    }
    // Quaternions stay normalized: their joints move by exponentials.
    VectorX<double> unit = q;
    normalize(s.model, unit);
    EXPECT_LT((q - unit).norm(), 64 * std::numeric_limits<double>::epsilon());
  }
  EXPECT_EQ(tried, 40);
  EXPECT_GE(solved, 38);
}

TEST(InverseKinematicsRobots, SameSeedSameSolution) {
  const Model<double> model = load_model("builtin:arm6");
  std::mt19937_64 engine(8);
  VectorX<double> goal(6), start(6), first(6), second(6);
  IkScratch<double> scratch(model, 1), other(model, 3);
  for (int i = 0; i < 50; ++i) {
    random_configuration(model, engine, goal);
    random_configuration(model, engine, start);
    const FrameId tool = model.find_frame("tool");
    const Goal task = Goal::pose(tool, pose_at(model, goal, tool));
    inverse_kinematics(model, scratch, std::span(&task, 1), start, first, {.restarts = 5});
    inverse_kinematics(model, other, std::span(&task, 1), start, second, {.restarts = 5});
    EXPECT_EQ(first, second);
  }
}

}  // namespace
}  // namespace limb
