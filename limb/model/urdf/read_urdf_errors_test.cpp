// The text of every message of the URDF reader.
#include <gtest/gtest.h>

#include <fstream>

#include "limb/base/error.hpp"
#include "limb/base/testing/temporary_folder.hpp"
#include "limb/model/urdf/read_urdf.hpp"

namespace limb {
namespace {

namespace fs = std::filesystem;

std::string thrown(const std::string& text, const std::string& file = "r.urdf") {
  Diagnostics found;
  try {
    parse_urdf(text, file, {}, found);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// The diagnostics, one per line.
std::string diagnostics_text(const std::string& text, const ReadOptions& options = {}) {
  Diagnostics found;
  parse_urdf(text, "r.urdf", options, found);
  std::string lines;
  for (const Diagnostic& d : found) {
    EXPECT_FALSE(d.reason.empty()) << d.text();
    lines += d.text() + '\n';
  }
  if (!lines.empty()) lines.pop_back();
  return lines;
}
std::string in_robot(const std::string& text) {
  return diagnostics_text("<robot name='r'>\n" + text + "\n</robot>");
}
std::string in_link(const std::string& text) {
  return in_robot("<link name='a'>" + text + "</link>");
}
std::string in_joint(const std::string& type, const std::string& text) {
  return in_robot("<joint name='j' type='" + type + "'><parent link='a'/><child link='b'/>" + text +
                  "</joint>");
}

TEST(ReadUrdfErrors, OtherFormatsAreNamed) {
  EXPECT_EQ(thrown("<sdf version='1.6'/>"),
            "read_urdf: r.urdf:1: is SDF, expected URDF (export the robot as URDF)");
  EXPECT_EQ(thrown("\n<mujoco/>"),
            "read_urdf: r.urdf:2: is MJCF, expected URDF (MJCF has its own reader: read_mjcf)");
  EXPECT_EQ(thrown("<COLLADA/>"), "read_urdf: r.urdf:1: is a COLLADA mesh, expected URDF");
  EXPECT_EQ(thrown("<launch/>"), "read_urdf: r.urdf:1: is a launch file, expected URDF");
  EXPECT_EQ(thrown("<!DOCTYPE html><html></html>"),
            "read_urdf: r.urdf: is a web page instead of the file (download the raw file)");
  EXPECT_EQ(thrown("<robbot/>"),
            "read_urdf: r.urdf:1: root element is <robbot> (closest: 'robot'), expected <robot>");
  EXPECT_EQ(thrown("<svg/>"), "read_urdf: r.urdf:1: root element is <svg>, expected <robot>");
  EXPECT_EQ(thrown("<robot name='a'/>\n<robot name='b'/>"),
            "read_urdf: r.urdf:2: not well-formed XML: <robot> after the end of the root element");
}

TEST(ReadUrdfErrors, XacroErrorsNameTheCommandToRun) {
  const std::string run = ", expected URDF (run: xacro r.urdf > robot.urdf)";
  EXPECT_EQ(thrown("<robot xmlns:xacro='x'>\n<link name='a'/>\n<xacro:macro name='m'/></robot>"),
            "read_urdf: r.urdf:3: is xacro (<xacro:macro>)" + run);
  EXPECT_EQ(thrown("<robot>\n<link name='${prefix}a'/></robot>"),
            "read_urdf: r.urdf:2: is xacro (name=\"${prefix}a\")" + run);
  EXPECT_EQ(thrown("<robot><link name='a'><visual>\n<geometry>\n<mesh filename='$(find p)/a.stl'/>"
                   "</geometry></visual></link></robot>"),
            "read_urdf: r.urdf:3: is xacro (filename=\"$(find p)/a.stl\")" + run);
  EXPECT_EQ(thrown("<robot name='a'/>", "a.urdf.xacro"),
            "read_urdf: a.urdf.xacro:1: is xacro (by its name), expected URDF (run: xacro "
            "a.urdf.xacro > robot.urdf)");
  EXPECT_EQ(thrown("<xacro:robot/>"), "read_urdf: r.urdf:1: is xacro (<xacro:robot>)" + run);
}

TEST(ReadUrdfErrors, TextThatIsNotXml) {
  EXPECT_EQ(thrown("<robot>\n<link>\n</robot>"),
            "read_urdf: r.urdf:3: not well-formed XML: </robot> does not close <link> of line 2");
  EXPECT_EQ(thrown(""), "read_urdf: r.urdf: is empty");
}

TEST(ReadUrdfErrors, MissingParts) {
  EXPECT_EQ(diagnostics_text("<robot/>"),
            "r.urdf:1: warning: <robot> has no name [robot-name-missing]");
  EXPECT_EQ(in_robot("<link/>"),
            "r.urdf:2: error: <link> has no attribute 'name' [attribute-missing]");
  EXPECT_EQ(in_link("<inertial/>"),
            "r.urdf:2: error: link 'a': <inertial> has no <mass> [element-missing]\n"
            "r.urdf:2: error: link 'a': <inertial> has no <inertia> [element-missing]");
  EXPECT_EQ(in_link("<inertial><mass/><inertia ixx='1' ixy='1' ixz='1' iyy='1' iyz='1'/>"
                    "</inertial>"),
            "r.urdf:2: error: <mass> has no attribute 'value' [attribute-missing]\n"
            "r.urdf:2: error: <inertia> has no attribute 'izz' [attribute-missing]");
  EXPECT_EQ(in_link("<visual/>"),
            "r.urdf:2: error: link 'a': <visual> has no <geometry> [element-missing]");
  EXPECT_EQ(in_link("<visual><geometry/></visual>"),
            "r.urdf:2: error: link 'a': <geometry> has no shape [element-missing]");
  EXPECT_EQ(in_link("<visual><geometry><box/></geometry></visual>"),
            "r.urdf:2: error: <box> has no attribute 'size' [attribute-missing]");
  EXPECT_EQ(in_link("<visual><geometry><mesh/></geometry></visual>"),
            "r.urdf:2: error: <mesh> has no attribute 'filename' [attribute-missing]");
  EXPECT_EQ(in_robot("<joint/>"),
            "r.urdf:2: error: <joint> has no attribute 'name' [attribute-missing]\n"
            "r.urdf:2: error: <joint> has no attribute 'type' [attribute-missing]\n"
            "r.urdf:2: error: <joint>: <joint> has no <parent> [element-missing]\n"
            "r.urdf:2: error: <joint>: <joint> has no <child> [element-missing]");
  EXPECT_EQ(in_robot("<joint name='j' type='fixed'><parent/><child link='b'/></joint>"),
            "r.urdf:2: error: <parent> has no attribute 'link' [attribute-missing]");
  EXPECT_EQ(in_joint("fixed", "<mimic/>"),
            "r.urdf:2: error: <mimic> has no attribute 'joint' [attribute-missing]");
}

TEST(ReadUrdfErrors, InvalidNumbers) {
  EXPECT_EQ(in_joint("fixed", "<origin xyz='1 2' rpy='0 0 nan'/>"),
            "r.urdf:2: error: <origin>: attribute 'xyz' is '1 2', expected 3 finite numbers "
            "[attribute-not-a-number]\n"
            "r.urdf:2: error: <origin>: attribute 'rpy' is '0 0 nan', expected 3 finite numbers "
            "[attribute-not-a-number]");
  EXPECT_EQ(in_link("<visual><geometry><sphere radius='1e999'/></geometry></visual>"),
            "r.urdf:2: error: <sphere>: attribute 'radius' is '1e999', expected a finite number "
            "[attribute-not-a-number]");
  EXPECT_EQ(in_joint("fixed", "<origin quat_xyzw='0 0 0 0'/>"),
            "r.urdf:2: error: <origin>: attribute 'quat_xyzw' is 0 0 0 0, expected a unit "
            "quaternion [attribute-not-a-number]");
  EXPECT_EQ(in_joint("fixed", "<origin rpy='0 0 0' quat_xyzw='0 0 0 1'/>"),
            "r.urdf:2: error: <origin> has both rpy and quat_xyzw [origin-ambiguous]");
  EXPECT_EQ(in_robot("<joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint>"
                     "<transmission name='t'><joint name='j'/>"
                     "<mechanicalReduction>fast</mechanicalReduction></transmission>"),
            "r.urdf:2: warning: <mechanicalReduction> is 'fast', expected a finite number "
            "[reduction-not-a-number]");
}

TEST(ReadUrdfErrors, UnknownWords) {
  const std::string types =
      "expected one of revolute, continuous, prismatic, fixed, floating, planar, spherical, "
      "universal, cylindrical, helical, translation [joint-type-unknown]";
  EXPECT_EQ(in_joint("revolut", ""),
            "r.urdf:2: error: joint 'j': unknown type 'revolut' (closest: 'revolute'), " + types);
  EXPECT_EQ(in_joint("free", ""), "r.urdf:2: error: joint 'j': unknown type 'free', " + types);
  EXPECT_EQ(in_link("<visual><geometry><cone/></geometry></visual>"),
            "r.urdf:2: warning: link 'a': unknown shape 'cone', expected box, cylinder, sphere, "
            "capsule or mesh [geometry-unknown]");
  EXPECT_EQ(in_robot("<lnik name='a'/>"),
            "r.urdf:2: note: robot 'r': unknown element 'lnik' (closest: 'link') "
            "[element-unknown]");
  EXPECT_EQ(in_link("<inertail/>"),
            "r.urdf:2: note: link 'a': unknown element 'inertail' (closest: 'inertial') "
            "[element-unknown]");
  EXPECT_EQ(in_joint("continuous", "<dynamics dampng='1'/>"),
            "r.urdf:2: note: <dynamics>: unknown attribute 'dampng' (closest: 'damping') "
            "[attribute-unknown]");
}

TEST(ReadUrdfErrors, Axes) {
  EXPECT_EQ(in_joint("continuous", "<axis xyz='0 0 0'/>"),
            "r.urdf:2: error: joint 'j': axis is 0 0 0 [axis-zero]");
  EXPECT_EQ(in_joint("continuous", "<axis xyz='0 3 4'/>"),
            "r.urdf:2: warning: joint 'j': axis has length 5, expected 1 [axis-not-unit]");
  EXPECT_EQ(in_joint("universal", "<axis2 xyz='0 0 0'/>"),
            "r.urdf:2: error: joint 'j': axis2 is 0 0 0 [axis-zero]");
  Diagnostics found;
  const auto robot = parse_urdf(
      "<robot name='r'><joint name='j' type='continuous'><parent link='a'/><child link='b'/>"
      "<axis xyz='0 3e200 4e200'/></joint><joint name='k' type='continuous'><parent link='a'/>"
      "<child link='b'/><axis xyz='0 0 0'/></joint></robot>",
      "r.urdf", {}, found);
  EXPECT_LT((robot.joints.at(0).axis - Vector3<double>(0, 0.6, 0.8)).norm(), 2 * epsilon<double>());
  EXPECT_EQ(robot.joints.at(1).axis, Vector3<double>(1, 0, 0));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].fix, "<axis xyz=\"0 0.6 0.8\"/>");
}

TEST(ReadUrdfErrors, Limits) {
  EXPECT_EQ(in_joint("revolute", ""),
            "r.urdf:2: error: joint 'j': a revolute joint needs <limit> [limit-missing]");
  EXPECT_EQ(in_joint("prismatic", ""),
            "r.urdf:2: error: joint 'j': a prismatic joint needs <limit> [limit-missing]");
  EXPECT_EQ(in_joint("revolute", "<limit lower='-1' upper='1'/>"),
            "r.urdf:2: warning: joint 'j': <limit> has no attribute 'effort' [limit-incomplete]\n"
            "r.urdf:2: warning: joint 'j': <limit> has no attribute 'velocity' "
            "[limit-incomplete]");
  EXPECT_EQ(in_joint("continuous", "<limit lower='-1' effort='1' velocity='1'/>"),
            "r.urdf:2: note: joint 'j': a continuous joint has no range, lower and upper are "
            "ignored [limit-ignored]");
  EXPECT_EQ(in_joint("floating", "<limit effort='1' velocity='1'/>"),
            "r.urdf:2: note: joint 'j': <limit> of a floating joint has no meaning in URDF "
            "[limit-ignored]");
  EXPECT_EQ(in_joint("planar", "<limit dof='3'/>"),
            "r.urdf:2: error: joint 'j': <limit> is for degree of freedom 3, expected 0 to 2 "
            "[dof-unknown]");
  EXPECT_EQ(in_joint("planar", "<limit dof='-0.5'/>"),
            "r.urdf:2: error: joint 'j': <limit> is for degree of freedom -0.5, expected 0 to 2 "
            "[dof-unknown]");
}

TEST(ReadUrdfErrors, RepeatedParts) {
  EXPECT_EQ(in_joint("fixed", "<origin xyz='1 0 0'/>\n<origin xyz='2 0 0'/>"),
            "r.urdf:3: warning: joint 'j' has more than one <origin> [element-repeated]");
}

TEST(ReadUrdfErrors, MissingMeshesAreReportedOnceAndNeverAnError) {
  const auto mesh = [](const std::string& uri) {
    return "<collision><geometry><mesh filename='" + uri + "'/></geometry></collision>";
  };
  EXPECT_EQ(in_link(mesh("package://p/a.stl") + mesh("package://p/a.stl")),
            "r.urdf:2: note: mesh 'package://p/a.stl' was not found [mesh-not-found]");
  EXPECT_EQ(in_link(mesh("../../../../etc/passwd")),
            "r.urdf:2: warning: mesh '../../../../etc/passwd' is outside the given folders "
            "[mesh-outside-root]");
}

TEST(ReadUrdfErrors, MessagesStaySmall) {
  const std::string name(1 << 20, 'x');
  const std::string line = in_robot("<link name='" + name + "' " + name + "='1'/>");
  EXPECT_LT(line.size(), 300u);
  // A note for each of a million elements would need hundreds of megabytes; the error is still
  // added.
  std::string many;
  for (int i = 0; i < 50000; ++i) many += "<x/>";
  Diagnostics found;
  parse_urdf("<robot name='r'>" + many + "<link/></robot>", "r.urdf", {}, found);
  ASSERT_EQ(found.size(), 10002u);
  EXPECT_EQ(found[10000].text(),
            "r.urdf:1: warning: more than 10000 diagnostics, the others are left out "
            "[too-many-remarks]");
  EXPECT_TRUE(has_errors(found));
}

TEST(ReadUrdfErrors, ReadingAFileThrowsItsFirstError) {
  const testing::TemporaryFolder folder;
  const fs::path file = folder.path() / "robot.urdf";
  std::ofstream(file) << "<robot name='r'>\n<lnik/>\n<link/>\n<joint/></robot>";
  std::string text;
  try {
    read_urdf(file);
  } catch (const Error& error) {
    text = error.what();
  }
  fs::remove(file);
  EXPECT_EQ(text, "read_urdf: " + file.string() + ":3: <link> has no attribute 'name'");
  try {
    read_urdf(file);
  } catch (const Error& error) {
    text = error.what();
  }
  EXPECT_EQ(text, "read_urdf: " + file.string() + ": no such file");
}

}  // namespace
}  // namespace limb
