// The shared robots against the numbers of an independent library: joints, placements, masses and
// inertias after welding fixed joints. Golden files by Pinocchio 3.7.0, see the README beside them.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "limb/model/read_urdf.hpp"
#include "limb/model/testing/shared.hpp"

namespace limb {
namespace {

using nlohmann::json;

/// Where a link is welded: the joint that moves it, and its pose in that joint's frame.
struct Weld {
  std::string joint;
  Pose<double> X;
};
struct Moving {
  const JointDescription<double>* joint = nullptr;  // null for the base
  std::string parent;
  Pose<double> X;
  Inertia<double> I;
};
struct Welded {
  std::map<std::string, Weld> links;
  std::map<std::string, Moving> joints;
};

Welded weld(const Description<double>& robot, const std::string& base) {
  Welded out;
  std::map<std::string, const JointDescription<double>*> above;
  for (const auto& joint : robot.joints) above[joint.child] = &joint;
  std::multimap<std::string, const JointDescription<double>*> below;
  for (const auto& joint : robot.joints) below.emplace(joint.parent, &joint);
  std::vector<std::string> stack;
  for (const auto& link : robot.links) {
    if (above.count(link.name) != 0) continue;
    out.links[link.name] = {base, {}};
    stack.push_back(link.name);
  }
  EXPECT_EQ(stack.size(), 1u);
  out.joints[base] = {};
  while (!stack.empty()) {
    const std::string link = stack.back();
    stack.pop_back();
    const Weld at = out.links[link];
    const auto [first, last] = below.equal_range(link);
    for (auto i = first; i != last; ++i) {
      const auto& joint = *i->second;
      const Pose<double> X = at.X * joint.X_PJ;
      if (joint.type == JointType::fixed) {
        out.links[joint.child] = {at.joint, X};
      } else {
        out.joints[joint.name] = {&joint, at.joint, X, {}};
        out.links[joint.child] = {joint.name, {}};
      }
      stack.push_back(joint.child);
    }
  }
  for (const auto& link : robot.links) {
    if (!link.inertial) continue;
    const Weld& at = out.links.at(link.name);
    Inertia<double>& I = out.joints.at(at.joint).I;
    I = I + link.inertial->inertia().seen_from(at.X);
  }
  return out;
}

Matrix3<double> matrix(const json& rows) {
  Matrix3<double> R;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) R(i, j) = rows[size_t(i)][size_t(j)].get<double>();
  }
  return R;
}
Vector3<double> vector(const json& x) {
  return {x[0].get<double>(), x[1].get<double>(), x[2].get<double>()};
}

// The golden rotations go through a quaternion: a few eps. Numbers are of the order 1 m and 10 kg.
constexpr double kTolerance = 1e-12;

void expect_pose(const Pose<double>& X, const json& golden, const std::string& what) {
  EXPECT_LT((X.R - matrix(golden["placement_R"])).cwiseAbs().maxCoeff(), kTolerance) << what;
  EXPECT_LT((X.p - vector(golden["placement_p"])).cwiseAbs().maxCoeff(), kTolerance) << what;
}

/// "JointModelRUBZ" -> type and axis; an unaligned one brings its axis along.
void expect_motion(const JointDescription<double>& joint, const json& golden) {
  const std::string type = golden["type"].get<std::string>().substr(10);
  const bool unbounded = type.find("Unbounded") != type.npos || type.substr(0, 3) == "RUB";
  const JointType expected = unbounded        ? JointType::continuous
                             : type[0] == 'R' ? JointType::revolute
                                              : JointType::prismatic;
  EXPECT_EQ(to_text(joint.type), to_text(expected)) << joint.name;
  const Vector3<double> axis =
      golden.contains("axis") ? vector(golden["axis"]) : Vector3<double>::Unit(type.back() - 'X');
  EXPECT_LT((joint.axis - axis).cwiseAbs().maxCoeff(), kTolerance) << joint.name;
  if (unbounded) {
    EXPECT_TRUE(joint.limits.empty() || !joint.limits[0].lower) << joint.name;
    return;
  }
  ASSERT_EQ(joint.limits.size(), 1u) << joint.name;
  EXPECT_EQ(joint.limits[0].lower, golden["lower"][0].get<double>()) << joint.name;
  EXPECT_EQ(joint.limits[0].upper, golden["upper"][0].get<double>()) << joint.name;
}

class GoldenRobot : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenRobot, AgreesWithTheRecordedModel) {
  const auto shared = testing::shared_folder();
  if (shared.empty()) GTEST_SKIP() << "no shared folder with robots; set LIMB_SHARED to compare";
  const std::string name = GetParam();
  std::ifstream file(shared / "golden" / (name + ".json"));
  ASSERT_TRUE(file) << name;
  const json golden = json::parse(file);
  const bool is_free = golden["base"] != "fixed";
  const std::string base = is_free ? "root_joint" : "universe";
  const std::string stem = name.substr(0, name.rfind('_'));
  const auto robot = read_urdf(shared / "robots" / (stem + ".urdf"));
  const Welded welded = weld(robot, base);

  EXPECT_EQ(robot.name, golden["model_name"].get<std::string>());
  EXPECT_EQ(welded.joints.size(), golden["joints"].size() + (is_free ? 0 : 1));
  for (const json& expected : golden["joints"]) {
    const std::string joint = expected["name"];
    ASSERT_EQ(welded.joints.count(joint), 1u) << joint;
    const Moving& moving = welded.joints.at(joint);
    EXPECT_NEAR(moving.I.mass(), expected["mass"].get<double>(), kTolerance) << joint;
    if (moving.I.mass() > 0) {
      EXPECT_LT((moving.I.com() - vector(expected["lever"])).cwiseAbs().maxCoeff(), kTolerance)
          << joint;
    }
    const Matrix3<double> I = moving.I.mass() > 0 ? moving.I.tensor_about_com() : moving.I.tensor();
    EXPECT_LT((I - matrix(expected["inertia_com"])).cwiseAbs().maxCoeff(), kTolerance) << joint;
    if (moving.joint == nullptr) continue;
    EXPECT_EQ(moving.parent, expected["parent"].get<std::string>()) << joint;
    expect_pose(moving.X, expected, joint);
    expect_motion(*moving.joint, expected);
  }
  ASSERT_FALSE(golden["frames"].empty());
  for (const json& expected : golden["frames"]) {
    const std::string frame = expected["name"];
    ASSERT_EQ(welded.links.count(frame), 1u) << frame;
    EXPECT_EQ(welded.links.at(frame).joint, expected["parent_joint"].get<std::string>()) << frame;
    expect_pose(welded.links.at(frame).X, expected, frame);
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenRobot,
                         ::testing::Values("anymal_b_fixed", "anymal_b_ff", "double_pendulum_fixed",
                                           "double_pendulum_continuous_fixed", "go2_ff",
                                           "hyq_fixed", "hyq_ff", "iiwa14_fixed", "iiwa14_ff",
                                           "panda_fixed", "panda_ff", "simple_humanoid_fixed",
                                           "simple_humanoid_ff", "talos_reduced_ff", "ur5_fixed"),
                         [](const auto& robot) { return robot.param; });

}  // namespace
}  // namespace limb
