// Every robot of the shared folder, read and built, against the joints and frames that
// Pinocchio 3.7.0 recorded for it (golden/README.md): placements, masses, mass centres, tensors,
// limits, to 1e-12 or better.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "limb/base/testing/worst.hpp"
#include "limb/model/core/load.hpp"
#include "limb/model/testing/shared.hpp"

namespace limb {
namespace {

using Json = nlohmann::json;

Vector3<double> vector_of(const Json& j) {
  return Vector3<double>(j[0].get<double>(), j[1].get<double>(), j[2].get<double>());
}

Matrix3<double> matrix_of(const Json& j) {
  Matrix3<double> m;
  for (int i = 0; i < 3; ++i) m.row(i) = vector_of(j[static_cast<std::size_t>(i)]).transpose();
  return m;
}

double number_of(const Json& j) {
  if (j.is_number()) return j.get<double>();
  const double inf = std::numeric_limits<double>::infinity();
  return j.get<std::string>() == "inf" ? inf : -inf;
}

struct Case {
  const char* robot;
  bool free;
};

class Golden : public ::testing::TestWithParam<Case> {};

// Files have about seventeen digits; both sides then compute a few products of numbers of order 1.
TEST_P(Golden, JointsAndFramesMatchTheRecordedOnes) {
  const auto shared = testing::shared_folder();
  if (shared.empty()) GTEST_SKIP() << testing::why_no_shared();
  const std::string name = GetParam().robot;
  std::ifstream in(shared / "golden" / (name + (GetParam().free ? "_ff.json" : "_fixed.json")));
  ASSERT_TRUE(in.good());
  const Json golden = Json::parse(in);
  const Model<double> model = load_model((shared / "robots" / (name + ".urdf")).string(),
                                         GetParam().free ? Base::free : Base::fixed);

  ASSERT_EQ(static_cast<std::size_t>(model.body_count() - 1), golden["joints"].size());
  Worst worst;
  const auto near = [&](double error, double scale, const std::string& what) {
    EXPECT_LE(error, 1e-12 * std::max(1.0, scale)) << what;
    worst.add(error / std::max(1.0, scale));
  };
  for (const Json& joint : golden["joints"]) {
    const std::string joint_name = joint["name"];
    const Body<double>& body = model.body(model.find_body(joint_name));
    const std::string parent = joint["parent"];
    EXPECT_EQ(model.body(body.parent).name, parent);
    EXPECT_EQ(body.joint.nv(), joint["nv"].get<int>());
    near((body.X_PJ.R - matrix_of(joint["placement_R"])).norm(), 1, joint_name + " placement_R");
    near((body.X_PJ.p - vector_of(joint["placement_p"])).norm(), 1, joint_name + " placement_p");
    if (joint.contains("axis")) {
      near((body.joint.axis() - vector_of(joint["axis"])).norm(), 1, joint_name + " axis");
    }
    const double mass = joint["mass"].get<double>();
    near(std::abs(body.inertia.mass() - mass), mass, joint_name + " mass");
    if (mass > 0) {
      near((body.inertia.com() - vector_of(joint["lever"])).norm(), 1, joint_name + " lever");
      const Matrix3<double> tensor = matrix_of(joint["inertia_com"]);
      near((body.inertia.tensor_about_com() - tensor).norm(), tensor.norm(),
           joint_name + " inertia_com");
    }
    const bool one_limit =
        body.joint.type() == JointType::revolute || body.joint.type() == JointType::prismatic;
    if (one_limit) {
      EXPECT_EQ(body.limits[0].lower.value(), number_of(joint["lower"][0])) << joint_name;
      EXPECT_EQ(body.limits[0].upper.value(), number_of(joint["upper"][0])) << joint_name;
    }
  }
  for (const Json& frame : golden["frames"]) {
    const std::string frame_name = frame["name"];
    const Frame<double>& mine = model.frame(model.find_frame(frame_name));
    EXPECT_EQ(model.body(mine.body).name, frame["parent_joint"].get<std::string>()) << frame_name;
    near((mine.X_BF.R - matrix_of(frame["placement_R"])).norm(), 1, frame_name + " frame R");
    near((mine.X_BF.p - vector_of(frame["placement_p"])).norm(), 1, frame_name + " frame p");
  }
  if (golden.contains("total_mass")) {
    near(std::abs(model.total_mass() - golden["total_mass"].get<double>()), model.total_mass(),
         "total mass");
  }
  RecordProperty("worst", std::to_string(worst.value()));
}

INSTANTIATE_TEST_SUITE_P(
    Robots, Golden,
    ::testing::Values(Case{"iiwa14", false}, Case{"iiwa14", true}, Case{"panda", false},
                      Case{"panda", true}, Case{"ur5", false}, Case{"hyq", false},
                      Case{"hyq", true}, Case{"anymal_b", false}, Case{"anymal_b", true},
                      Case{"go2", true}, Case{"talos_reduced", true},
                      Case{"simple_humanoid", false}, Case{"simple_humanoid", true},
                      Case{"double_pendulum", false}, Case{"double_pendulum_continuous", false}),
    [](const auto& test) {
      return std::string(test.param.robot) + (test.param.free ? "_free" : "_fixed");
    });

}  // namespace
}  // namespace limb
