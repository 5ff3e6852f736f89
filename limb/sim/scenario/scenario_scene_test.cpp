// What MJCF files say about simulations, by closed forms: initial states, keyframes, ground, masks,
// pairs, servos, springs, tendons and gravity compensation.
#include "limb/sim/scenario/scenario_scene.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "limb/base/error.hpp"
#include "limb/base/testing/temporary_folder.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/max_abs.hpp"
#include "limb/sim/scenario/scenario_run.hpp"
#include "limb/sim/world/loop_projection.hpp"

namespace limb {
namespace {

using testing::message;

constexpr double kEps = std::numeric_limits<double>::epsilon();

class Scene : public ::testing::Test {
 protected:
  /// The scenario of an MJCF file with this inside <mujoco>.
  Scenario scenario(const std::string& contents) {
    const std::string path = (folder_.path() / "scene.xml").string();
    std::ofstream(path) << "<mujoco><compiler angle='radian'/>" << contents << "</mujoco>";
    return scenario_of(path);
  }
  RunSummary run(const std::string& contents, double duration, const std::string& keyframe = "") {
    Scenario s = scenario(contents);
    s.duration = duration;
    if (!keyframe.empty()) set_keyframe("test", keyframe, s);
    RunSummary summary = run_scenario(s, nullptr, {});
    EXPECT_EQ(summary.failure, "");
    return summary;
  }

  testing::TemporaryFolder folder_;
};

const char* kBall =
    "<body name='ball' pos='1 2 0.5'><freejoint/><geom name='ball' size='0.1'/></body>";

TEST_F(Scene, StartsAtThePoseOfTheFile) {
  const Scenario s = scenario(
      "<worldbody><body pos='1 2 3' quat='0 0 0 2'><freejoint/><geom size='0.1'/></body>"
      "<body pos='9 9 9'><joint ref='0.4'/><geom size='0.1'/></body></worldbody>"
      "<option timestep='0.003'/>");
  VectorX<double> expected(8);
  expected << 1, 2, 3, 0, 0, 1, 0, 0.4;
  EXPECT_EQ(s.q, expected);
  EXPECT_EQ(s.v, VectorX<double>::Zero(7));
  EXPECT_EQ(s.simulation.step, 0.003);
}

// In a keyframe the velocity of a free body is in world axes; here it is in its own.
TEST_F(Scene, StartsAtAKeyframe) {
  Scenario s = scenario(
      "<worldbody><body><freejoint/><geom size='0.1'/></body></worldbody>"
      "<keyframe><key name='a' qpos='1 2 3 0.7071067811865476 0 0 0.7071067811865476' "
      "qvel='1 2 3 4 5 6'/><key name='b'/></keyframe>");
  set_keyframe("test", "a", s);
  VectorX<double> v(6);
  v << 2, -1, 3, 4, 5, 6;  // turned back by a quarter turn about z
  EXPECT_LT(max_abs(s.v - v), 16 * kEps);
  EXPECT_EQ(message([&] { set_keyframe("test", "c", s); }),
            "test: keyframe is 'c', expected one of 'a', 'b'");
  Scenario none = scenario("<worldbody><body><joint/><geom size='0.1'/></body></worldbody>");
  EXPECT_EQ(message([&] { set_keyframe("test", "c", none); }),
            "test: keyframe is 'c', expected none: the model file has no keyframes");
}

TEST_F(Scene, ABallComesToRestOnTheFloorOfTheFile) {
  const RunSummary r =
      run(std::string("<worldbody><geom type='plane' size='0 0 1' pos='0 0 0.2'/>") + kBall +
              "</worldbody>",
          1);
  EXPECT_NEAR(r.q[2], 0.3, 2e-5);  // the allowed overlap is 1e-5 m
  EXPECT_LT(max_abs(r.v), 1e-9);
}

// Geometry of a body without joints is fixed as well.
TEST_F(Scene, ABallComesToRestOnABoxOfAFixedBody) {
  const RunSummary r = run(std::string("<worldbody><body pos='1 2 0'><geom type='box' "
                                       "size='0.3 0.3 0.1'/></body>") +
                               kBall + "</worldbody>",
                           1);
  EXPECT_NEAR(r.q[2], 0.2, 2e-5);
}

TEST_F(Scene, MasksExclusionsAndPairsDecideWhatTouches) {
  const auto rests = [&](const std::string& floor, const std::string& ball,
                         const std::string& contact = "") {
    const RunSummary r = run("<worldbody><geom name='floor' type='plane' size='0 0 1' " + floor +
                                 "/><body name='b' pos='0 0 0.2'><freejoint/><geom name='ball' "
                                 "size='0.1' " +
                                 ball + "/></body></worldbody>" + contact,
                             1);
    return r.q[2] > 0;
  };
  EXPECT_TRUE(rests("", ""));
  EXPECT_FALSE(rests("contype='2' conaffinity='2'", ""));
  EXPECT_TRUE(rests("contype='2' conaffinity='0'", "contype='0' conaffinity='6'"));
  EXPECT_FALSE(rests("contype='0' conaffinity='0'", ""));
  EXPECT_FALSE(rests("", "", "<contact><exclude body1='world' body2='b'/></contact>"));
  EXPECT_TRUE(rests("contype='0' conaffinity='0'", "contype='0' conaffinity='0'",
                    "<contact><pair geom1='ball' geom2='floor'/></contact>"));
  EXPECT_FALSE(rests("", "", "<option><flag contact='disable'/></option>"));
}

// A block on a slope of tan 0.5 slides where the larger of the two coefficients is below, with the
// acceleration g (sin - mu cos), and else rests.
TEST_F(Scene, TheLargerFrictionOfAPairActs) {
  const double angle = std::atan(0.5);
  const auto slides = [&](double floor, double block, const std::string& contact = "") {
    const RunSummary r =
        run("<worldbody><geom name='floor' type='plane' size='0 0 1' euler='0 " +
                std::to_string(angle) + " 0' friction='" + std::to_string(floor) +
                "'/><body><joint type='slide' axis='2 0 -1'/><joint type='slide' axis='1 0 2'/>"
                "<geom name='block' size='0.1' pos='0.0447213595 0 0.0894427191' friction='" +
                std::to_string(block) + "'/></body></worldbody>" + contact,
            1);
    return r.v[0];
  };
  const double g = 9.81, s = std::sin(angle), c = std::cos(angle);
  EXPECT_NEAR(slides(0.1, 0.2), g * (s - 0.2 * c), 0.02);
  EXPECT_NEAR(slides(0.3, 0.2), g * (s - 0.3 * c), 0.02);
  EXPECT_NEAR(
      slides(0.3, 0.2, "<contact><pair geom1='floor' geom2='block' friction='0.1'/></contact>"),
      g * (s - 0.1 * c), 0.02);
  EXPECT_NEAR(slides(0.6, 0.2), 0, 1e-6);
}

// A ball that rolls decelerates by 5/7 g r_r / r, one that spins on the spot by 5/2 g r_t / r^2
// [as docs/contact.md]; condim decides what of the geoms' friction acts, priority whose.
TEST_F(Scene, TorsionalAndRollingFrictionOfGeoms) {
  const double g = 9.81, r = 0.1, rolling = 0.002, torsion = 0.003;
  // Speed after 0.2 s from 1 m/s, and spin from 10 rad/s.
  const auto speeds = [&](const std::string& ball, const std::string& floor,
                          const std::string& contact = "") {
    const std::string file =
        "<option timestep='0.0005'/><worldbody><geom name='floor' type='plane' size='0 0 1' " +
        floor + "/><body pos='0 0 0.1'><freejoint/><geom name='ball' size='0.1' " + ball +
        "/></body></worldbody>" + contact +
        "<keyframe><key name='rolls' qpos='0 0 0.1 1 0 0 0' qvel='1 0 0 0 10 0'/>"
        "<key name='spins' qpos='0 0 0.1 1 0 0 0' qvel='0 0 0 0 0 10'/></keyframe>";
    const auto at_end = [&](const std::string& keyframe) {
      const RunSummary end = run(file, 0.2, keyframe);
      const Vector3<double> v(end.v[0], end.v[1], end.v[2]), w(end.v[3], end.v[4], end.v[5]);
      return std::pair{v.norm(), w.norm()};
    };
    return std::pair{at_end("rolls").first, at_end("spins").second};
  };
  const double slower = 1 - 0.2 * 5 * g * rolling / (7 * r),
               slower_spin = 10 - 0.2 * 5 * g * torsion / (2 * r * r);
  const std::string both = "friction='1 0.003 0.002' ", none = "friction='1 0 0' ";
  // Friction sets in during the first step, of 0.5 ms, and 1e-4 of the speeds is lost to overlaps.
  const auto expect = [&](const std::pair<double, double>& found, double v, double w) {
    EXPECT_NEAR(found.first, v, 1e-3);
    EXPECT_NEAR(found.second, w, 1e-2);
  };
  expect(speeds(both, none), 1, 10);
  expect(speeds(both + "condim='4'", none), 1, slower_spin);
  expect(speeds(both + "condim='6'", none), slower, slower_spin);
  expect(speeds(both, none + "condim='6'"), slower, slower_spin);
  expect(speeds(both + "condim='6'", none + "priority='1'"), 1, 10);
  expect(speeds(both + "condim='6' priority='2'", none + "priority='1'"), slower, slower_spin);
  const std::string pair = "<contact><pair geom1='ball' geom2='floor' condim='6' friction='1 1 ";
  expect(speeds(none, none, pair + "0.003 0.002 0.002'/></contact>"), slower, slower_spin);
  expect(speeds(both + "condim='6'", none, pair + "0 0 0'/></contact>"), 1, 10);
}

// A frictionless geom on a rough one is rough: the larger condim acts, with the larger friction.
TEST_F(Scene, TheLargerDimensionOfAPairActs) {
  const auto slides = [&](const std::string& ball, const std::string& floor) {
    return run("<worldbody><geom type='plane' size='0 0 1' " + floor +
                   "/><body pos='0 0 0.1'><joint type='slide' axis='1 0 0'/><joint type='slide' "
                   "axis='0 0 1'/><geom type='box' size='0.1 0.1 0.1' " +
                   ball +
                   "/></body></worldbody><keyframe><key name='k' qpos='0 0' qvel='1 0'/>"
                   "</keyframe>",
               0.05, "k")
        .v[0];
  };
  const double g = 9.81;
  EXPECT_NEAR(slides("condim='1' friction='0.8'", "condim='1' friction='0.5'"), 1, 1e-9);
  EXPECT_NEAR(slides("condim='1' friction='0.8'", "friction='0.5'"), 1 - 0.05 * 0.8 * g, 5e-3);
  EXPECT_NEAR(slides("condim='1' friction='0.8' priority='1'", "friction='0.5'"), 1, 1e-9);
}

// Two balls of equal mass that meet: what one loses the other gains, and they do not pass.
TEST_F(Scene, FreeBodiesTouchEachOther) {
  const RunSummary r = run(
      "<option gravity='0 0 0'/><worldbody><body><joint type='slide' axis='1 0 0'/><geom "
      "size='0.1'/></body><body pos='1 0 0'><joint type='slide' axis='1 0 0'/><geom size='0.1'/>"
      "</body></worldbody><keyframe><key name='k' qvel='2 0'/></keyframe>",
      1, "k");
  EXPECT_NEAR(r.v[0], 1, 1e-9);  // without rebound they go on together
  EXPECT_NEAR(r.v[1], 1, 1e-9);
  EXPECT_NEAR(1 + r.q[1] - r.q[0], 0.2, 1e-4);
}

TEST_F(Scene, ServosHoldTheControlsOfAKeyframe) {
  const std::string arm =
      "<option gravity='0 0 0'/><worldbody><body><joint name='j' damping='0.1'/><geom size='0.1'/>"
      "<body pos='1 0 0'><joint name='k'/><geom size='0.1'/></body></body></worldbody>"
      "<actuator><position joint='j' kp='400' dampratio='1'/><position joint='k' kp='300' kv='30' "
      "ctrlrange='-1 0.25'/></actuator>"
      "<keyframe><key name='k' ctrl='0.5 0.7'/></keyframe>";
  const RunSummary r = run(arm, 10, "k");
  EXPECT_NEAR(r.q[0], 0.5, 1e-6);
  EXPECT_NEAR(r.q[1], 0.25, 1e-6);  // the control is limited
  EXPECT_NEAR(run(arm, 10).q[0], 0, 1e-6);
  // A controller of limb replaces them.
  Scenario s = scenario(arm);
  set_keyframe("test", "k", s);
  set_controller_kind("test", "pd", s);
  s.duration = 1;
  EXPECT_NEAR(run_scenario(s, nullptr, {}).q[0], 0, 1e-9);
}

TEST_F(Scene, ForcesOfServosAreLimited) {
  const RunSummary r = run(
      "<option gravity='0 0 0'/><worldbody><body><joint name='j' type='slide'/><geom size='0.1' "
      "mass='2'/></body></worldbody><actuator><position joint='j' kp='1e6' forcerange='-3 4' "
      "gear='5'/></actuator><keyframe><key name='k' ctrl='9'/></keyframe>",
      0.2, "k");
  EXPECT_NEAR(r.v[0], 5 * 4 / 2.0 * 0.2, 1e-12);
}

TEST_F(Scene, SpringsAndTendonsFindTheirRest) {
  const RunSummary r =
      run("<option gravity='0 0 0'/><default><joint type='slide' damping='3'/></default><worldbody>"
          "<body><joint name='a' stiffness='40' springref='0.2'/><geom size='0.1' contype='0' "
          "conaffinity='0'/></body><body pos='5 0 0'><joint name='b'/><geom size='0.1'/></body>"
          "</worldbody><tendon><fixed stiffness='10' springlength='0.6'><joint joint='a' coef='1'/>"
          "<joint joint='b' coef='2'/></fixed></tendon>",
          60);
  EXPECT_NEAR(r.q[0], 0.2, 1e-6);
  EXPECT_NEAR(r.q[0] + 2 * r.q[1], 0.6, 1e-6);
}

TEST_F(Scene, ATendonStopsAtItsLimit) {
  const RunSummary r = run(
      "<option gravity='0 0 0'/><worldbody><body><joint name='a' type='slide' damping='1'/><geom "
      "size='0.1' mass='1'/></body></worldbody><tendon><fixed range='-1 0.3'><joint joint='a' "
      "coef='2'/></fixed></tendon><actuator><motor joint='a'/></actuator>"
      "<keyframe><key name='k' ctrl='1'/></keyframe>",
      10, "k");
  // Soft: 1 N on a stop of (2 pi 15 Hz)^2 / 4 N/m of tendon length.
  const double w = 2 * 3.141592653589793 * 15;
  EXPECT_NEAR(2 * r.q[0] - 0.3, 0.5 / (w * w / 4), 1e-9);
}

TEST_F(Scene, GravityCompensationHoldsALink) {
  const std::string text =
      "<worldbody><body name='b' gravcomp='%'><joint axis='0 1 0'/><geom size='0.1' pos='1 0 0'/>"
      "</body></worldbody>";
  const auto with = [&](const std::string& part) {
    std::string copy = text;
    return run(copy.replace(copy.find('%'), 1, part), 0.1).v[0];
  };
  EXPECT_NEAR(with("1"), 0, 1e-12);
  EXPECT_NEAR(with("0.5") / with("0"), 0.5, 1e-3);  // the lever shortens a little
}

// m dv/dt = -c v of a sphere with the inertia of a box with edges 2 r sqrt(3/5): after t the
// velocity is exp(-c t / m), to the first order of the step.
TEST_F(Scene, AViscousMediumSlowsABodyDown) {
  const std::string sphere =
      "<worldbody><body><freejoint/><geom size='0.1' mass='2'/></body></worldbody>";
  const RunSummary r = run("<option gravity='0 0 0' viscosity='2' wind='1 0 0'/>" + sphere, 1);
  const double rate = 3 * 3.141592653589793 * 2 * 0.2 * std::sqrt(0.6) / 2;
  EXPECT_NEAR(r.v[0], 1 - std::exp(-rate), rate * 2e-3);
  EXPECT_GT(std::abs(r.balance[EnergyEntry::medium]), 0.1);
}

// In honey, with a step of a hundred times m / c, a body takes the velocity of the medium.
TEST_F(Scene, AViscousMediumIsStableAtAnyStep) {
  const RunSummary r = run(
      "<option gravity='0 0 0' viscosity='10000' density='1000' wind='1 0.5 0' timestep='0.005'/>"
      "<worldbody><body><freejoint/><geom type='box' size='0.1 0.2 0.3' mass='2'/><body pos='0 0 "
      "0.5'><joint axis='0 1 0'/><geom type='capsule' size='0.02 0.1' mass='0.01'/></body></body>"
      "</worldbody>",
      1);
  EXPECT_NEAR(r.v[0], 1, 0.02);
  EXPECT_NEAR(r.v[1], 0.5, 0.02);
  EXPECT_LT(std::abs(r.v[6]), 0.02);
}

// Round shapes that are fixed: a ball between a sphere and a capsule rests on both.
TEST_F(Scene, FixedRoundShapesAreObstacles) {
  const RunSummary r = run(
      "<worldbody><geom size='0.1' pos='-0.12 0 0'/><geom type='capsule' size='0.1 1' pos='0.12 0 "
      "0' euler='1.5707963267948966 0 0'/><body pos='0 0 0.3'><freejoint/><geom size='0.1' "
      "friction='0'/></body></worldbody>",
      1);
  // Centres at distances 0.2: height sqrt(0.2^2 - 0.12^2).
  EXPECT_NEAR(r.q[2], 0.16, 1e-4);
  EXPECT_LT(max_abs(r.v), 1e-3);
}

const char* kCube =
    "<asset><mesh name='cube' scale='0.2 0.2 0.1' vertex='-1 -1 -1 1 -1 -1 -1 1 -1 1 1 -1 -1 -1 1 "
    "1 "
    "-1 1 -1 1 1 1 1 1'/></asset>";

// A ball on a fixed mesh, and a mesh on a plane and on a fixed box.
TEST_F(Scene, MeshesAreSolid) {
  const RunSummary r = run(
      std::string(kCube) +
          "<worldbody><geom type='plane' size='0 0 1'/><geom type='mesh' mesh='cube' pos='0 0 "
          "0.2'/><body pos='0 0 0.5'><freejoint/><geom size='0.1'/></body><body pos='2 0 0.4' "
          "euler='0.1 0.2 0'><freejoint/><geom type='mesh' mesh='cube' pos='0 0 0.05'/></body>"
          "<geom type='box' size='1 1 0.1' pos='5 0 0.2'/><body pos='5 0 0.5'><freejoint/><geom "
          "type='mesh' mesh='cube'/></body></worldbody>",
      2);
  // Within the allowed overlap, 1e-5; the mesh and the frame of its body differ by 0.05.
  EXPECT_NEAR(r.q[2], 0.4, 2e-5);
  EXPECT_NEAR(r.q[7 + 2], 0.05, 2e-5);
  EXPECT_NEAR(r.q[14 + 2], 0.4, 2e-5);
  EXPECT_LT(max_abs(r.v), 1e-6);
}

// Rows of the elevation are at decreasing y; four plateaus, and a ball on each.
TEST_F(Scene, HeightFieldIsGround) {
  std::string balls;
  for (const char* place : {"-1.5 1.5", "1.5 1.5", "-1.5 -1.5", "1.5 -1.5"}) {
    balls += std::string("<body pos='") + place + " 1'><freejoint/><geom size='0.1'/></body>";
  }
  const RunSummary r = run(
      "<asset><hfield name='h' nrow='4' ncol='4' size='2 2 0.3 0.1' elevation='3 3 1 1  3 3 1 1  0 "
      "0 2 2  0 0 2 2'/></asset><worldbody><geom type='hfield' hfield='h' pos='0 0 0.05'/>" +
          balls + "</worldbody>",
      2);
  const double heights[] = {0.3, 0.1, 0, 0.2};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(r.q[7 * i + 2], 0.15 + heights[i], 2e-5) << i;
  EXPECT_LT(max_abs(r.v), 1e-6);
}

// What is not simulated is said.
TEST_F(Scene, TooManyShapesAreAnError) {
  EXPECT_EQ(message([&] {
              scenario(
                  "<worldbody><body><freejoint/><geom size='0.1'/>"
                  "<replicate count='4000' offset='1 0 0'><geom size='0.1'/></replicate>"
                  "</body></worldbody>");
            }),
            "scene: 4001 shapes can touch each other or the ground, expected at most 4000 (exclude "
            "some from contact: contype=\"0\" conaffinity=\"0\")");
}

TEST_F(Scene, RemarksNameWhatIsNotUsed) {
  const Scenario s = scenario(
      "<asset><mesh name='m' file='m.obj'/><mesh name='n' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/>"
      "</asset><worldbody><geom type='mesh' mesh='m'/><geom type='mesh' mesh='m'/><geom "
      "type='mesh' mesh='n'/><body><freejoint/><inertial mass='1' pos='0 0 0' diaginertia='1 1 "
      "1'/><geom size='0.1'/><geom type='mesh' mesh='m'/><geom type='mesh' mesh='n'/></body>"
      "</worldbody>");
  ASSERT_EQ(s.remarks.size(), 3u);
  EXPECT_EQ(s.remarks[0], "contact: 2 fixed mesh shapes are not used (the file was not found)");
  EXPECT_EQ(s.remarks[1], "contact: 1 mesh shape is not used (the file was not found)");
  EXPECT_EQ(s.remarks[2], "contact: meshes do not touch each other");
}

// A leg whose knee is coupled to its slider by a polynomial lands: compiled code and templates
// agree, and the ledger closes. (Compiled poses once left the slope of the polynomial at its old
// value.)
TEST_F(Scene, ACoupledLegLandsWithoutLosingEnergy) {
  Scenario s = scenario(
      "<worldbody><geom type='plane' size='0 0 1'/>"
      "<body pos='0 0 0.9'><joint name='rail' type='slide' axis='0 0 1'/><geom size='0.1' "
      "mass='2'/>"
      "<body pos='0.1 0 -0.3'><joint name='knee' axis='0 1 0'/>"
      "<geom type='capsule' size='0.03' fromto='0 0 0 0.3 0 -0.3' mass='1'/>"
      "<body pos='0.3 0 -0.3'><joint name='toe' type='slide' axis='0 0 1'/>"
      "<geom size='0.04' mass='0.3'/></body></body></body></worldbody>"
      "<equality><joint joint1='toe' joint2='knee' polycoef='0 0.1 0.2 -0.05 0'/></equality>");
  s.duration = 0.6;
  s.q[1] = 0.4;
  s.q[2] = 0.1 * 0.4 + 0.2 * 0.16 - 0.05 * 0.064;
  RunSummary runs[2];
  for (const bool compiled : {false, true}) {
    s.world.dynamics =
        compiled ? WorldOptions::Dynamics::compiled : WorldOptions::Dynamics::templates;
    RunSummary& r = runs[compiled ? 1 : 0];
    r = run_scenario(s, nullptr);
    EXPECT_EQ(r.failure, "");
    EXPECT_GT(r.dissipated, 1) << "it does not land";
    // Errors of first order in the step.
    EXPECT_LT(std::abs(r.balance.closure + r.balance[EnergyEntry::loops]),
              0.02 * r.balance.exchanged);
  }
  EXPECT_LT(max_abs(runs[0].q - runs[1].q), 1e-8);
}

/// A four-bar linkage whose limits allow it on one side only: from a random configuration, Newton's
/// method also closes it on the other.
TEST_F(Scene, RandomConfigurationsCloseLoopsWithinTheLimits) {
  std::ofstream(folder_.path() / "scene.xml")
      << "<mujoco><compiler angle='radian' autolimits='true'/><worldbody>"
         "<body name='a' euler='0 0 1.2'><joint name='a' axis='0 0 1' range='-0.8 1.5'/>"
         "<geom type='capsule' fromto='0 0 0 1 0 0' size='0.02'/>"
         "<body name='b' pos='1 0 0' euler='0 0 -1.2'><joint name='b' axis='0 0 1' range='-1.5 "
         "0.8'/>"
         "<geom type='capsule' fromto='0 0 0 1.5 0 0' size='0.02'/>"
         "<body name='c' pos='1.5 0 0' euler='0 0 -1.9'><joint name='c' axis='0 0 1' range='-0.8 "
         "1.7'/>"
         "<geom type='capsule' fromto='0 0 0 1 0 0' size='0.02'/></body></body></body></worldbody>"
         "<equality><connect body1='c' anchor='1 0 0'/></equality></mujoco>";
  const Eigen::Vector3d lower(-0.8, -1.5, -0.8), upper(1.5, 0.8, 1.7);
  const auto inside = [&](const VectorX<double>& q) {
    return ((q - lower).array() > -1e-6).all() && ((upper - q).array() > -1e-6).all();
  };
  int first_draw_inside = 0;
  for (int seed = 0; seed < 20; ++seed) {
    const std::string path = (folder_.path() / "s.toml").string();
    std::ofstream(path) << "model = 'scene.xml'\nseed = " << seed << "\n[initial]\nq = 'random'\n";
    const Scenario s = read_scenario("test", path);
    EXPECT_TRUE(inside(s.q)) << "seed " << seed << ": " << s.q.transpose();
    Kinematics<double> kinematics(s.model);
    forward_kinematics(s.model, s.q, kinematics);
    EXPECT_LT(loop_error(s.model, kinematics), 1e-6) << "seed " << seed;

    std::mt19937_64 engine(static_cast<unsigned>(seed));
    RobotState<double> state = make_state(s.model);
    random_configuration<double>(s.model, engine, state.q);
    LoopProjection(s.model).close(s.model, state);
    first_draw_inside += inside(state.q) ? 1 : 0;
  }
  EXPECT_LT(first_draw_inside, 20) << "nothing to choose";
}

}  // namespace
}  // namespace limb
