// Recorded states of real robots from Pinocchio 3.7: its order of the joints of their URDF files,
// and its poses, velocities, mass matrix and joint forces at converted states.
#include <gtest/gtest.h>
#include <tinyxml2.h>

#include <limits>

#include "limb/base/testing/worst.hpp"
#include "limb/model/convert/convert_pinocchio.hpp"
#include "limb/model/testing/golden.hpp"
#include "limb/model/testing/reference_dynamics.hpp"

namespace limb {
namespace {

using Json = nlohmann::json;
using Vector = VectorX<double>;
using testing::matrix_of;
using testing::vector_of;
constexpr double kEps = std::numeric_limits<double>::epsilon();

Pose<double> pose(const Json& R, const Json& p) {
  return {matrix_of(R), vector_of(p)};
}

/// Names, types and tree of a URDF file, which determine the order.
Description<double> structure_of(const std::filesystem::path& file) {
  tinyxml2::XMLDocument document;
  EXPECT_EQ(document.LoadFile(file.c_str()), tinyxml2::XML_SUCCESS) << file;
  Description<double> d;
  const auto* robot = document.FirstChildElement("robot");
  for (auto* link = robot->FirstChildElement("link"); link != nullptr;
       link = link->NextSiblingElement("link")) {
    d.links.emplace_back().name = link->Attribute("name");
  }
  for (auto* element = robot->FirstChildElement("joint"); element != nullptr;
       element = element->NextSiblingElement("joint")) {
    JointDescription<double> joint;
    joint.name = element->Attribute("name");
    joint.type = joint_type_from_text(element->Attribute("type")).value();
    joint.parent = element->FirstChildElement("parent")->Attribute("link");
    joint.child = element->FirstChildElement("child")->Attribute("link");
    d.joints.push_back(joint);
  }
  return d;
}

/// The recorded joints, last first, so that limb's order is not the recorded one.
Description<double> robot_of(const Json& golden) {
  Description<double> d;
  for (const Json& j : golden["joints"]) {
    const std::string type = j["type"].get<std::string>().substr(std::string("JointModel").size());
    JointDescription<double> joint;
    joint.name = j["name"];
    joint.child = "link " + joint.name;
    joint.parent =
        j["parent"] == "universe" ? kWorldLink : "link " + j["parent"].get<std::string>();
    joint.type = type == "FreeFlyer"          ? JointType::free
                 : type.substr(0, 3) == "RUB" ? JointType::continuous
                 : type[0] == 'R'             ? JointType::revolute
                                              : JointType::prismatic;
    if (j.contains("axis"))
      joint.axis = vector_of(j["axis"]);
    else if (joint.type != JointType::free)
      joint.axis = Vector3<double>::Unit(type.back() - 'X');
    joint.X_PJ = pose(j["placement_R"], j["placement_p"]);
    d.joints.insert(d.joints.begin(), joint);
    InertialDescription<double> inertial;
    inertial.mass = j["mass"];
    inertial.X_LI.p = vector_of(j["lever"]);
    inertial.tensor = matrix_of(j["inertia_com"]);
    d.links.push_back({joint.child, inertial, {}, {}});
  }
  return d;
}

class Golden : public testing::GoldenTest {};
INSTANTIATE_TEST_SUITE_P(Robots, Golden, testing::golden_files(), testing::golden_name);

TEST_P(Golden, OrderAndIndicesOfTheJoints) {
  const auto d = structure_of(urdf_);
  const auto model = build_model(d, base());
  const PinocchioConvention convention(model, d);
  EXPECT_EQ(convention.nq(), golden_["nq"]);
  EXPECT_EQ(convention.nv(), golden_["nv"]);
  ASSERT_EQ(convention.joints().size(), golden_["joints"].size());
  for (std::size_t i = 0; i < golden_["joints"].size(); ++i) {
    const Json& expected = golden_["joints"][i];
    const auto& found = convention.joints()[i];
    EXPECT_EQ(found.name, expected["name"].get<std::string>());
    EXPECT_EQ(found.q_start, expected["idx_q"]);
    EXPECT_EQ(found.nq, expected["nq"]);
    EXPECT_EQ(found.v_start, expected["idx_v"]);
    EXPECT_EQ(found.nv, expected["nv"]);
  }
}

// Chains of up to 12 joints and sums over 33 bodies, in a different order of operations than the
// recorded program's; relative to the size of the whole vector. Measured: at most 5.1 eps.
TEST_P(Golden, MotionAndForces) {
  const auto model = build_model(robot_of(golden_));
  std::vector<std::string> names;
  for (const Json& joint : golden_["joints"]) names.push_back(joint["name"]);
  const PinocchioConvention convention(model, names);
  const double tolerance = 64 * kEps;
  Worst worst;
  const auto expect_close = [&](const auto& found, const auto& expected, const char* what) {
    const double error = (found - expected).norm() / std::max(1.0, expected.norm());
    worst.add(error);
    EXPECT_LT(error, tolerance) << what;
  };
  int frames = 0;
  for (const Json& state : golden_["states"]) {
    const Vector q = convention.q_from(vector_of(state["q"]));
    const Vector v = convention.v_from(q, vector_of(state["v"]));
    const Vector a = convention.a_from(q, v, vector_of(state["a"]));
    expect_close(convention.q_to(q), vector_of(state["q"]), "q");
    const Vector tau = testing::inverse_dynamics(model, q, v, a);
    expect_close(convention.tau_to(q, tau), vector_of(state["tau_rnea"]), "tau_rnea");
    if (state["full"].get<bool>()) {
      expect_close(convention.mass_matrix_to(q, testing::mass_matrix(model, q)),
                   matrix_of(state["M"]), "M");
    }
    const auto motion = testing::tree_motion(model, q, v, a);
    for (const Json& frame : golden_["frames"]) {
      const std::string name = frame["name"], parent = frame["parent_joint"];
      if (!state["frames"].contains(name) || parent == "universe") continue;
      const Json& expected = state["frames"][name];
      const auto id = static_cast<std::size_t>(model.find_body(parent).value());
      const Pose<double> X_BF = pose(frame["placement_R"], frame["placement_p"]);
      expect_close((motion[id].X_WB * X_BF).matrix(), pose(expected["R"], expected["p"]).matrix(),
                   "pose");
      expect_close(convention.motion_to(X_BF.inv_act(motion[id].V_WB_B)),
                   vector_of(expected["v_local"]), "v_local");
      ++frames;
    }
  }
  EXPECT_GE(frames, static_cast<int>(golden_["states"].size()));
  RecordProperty("worst_in_eps", std::to_string(worst.value() / kEps));
}

}  // namespace
}  // namespace limb
