#include "limb/model/mjcf/read_mjcf.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "limb/model/core/model.hpp"
#include "limb/model/testing/mjcf_text.hpp"
#include "limb/model/testing/shared.hpp"

namespace limb {
namespace {

using testing::body_with;
using testing::parse_text;

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr double kDegree = std::numbers::pi / 180;

TEST(ReadMjcf, GivesNamesToUnnamedElements) {
  const auto [d, diagnostics] = parse_text(
      "<mujoco model='m'><worldbody>"
      "<body><joint/><joint name='n'/><joint/><body name='x'/></body>"
      "<body><freejoint/><site/></body>"
      "</worldbody></mujoco>");
  EXPECT_TRUE(diagnostics.empty());
  EXPECT_EQ(d.name, "m");
  ASSERT_EQ(d.joints.size(), 5u);
  const auto chain = [&joints = d.joints](std::size_t i) {
    return joints[i].parent + " -" + joints[i].name + "-> " + joints[i].child;
  };
  EXPECT_EQ(chain(0), "world -body#1/joint-> body#1/joint");
  EXPECT_EQ(chain(1), "body#1/joint -n-> body#1/n");
  EXPECT_EQ(chain(2), "body#1/n -body#1/joint3-> body#1");
  EXPECT_EQ(chain(3), "body#1 -x/fixed-> x");
  EXPECT_EQ(chain(4), "world -body#3/joint-> body#3");
  EXPECT_EQ(d.joints[3].type, JointType::fixed);
  EXPECT_EQ(d.joints[4].type, JointType::free);
  ASSERT_EQ(d.frames.size(), 1u);
  EXPECT_EQ(d.frames[0].name, "site#1");
  EXPECT_EQ(d.frames[0].link, "body#3");
  EXPECT_FALSE(d.links[0].inertial);  // the links between joints have no mass
}

TEST(ReadMjcf, AnglesAreInDegreesByDefault) {
  const auto in_degrees = parse_text(body_with("<joint range='-30 90' ref='45' axis='0 0 2'/>"));
  const auto& joint = in_degrees.description.joints[0];
  EXPECT_EQ(joint.type, JointType::revolute);
  EXPECT_EQ(*joint.limits.at(0).lower, -30 * kDegree);
  EXPECT_EQ(*joint.limits.at(0).upper, 90 * kDegree);
  EXPECT_EQ(joint.axis, Vector3<double>::UnitZ());
  // At q = ref the body has the pose of the file: X_PJ rotates back by 45 degrees. One sine and one
  // cosine of half the angle: 4 eps.
  const Matrix3<double> expected = axis_rotation<double>(2, -45 * kDegree);
  EXPECT_LT((joint.X_PJ.R - expected).norm(), 4 * kEps);

  const auto in_radians = parse_text(body_with(
      "<joint range='-0.5 1.5'/>", "<compiler angle='degree'/><compiler angle='radian'/>"));
  EXPECT_EQ(*in_radians.description.joints[0].limits.at(0).lower, -0.5);
}

TEST(ReadMjcf, HingeWithoutRangeIsContinuous) {
  const auto type = [](const std::string& joint, const std::string& before = "") {
    return parse_text(body_with(joint, before)).description.joints[0].type;
  };
  EXPECT_EQ(type("<joint/>"), JointType::continuous);
  EXPECT_EQ(type("<joint range='0 0'/>"), JointType::continuous);
  EXPECT_EQ(type("<joint range='-1 1' limited='false'/>"), JointType::continuous);
  EXPECT_EQ(type("<joint range='-1 1'/>"), JointType::revolute);
  EXPECT_EQ(type("<joint type='slide'/>"), JointType::prismatic);
  EXPECT_EQ(type("<joint type='ball'/>"), JointType::spherical);
}

TEST(ReadMjcf, JointAnchorIsKept) {
  const auto parsed = parse_text(
      "<mujoco><worldbody><body pos='1 2 3'><joint pos='0.25 0.5 0'/></body>"
      "</worldbody></mujoco>");
  const auto& joint = parsed.description.joints[0];
  EXPECT_EQ(joint.X_PJ.p, Vector3<double>(1.25, 2.5, 3));
  EXPECT_EQ(joint.X_JC.p, Vector3<double>(-0.25, -0.5, 0));
}

TEST(ReadMjcf, BoxHasTheInertiaOfItsVolume) {
  const auto parsed = parse_text(body_with("<geom type='box' size='0.1 0.2 0.3' pos='1 0 0'/>"));
  const auto& inertial = *parsed.description.links[0].inertial;
  const double mass = 1000 * 0.2 * 0.4 * 0.6;
  // Products of a few numbers: 8 eps.
  EXPECT_NEAR(inertial.mass, mass, 8 * kEps * mass);
  EXPECT_LT((inertial.X_LI.p - Vector3<double>::UnitX()).norm(), 8 * kEps);
  const Vector3<double> expected = mass / 12 * Vector3<double>(0.16 + 0.36, 0.04 + 0.36, 0.2);
  EXPECT_LT((inertial.tensor.diagonal() - expected).norm(), 8 * kEps * expected.norm());
  const Geometry& box = parsed.description.links[0].geometry.at(0);
  EXPECT_EQ(box.shape, Geometry::Shape::box);
  EXPECT_EQ(box.role, Geometry::Role::collision);
  EXPECT_EQ(box.size, Vector3<double>(0.2, 0.4, 0.6));
}

TEST(ReadMjcf, InertiaIsAccurateFarFromTheBodyFrame) {
  const auto parsed =
      parse_text(body_with("<geom size='0.1' mass='1' pos='1000 0 0'/><geom size='0.1' mass='1' "
                           "pos='1000 0 1'/>"));
  const auto& inertial = *parsed.description.links[0].inertial;
  // Two balls 1 m apart: 2 (2/5 m r^2 + m (1/2)^2) across, about their centre. A sum about the
  // origin would lose 1e6 eps; 64 eps is the rounding of the sums.
  EXPECT_NEAR(inertial.tensor(0, 0), 2 * (0.4 * 0.01 + 0.25), 64 * kEps);
  EXPECT_NEAR(inertial.tensor(2, 2), 2 * (0.4 * 0.01), 64 * kEps);
}

TEST(ReadMjcf, GravityAndItsSwitch) {
  const auto gravity = [](const std::string& option) {
    return parse_text("<mujoco>" + option + "</mujoco>").description.gravity;
  };
  EXPECT_EQ(gravity(""), Vector3<double>(0, 0, -9.81));
  EXPECT_EQ(gravity("<option gravity='0 0 -1.62'/>"), Vector3<double>(0, 0, -1.62));
  EXPECT_EQ(gravity("<option><flag gravity='disable'/></option>"), Vector3<double>::Zero());
}

TEST(ReadMjcf, EffortComesFromTheForceRangeOfTheJoint) {
  const auto parsed = parse_text(body_with("<joint actuatorfrcrange='-20 30'/>"));
  EXPECT_EQ(*parsed.description.joints[0].limits.at(0).effort, 30);
  EXPECT_EQ(parsed.rules(), "effort-not-symmetric:1");
}

TEST(ReadMjcf, JointEqualityIsRelativeToTheReferencePose) {
  const auto parsed = parse_text(
      "<mujoco><compiler angle='radian'/><worldbody>"
      "<body><joint name='a' ref='0.5'/></body><body><joint name='b' ref='0.25'/></body>"
      "</worldbody><equality><joint joint1='a' joint2='b' polycoef='0.125 2'/>"
      "<joint joint1='b'/></equality></mujoco>");
  ASSERT_EQ(parsed.description.couplings.size(), 2u);
  const auto& coupling = parsed.description.couplings[0];
  // qa - 1/2 = 1/8 + 2 (qb - 1/4)
  EXPECT_EQ(coupling.offset, 0.125);
  EXPECT_EQ(coupling.terms.at(0).ratio, 2);
  EXPECT_EQ(coupling.terms.at(0).joint, "b");
  EXPECT_TRUE(parsed.description.couplings[1].terms.empty());
  EXPECT_EQ(parsed.description.couplings[1].offset, 0.25);
}

// qa - 1/2 = 1 + 2 x - 3 x^2 + x^4 with x = qb - 1/4: all numbers are exact.
TEST(ReadMjcf, PolynomialEqualityIsRelativeToTheReferencePose) {
  const auto parsed = parse_text(
      "<mujoco><compiler angle='radian'/><worldbody>"
      "<body><joint name='a' ref='0.5'/></body><body><joint name='b' ref='0.25'/></body>"
      "</worldbody><equality><joint joint1='a' joint2='b' polycoef='1 2 -3 0 1'/>"
      "<joint joint1='b' joint2='a' polycoef='0 0 2'/></equality></mujoco>");
  EXPECT_EQ(parsed.rules(), "");
  ASSERT_EQ(parsed.description.couplings.size(), 2u);
  const auto& coupling = parsed.description.couplings[0];
  EXPECT_EQ(coupling.joint, "a");
  EXPECT_EQ(coupling.terms.at(0).joint, "b");
  for (const double q : {-1.0, 0.0, 0.25, 0.5, 2.0}) {
    const double x = q - 0.25;
    double value = 0, power = 1;
    for (const double c : coupling.polynomial()) {
      value += c * power;
      power *= q;
    }
    EXPECT_EQ(value, 0.5 + 1 + 2 * x - 3 * x * x + x * x * x * x) << q;
  }
  EXPECT_EQ(parsed.description.couplings[1].powers, std::vector<double>{2});
  const Model<double> model = build_model(parsed.description);
  EXPECT_EQ(model.nv(), 2);
  ASSERT_EQ(model.loops().size(), 2u);  // a cycle of constraints
  EXPECT_EQ(model.loops()[0].kind, LoopKind::polynomial);
  EXPECT_EQ(model.loops()[0].polynomial, coupling.polynomial());
  EXPECT_EQ(model.body(model.loops()[0].body_b).name, "a");
}

// In chains of 50, since the XML parser rejects elements nested 100 deep. Quadratic code would take
// minutes.
TEST(ReadMjcf, ReadsTenThousandBodies) {
  std::string text = "<mujoco><worldbody>";
  for (int i = 0; i < 200; ++i) {
    for (int j = 0; j < 50; ++j) text += "<body pos='0 0 1'><joint/><geom size='0.1'/>";
    for (int j = 0; j < 50; ++j) text += "</body>";
  }
  text += "</worldbody></mujoco>";
  const auto parsed = parse_text(text);
  EXPECT_EQ(parsed.description.joints.size(), 10000u);
}

TEST(ReadMjcf, ReadsTheReferenceRobots) {
  const auto shared = testing::shared_folder();
  if (shared.empty()) GTEST_SKIP() << testing::why_no_shared();
  const auto folder = shared / "robots/mjcf";
  const auto joints = [&](const char* file, JointType type) {
    int count = 0;
    for (const auto& joint : read_mjcf(folder / file).joints) count += joint.type == type;
    return count;
  };
  EXPECT_EQ(joints("iiwa14.xml", JointType::revolute), 7);
  EXPECT_EQ(joints("panda.xml", JointType::revolute), 7);
  EXPECT_EQ(joints("panda.xml", JointType::prismatic), 2);
  EXPECT_EQ(joints("g1.xml", JointType::revolute), 29);
  EXPECT_EQ(joints("g1.xml", JointType::free), 1);
  EXPECT_EQ(joints("go2.xml", JointType::revolute), 12);
}

}  // namespace
}  // namespace limb
