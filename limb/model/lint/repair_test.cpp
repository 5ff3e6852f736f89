#include "limb/model/lint/repair.hpp"

#include <gtest/gtest.h>

#include "limb/base/error.hpp"
#include "limb/model/lint/check.hpp"
#include "limb/model/urdf/read_urdf.hpp"

namespace limb {
namespace {

const std::string kRobot =
    "<?xml version='1.0'?>\r\n"
    "<!-- <link name=\"arm\"><inertial><mass value=\"9\"/></inertial></link> -->\n"
    "<robot name=\"r\" >\n"
    "  <link name=\"base\"/>\n"
    "\t<link\n   name='a&amp;m'><!-- kept -->\n"
    "    <inertial>  <mass  value = '1.50' />\n"
    "      <origin xyz=\"0.1 0 0\"/>\n"
    "      <inertia ixx=\"0.01\" iyy='1e-2' izz=\"5.0e-2\"\n"
    "               ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial>\n"
    "    <vendor note=\"5 &gt; 3\"><deep ixx=\"0.01\"/></vendor>\n"
    "  </link>\n"
    "  <joint name=\"j\" type=\"revolute\"><parent link=\"base\"/><child link=\"a&amp;m\"/>\n"
    "    <axis xyz=\"0 3 4\"/><limit upper=\"-90\"   lower=\"90\" effort=\"1.0\" "
    "velocity=\"1\"/></joint>\n"
    "</robot>   <!-- the end -->\n";

TEST(Repair, ChangesOnlyTheNumbers) {
  const RepairedUrdf repaired = repair_urdf_text(kRobot, "r.urdf");
  std::string expected = kRobot;
  const auto replace = [&](const std::string& from, const std::string& to) {
    const std::size_t at = expected.find(from);
    ASSERT_NE(at, expected.npos) << from;
    expected.replace(at, from.size(), to);
  };
  replace("<inertia ixx=\"0.01\"", "<inertia ixx=\"0.025000000968575\"");
  replace("iyy='1e-2'", "iyy='0.025000000968575'");
  replace("xyz=\"0 3 4\"", "xyz=\"0 0.6 0.8\"");
  replace("upper=\"-90\"", "upper=\"1.5707963267948966\"");
  replace("lower=\"90\"", "lower=\"-1.5707963267948966\"");
  EXPECT_EQ(repaired.text, expected);
  ASSERT_EQ(repaired.remaining.size(), 1u);
  EXPECT_EQ(repaired.remaining[0].rule, "element-unknown");  // <vendor>, which stays

  std::vector<std::string> changes;
  for (const FileEdit& edit : repaired.edits) changes.push_back(edit.text());
  EXPECT_EQ(changes, (std::vector<std::string>{
                         "r.urdf:13: joint 'j': axis [0, 3, 4] -> [0, 0.6, 0.8] [axis-not-unit]",
                         "r.urdf:7: link 'a&m': ixx 0.01 -> 0.025000000968575, iyy 0.01 -> "
                         "0.025000000968575 [inertia-triangle]",
                         "r.urdf:13: joint 'j': limits [90, -90] -> [-1.5707963267948966, "
                         "1.5707963267948966] [limit-degrees, limit-swapped]"}));
  EXPECT_EQ(repair_urdf_text(repaired.text, "r.urdf").text, repaired.text);
}

TEST(Repair, DescriptionAndTextAgree) {
  Diagnostics ignored;
  const auto robot = parse_urdf(kRobot, "r.urdf", {}, ignored);
  const RepairedRobot repaired = repair_robot(robot);
  const auto read =
      parse_urdf(repair_urdf(kRobot, "r.urdf", repaired.edits), "r.urdf", {}, ignored);
  EXPECT_EQ(repaired.robot.links[1].inertial->tensor, read.links[1].inertial->tensor);
  EXPECT_EQ(repaired.robot.joints[0].limits[0].lower, read.joints[0].limits[0].lower);
  EXPECT_TRUE(repair_robot(repaired.robot).edits.empty());
}

// 1.5707963 is meant to be a quarter turn; 1.5707963267948966 is already exact; 0.0001 and 1.5706
// are taken as written.
TEST(Repair, QuarterTurnsBecomeExact) {
  const auto robot = [](const std::string& rpy) {
    return "<robot name='r'><link name='a'/><link name='b'/><joint name='j' type='fixed'>"
           "<parent link='a'/><child link='b'/><origin xyz='1 0 0' rpy='" +
           rpy + "'/></joint></robot>";
  };
  const RepairedUrdf repaired = repair_urdf_text(robot("1.5707963 -3.1416 0.0001"), "r.urdf");
  EXPECT_EQ(repaired.text, robot("1.5707963267948966 -3.141592653589793 0.0001"));
  ASSERT_EQ(repaired.edits.size(), 1u);
  EXPECT_EQ(repaired.edits[0].text(),
            "r.urdf:1: joint 'j': rpy [1.5707963, -3.1416, 0.0001] -> [1.5707963267948966, "
            "-3.141592653589793, 0.0001] [quarter-turn]");

  Diagnostics ignored;
  const auto read = parse_urdf(robot("1.5707963 -3.1416 0.0001"), "r.urdf", {}, ignored);
  const Diagnostics found = check_robot(read);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].text(),
            "r.urdf:1: note: joint 'j': rpy [1.5707963, -3.1416, 0.0001] is 7.3e-06 rad from "
            "quarter turns [quarter-turn]");
  EXPECT_EQ(found[0].fix, "rpy = [1.5707963267948966, -3.141592653589793, 0.0001]");
  const auto exact = parse_urdf(repaired.text, "r.urdf", {}, ignored);
  EXPECT_EQ(repair_robot(read).robot.joints[0].X_PJ.R, exact.joints[0].X_PJ.R);

  for (const char* fine :
       {"1.5707963267948966 -3.141592653589793 4.71238898038469", "1.5706 0 0"}) {
    EXPECT_EQ(repair_urdf_text(robot(fine), "r.urdf").text, robot(fine)) << fine;
  }
}

TEST(Repair, AddsAMissingAttributeWithADefault) {
  FileEdit edit;
  edit.rule = "rule";
  edit.field = FileEdit::Field::tensor;
  edit.owner = "a";
  edit.before = {1, 1, 1, 0, 0, 0};
  edit.after = {1, 1, 1, 0.1, 0, 0};
  const std::string text =
      "<robot><link name='a'><inertial><inertia ixx='1' iyy='1' izz='1' /></inertial></link>"
      "</robot>";
  EXPECT_EQ(repair_urdf(text, "r.urdf", {edit}),
            "<robot><link name='a'><inertial><inertia ixx='1' iyy='1' izz='1' ixy=\"0.1\" />"
            "</inertial></link></robot>");
}

TEST(Repair, TheLineSelectsAmongLinksWithTheSameName) {
  FileEdit edit;
  edit.field = FileEdit::Field::mass;
  edit.owner = "a";
  edit.source = {"r.urdf", 3};
  edit.before = {2};
  edit.after = {1};
  EXPECT_EQ(repair_urdf("<robot>\n"
                        "<link name='a'><inertial><mass value='2'/></inertial></link>\n"
                        "<link name='a'><inertial><mass value='2'/></inertial></link></robot>",
                        "r.urdf", {edit}),
            "<robot>\n"
            "<link name='a'><inertial><mass value='2'/></inertial></link>\n"
            "<link name='a'><inertial><mass value='1'/></inertial></link></robot>");
}

TEST(Repair, RejectsMissingElements) {
  FileEdit edit;
  edit.field = FileEdit::Field::mass;
  edit.owner = "ghost";
  edit.source = {"r.urdf", 3};
  edit.before = {2};
  edit.after = {1};
  try {
    repair_urdf("<robot><link name='a'/></robot>", "r.urdf", {edit});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "repair_urdf: r.urdf:3: link 'ghost': is not in the text");
  }
  Description<double> robot;
  EXPECT_THROW(apply_edits(robot, {edit}), Error);
  // Limits of degrees of freedom that the joint does not have.
  JointDescription<double> joint;
  joint.limits.resize(1);
  robot.joints = {joint};
  edit.field = FileEdit::Field::limits;
  edit.after = {-1, 1};
  apply_edits(robot, {edit});
  EXPECT_EQ(robot.joints[0].limits[0].upper, 1.0);
  edit.dof = 1;
  EXPECT_THROW(apply_edits(robot, {edit}), Error);
}

// Masses in grams and tensors in g mm^2: the first repair reveals the second finding.
TEST(Repair, ContinuesUntilNothingIsLeft) {
  const std::string shape =
      "<visual><origin xyz='0.2 0 0'/><geometry><box size='0.4 0.1 0.1'/></geometry></visual>";
  const std::string inertial =
      "<inertial><origin xyz='0.2 0 0'/><mass value='2000'/><inertia ixx='3330000' iyy='28300000' "
      "izz='28300000' ixy='0' ixz='0' iyz='0'/></inertial>";
  const std::string text = "<robot name='g'><link name='base'>" + inertial + shape +
                           "</link><link name='arm'>" + inertial + shape +
                           "</link><joint name='j' type='continuous'><parent link='base'/>"
                           "<child link='arm'/><origin xyz='0.4 0 0'/><axis xyz='0 0 1'/></joint>"
                           "</robot>";
  Diagnostics found;
  const RepairedRobot repaired = repair_robot(parse_urdf(text, "g.urdf", {}, found));
  EXPECT_TRUE(found.empty());
  EXPECT_TRUE(repaired.remaining.empty());
  EXPECT_EQ(repaired.edits.size(), 4u);
  EXPECT_EQ(repaired.robot.links[1].inertial->mass, 2);
  EXPECT_EQ(repaired.robot.links[1].inertial->tensor(1, 1), 0.0283);
}

}  // namespace
}  // namespace limb
