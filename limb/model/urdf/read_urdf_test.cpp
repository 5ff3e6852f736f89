#include "limb/model/urdf/read_urdf.hpp"

#include <gtest/gtest.h>

#include <clocale>

#include "limb/math/euler.hpp"
#include "limb/math/testing/max_abs.hpp"
#include "limb/model/core/model.hpp"
#include "limb/model/testing/shared.hpp"

namespace limb {
namespace {

Description<double> parse(const std::string& text) {
  Diagnostics found;
  auto robot = parse_urdf(text, "r.urdf", {}, found);
  for (const Diagnostic& d : found) ADD_FAILURE() << d.text();
  return robot;
}

/// Two links, and between them a joint with this type and content.
JointDescription<double> joint(const std::string& type, const std::string& content = "") {
  const auto robot =
      parse("<robot name='r'><link name='a'/><link name='b'/><joint name='j' type='" + type +
            "'><parent link='a'/><child link='b'/>" + content + "</joint></robot>");
  EXPECT_EQ(robot.joints.size(), 1u);
  return robot.joints.at(0);
}

const std::string kLimit = "<limit lower='-1' upper='2' effort='3' velocity='4'/>";

TEST(ReadUrdf, ReadsALinkAsWritten) {
  const auto robot = parse(R"(<?xml version="1.0"?>
<robot name="one">
  <link name="body">
    <inertial>
      <origin xyz="0.1 -0.2 0.3" rpy="0.1 0.2 0.3"/>
      <mass value="2.5"/>
      <inertia ixx="1" ixy="0.1" ixz="0.2" iyy="2" iyz="0.3" izz="3"/>
    </inertial>
    <visual><origin xyz="1 2 3"/><geometry><box size="1 2 3"/></geometry></visual>
    <visual><geometry><sphere radius="0.5"/></geometry></visual>
    <collision><geometry><cylinder radius="0.5" length="2"/></geometry></collision>
    <collision><geometry><capsule radius="0.25" length="4"/></geometry></collision>
  </link>
</robot>)");
  EXPECT_EQ(robot.name, "one");
  EXPECT_EQ(robot.file, "r.urdf");
  EXPECT_EQ(robot.gravity, Vector3<double>(0, 0, -9.81));
  ASSERT_EQ(robot.links.size(), 1u);
  const auto& link = robot.links[0];
  EXPECT_EQ(link.name, "body");
  EXPECT_EQ(link.source.text(), "r.urdf:3");
  ASSERT_TRUE(link.inertial);
  EXPECT_EQ(link.inertial->source.text(), "r.urdf:4");
  EXPECT_EQ(link.inertial->mass, 2.5);
  EXPECT_EQ(link.inertial->X_LI.p, Vector3<double>(0.1, -0.2, 0.3));
  EXPECT_EQ(link.inertial->X_LI.R, rpy_to_matrix(0.1, 0.2, 0.3));
  Matrix3<double> tensor;
  tensor << 1, 0.1, 0.2, 0.1, 2, 0.3, 0.2, 0.3, 3;
  EXPECT_EQ(link.inertial->tensor, tensor);

  using Shape = Geometry::Shape;
  ASSERT_EQ(link.geometry.size(), 4u);
  EXPECT_EQ(link.geometry[0].shape, Shape::box);
  EXPECT_EQ(link.geometry[0].size, Vector3<double>(1, 2, 3));
  EXPECT_EQ(link.geometry[0].X_LG.p, Vector3<double>(1, 2, 3));
  EXPECT_EQ(link.geometry[0].role, Geometry::Role::visual);
  EXPECT_EQ(link.geometry[0].source.line, 9);
  EXPECT_EQ(link.geometry[1].shape, Shape::sphere);
  EXPECT_EQ(link.geometry[1].size, Vector3<double>(0.5, 0, 0));
  EXPECT_EQ(link.geometry[2].shape, Shape::cylinder);
  EXPECT_EQ(link.geometry[2].size, Vector3<double>(0.5, 2, 0));
  EXPECT_EQ(link.geometry[2].role, Geometry::Role::collision);
  EXPECT_EQ(link.geometry[3].shape, Shape::capsule);
  EXPECT_EQ(link.geometry[3].size, Vector3<double>(0.25, 4, 0));
}

TEST(ReadUrdf, ReadsAJointAsWritten) {
  const auto j =
      joint("revolute", "<origin xyz='1 2 3' rpy='0 0 1.5707963'/><axis xyz='0 0 -1'/>" + kLimit +
                            "<dynamics damping='0.5' friction='0.25' armature='0.125'/>"
                            "<calibration rising='0'/><safety_controller k_velocity='1'/>");
  EXPECT_EQ(j.name, "j");
  EXPECT_EQ(j.parent, "a");
  EXPECT_EQ(j.child, "b");
  EXPECT_EQ(j.X_PJ.p, Vector3<double>(1, 2, 3));
  // A rounded quarter turn is kept as written.
  EXPECT_EQ(j.X_PJ.R, rpy_to_matrix(0.0, 0.0, 1.5707963));
  EXPECT_EQ(j.X_PJ.R(0, 0), std::cos(1.5707963));
  EXPECT_EQ(j.X_JC.R, Matrix3<double>::Identity());
  EXPECT_EQ(j.axis, Vector3<double>(0, 0, -1));
  ASSERT_EQ(j.limits.size(), 1u);
  EXPECT_EQ(j.limits[0].lower, -1.0);
  EXPECT_EQ(j.limits[0].upper, 2.0);
  EXPECT_EQ(j.limits[0].effort, 3.0);
  EXPECT_EQ(j.limits[0].velocity, 4.0);
  EXPECT_EQ(j.damping, 0.5);
  EXPECT_EQ(j.friction, 0.25);
  EXPECT_EQ(j.armature, 0.125);
}

TEST(ReadUrdf, DefaultsAreThoseOfUrdf) {
  const auto j = joint("revolute", "<limit effort='3' velocity='4'/>");
  EXPECT_EQ(j.axis, Vector3<double>(1, 0, 0));
  EXPECT_EQ(j.X_PJ.R, Matrix3<double>::Identity());
  EXPECT_EQ(j.X_PJ.p, Vector3<double>::Zero());
  EXPECT_EQ(j.limits.at(0).lower, 0.0);
  EXPECT_EQ(j.limits.at(0).upper, 0.0);
  EXPECT_EQ(j.damping, 0.0);
}

TEST(ReadUrdf, ReadsEveryJointType) {
  EXPECT_EQ(joint("revolute", kLimit).type, JointType::revolute);
  EXPECT_EQ(joint("prismatic", kLimit).type, JointType::prismatic);
  EXPECT_EQ(joint("continuous").type, JointType::continuous);
  EXPECT_EQ(joint("fixed").type, JointType::fixed);
  EXPECT_EQ(joint("floating").type, JointType::free);
  EXPECT_EQ(joint("planar", "<axis xyz='0 0 1'/>").axis, Vector3<double>(0, 0, 1));
  EXPECT_EQ(joint("spherical").type, JointType::spherical);
  EXPECT_EQ(joint("cylindrical").type, JointType::cylindrical);
  EXPECT_EQ(joint("translation").type, JointType::translation);
  EXPECT_EQ(joint("helical", "<axis xyz='0 1 0' pitch='0.01'/>").pitch, 0.01);
  const auto universal = joint("universal", "<axis xyz='0 0 1'/><axis2 xyz='1 0 0'/>");
  EXPECT_EQ(universal.axis, Vector3<double>(0, 0, 1));
  EXPECT_EQ(universal.axis2, Vector3<double>(1, 0, 0));
}

// Exporters write all elements of a revolute joint into fixed ones.
TEST(ReadUrdf, AFixedJointIgnoresAxisAndLimit) {
  const auto j = joint("fixed", "<axis xyz='0 0 0'/><dynamics damping='1'/>" + kLimit);
  EXPECT_EQ(j.axis, Vector3<double>(1, 0, 0));
  EXPECT_TRUE(j.limits.empty());
  EXPECT_EQ(j.damping, 0.0);
}

TEST(ReadUrdf, SixDigitsOfAUnitAxisAreNormalised) {
  const auto j = joint("continuous", "<axis xyz='0.707107 0 0.707107'/>");
  EXPECT_LE(std::abs(j.axis.norm() - 1), 2 * epsilon<double>());
  EXPECT_EQ(j.axis[0], j.axis[2]);
}

TEST(ReadUrdf, LimitsOfSeveralDegreesOfFreedom) {
  const auto j =
      joint("planar", "<limit dof='2' lower='-1' upper='1'/><limit dof='0' effort='5'/>");
  ASSERT_EQ(j.limits.size(), 3u);
  EXPECT_EQ(j.limits[0].effort, 5.0);
  EXPECT_FALSE(j.limits[0].lower);
  EXPECT_FALSE(j.limits[1].effort);
  EXPECT_EQ(j.limits[2].lower, -1.0);
}

TEST(ReadUrdf, MarkedBoundsAreUnlimited) {
  const auto j = joint("prismatic",
                       "<limit lower='-1e9' upper='2' effort='1e9' velocity='1' "
                       "unlimited='lower effort'/>");
  EXPECT_FALSE(j.limits.at(0).lower);
  EXPECT_FALSE(j.limits.at(0).effort);
  EXPECT_EQ(j.limits.at(0).upper, 2.0);
  EXPECT_TRUE(
      joint("prismatic", "<limit unlimited='lower upper effort velocity'/>").limits.empty());
}

TEST(ReadUrdf, MimicIsACoupling) {
  const auto robot = parse(R"(<robot name='r'>
  <joint name='j' type='continuous'><parent link='a'/><child link='b'/><mimic joint='k'/></joint>
  <joint name='l' type='continuous'><parent link='a'/><child link='c'/>
    <mimic joint='k' multiplier='-2' offset='0.5'/>
  </joint>
  <joint name='m' type='continuous'><parent link='a'/><child link='c'/>
    <mimic joint='j' multiplier='3'/><mimic joint='k' multiplier='4' offset='1'/>
  </joint>
  <joint name='k' type='continuous'><parent link='a'/><child link='d'/></joint>
</robot>)");
  ASSERT_EQ(robot.couplings.size(), 3u);
  EXPECT_EQ(robot.couplings[0].joint, "j");
  EXPECT_EQ(robot.couplings[0].terms.at(0).joint, "k");
  EXPECT_EQ(robot.couplings[0].terms.at(0).ratio, 1.0);
  EXPECT_EQ(robot.couplings[0].offset, 0.0);
  EXPECT_EQ(robot.couplings[1].terms.at(0).ratio, -2.0);
  EXPECT_EQ(robot.couplings[1].offset, 0.5);
  EXPECT_EQ(robot.couplings[1].source.line, 4);
  ASSERT_EQ(robot.couplings[2].terms.size(), 2u);
  EXPECT_EQ(robot.couplings[2].terms[1].ratio, 4.0);
  EXPECT_EQ(robot.couplings[2].offset, 1.0);
}

TEST(ReadUrdf, TransmissionsNameTheActuatedJoints) {
  const auto robot = parse(R"(<robot name='r'>
  <transmission name='t1'><type>transmission_interface/SimpleTransmission</type>
    <joint name='a'/><actuator name='m'><mechanicalReduction> 50 </mechanicalReduction></actuator>
  </transmission>
  <transmission name='old' type='SimpleTransmission'>
    <actuator name='m'/><joint name='b'/><mechanicalReduction>-3.5</mechanicalReduction>
  </transmission>
  <transmission name='both'>
    <actuator name='m1'><mechanicalReduction>2</mechanicalReduction></actuator>
    <actuator name='m2'><mechanicalReduction>4</mechanicalReduction></actuator>
    <joint name='c'/><joint name='d'/><joint name='a'/>
  </transmission>
  <joint name='a' type='continuous'><parent link='p'/><child link='a'/></joint>
  <joint name='b' type='continuous'><parent link='p'/><child link='b'/></joint>
  <joint name='c' type='continuous'><parent link='p'/><child link='c'/></joint>
  <joint name='d' type='continuous'><parent link='p'/><child link='d'/></joint>
</robot>)");
  ASSERT_EQ(robot.actuators.size(), 4u);
  const std::vector<std::pair<std::string, double>> expected = {
      {"a", 50}, {"b", -3.5}, {"c", 2}, {"d", 4}};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(robot.actuators[i].joint, expected[i].first);
    EXPECT_EQ(robot.actuators[i].gear, expected[i].second);
  }
}

// Files of one arm often keep the transmissions of the whole robot.
TEST(ReadUrdf, PartsOfAbsentJointsAreIgnoredWithAWarning) {
  Diagnostics diagnostics;
  const auto robot = parse_urdf(R"(<robot name='r'>
  <link name='a'/><link name='b'/><link name='c'/>
  <joint name='left' type='continuous'><parent link='a'/><child link='b'/></joint>
  <joint name='grip' type='continuous'><parent link='b'/><child link='c'/>
    <mimic joint='lef'/>
  </joint>
  <transmission name='t'><joint name='left'/></transmission>
  <transmission name='u'><joint name='neck_of_another_robot'/></transmission>
</robot>)",
                                "r.urdf", {}, diagnostics);
  EXPECT_TRUE(robot.couplings.empty());
  ASSERT_EQ(robot.actuators.size(), 1u);
  EXPECT_EQ(robot.actuators[0].joint, "left");
  ASSERT_EQ(diagnostics.size(), 2u);
  EXPECT_EQ(diagnostics[0].text(),
            "r.urdf:5: warning: <mimic> of joint 'grip' names joint 'lef', no such joint (closest: "
            "'left') [coupling-unknown-joint]");
  EXPECT_EQ(diagnostics[1].text(),
            "r.urdf:8: warning: <transmission> names joint 'neck_of_another_robot', no such joint "
            "[actuator-unknown-joint]");
  EXPECT_EQ(build_model(robot).nv(), 2);
}

TEST(ReadUrdf, QuaternionOfUrdf12) {
  const auto j = joint("continuous", "<origin quat_xyzw='0 0 2e300 2e300'/>");
  EXPECT_LT(max_abs(j.X_PJ.R - rpy_to_matrix(0.0, 0.0, std::acos(-1) / 2)),
            4 * epsilon<double>());  // two roundings in the quaternion, two in its product
}

TEST(ReadUrdf, TextFormattingDoesNotMatter) {
  const std::string crlf =
      "\xEF\xBB\xBF<?xml version='1.0' encoding='utf-8'?>\r\n<!-- <link name='no'/> ${x} "
      "<xacro:no/> -->\r\n"
      "<robot name='r' version='1.0' xmlns:xacro='http://ros.org/wiki/xacro'>\r\n"
      "<![CDATA[ <link name='no'/> ]]> stray words\r\n"
      "<link name='a&amp;b &#x41;'/>\r\n</robot>\r\n<!-- end -->\r\n";
  const auto robot = parse(crlf);
  ASSERT_EQ(robot.links.size(), 1u);
  EXPECT_EQ(robot.links[0].name, "a&b A");
  EXPECT_EQ(robot.links[0].source.line, 5);
}

TEST(ReadUrdf, NumbersDoNotDependOnTheLocale) {
  // Where the comma locale is not installed the call returns null and the check is the plain one.
  const std::string before = std::setlocale(LC_ALL, nullptr);
  std::setlocale(LC_ALL, "de_DE.UTF-8");
  const auto j = joint("continuous", "<origin xyz='0.5 +1.5e-1 .25'/>");
  std::setlocale(LC_ALL, before.c_str());
  EXPECT_EQ(j.X_PJ.p, Vector3<double>(0.5, 0.15, 0.25));
}

TEST(ReadUrdf, ExtensionsOfOtherToolsGiveNoDiagnostics) {
  parse(R"(<robot name='r'>
  <material name='m'><color rgba='1 1 1 1'/></material>
  <gazebo reference='a'><plugin name='${x}' anything='1'/></gazebo>
  <ros2_control name='c' type='system'><hardware/></ros2_control>
  <link name='a'><contact><lateral_friction value='1'/></contact></link>
</robot>)");
}

TEST(ReadUrdf, SharedRobotsReadWithoutErrors) {
  const auto shared = testing::shared_folder();
  if (shared.empty()) GTEST_SKIP() << testing::why_no_shared();
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(shared / "robots")) {
    if (entry.path().extension() != ".urdf") continue;
    EXPECT_NO_THROW(read_urdf(entry.path())) << entry.path();
    ++count;
  }
  EXPECT_GE(count, 10);
}

}  // namespace
}  // namespace limb
