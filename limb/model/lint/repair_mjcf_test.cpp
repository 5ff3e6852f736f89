// Repair of MJCF files: only the wrong numbers change, and only where the file has them.
#include <gtest/gtest.h>

#include "limb/base/testing/temporary_folder.hpp"
#include "limb/base/text_file.hpp"
#include "limb/model/lint/check.hpp"
#include "limb/model/lint/repair.hpp"
#include "limb/model/lint/xml_tags.hpp"
#include "limb/model/mjcf/read_mjcf.hpp"

namespace limb {
namespace {

std::string robot(const std::string& inertial, const std::string& joint) {
  return "<mujoco model='arm'>\n  <compiler angle='degree'/>\n  <worldbody>\n    <body "
         "name='link'>\n"
         "      " +
         joint + "\n      " + inertial +
         " <!-- as written -->\n"
         "      <geom type='box' size='0.2 0.05 0.05' pos='0.2 0 0'/>\n    </body>\n"
         "  </worldbody>\n</mujoco>\n";
}
const std::string kJoint = "<joint name='turn' axis='0 0 1' range='-90 90'/>";
const std::string kInertial = "<inertial mass='2' pos='0.2 0 0' diaginertia='0.0033 0.028 0.028'/>";

RepairedMjcf repaired(const std::string& text) {
  const RepairedMjcf result = repair_mjcf_text(text, "arm.xml");
  // Repaired once, it stays.
  EXPECT_EQ(repair_mjcf_text(result.text, "arm.xml").text, result.text);
  return result;
}

TEST(RepairMjcf, ACorrectFileKeepsItsBytes) {
  const std::string text = robot(kInertial, kJoint);
  const RepairedMjcf result = repaired(text);
  EXPECT_EQ(result.text, text);
  EXPECT_TRUE(result.edits.empty() && result.lost.empty());
}

TEST(RepairMjcf, OnlyTheWrongNumbersChange) {
  // kg mm^2: the mass fits the box.
  const std::string units = "<inertial mass='2' pos='0.2 0 0' diaginertia='3300 28000 28000'/>";
  RepairedMjcf result = repaired(robot(units, kJoint));
  ASSERT_EQ(result.edits.size(), 1u);
  EXPECT_EQ(result.edits[0].rule, "inertia-units");
  EXPECT_EQ(result.text,
            robot("<inertial mass='2' pos='0.2 0 0' diaginertia='0.0033 0.028 0.028'/>", kJoint));

  const std::string full =
      "<inertial mass='2' pos='0.2 0 0' fullinertia='3300 28000 28000 10 0 -20'/>";
  result = repaired(robot(full, kJoint));
  EXPECT_EQ(
      result.text,
      robot("<inertial mass='2' pos='0.2 0 0' fullinertia='0.0033 0.028 0.028 1e-05 0 -2e-05'/>",
            kJoint));
}

// The range of MJCF is in degrees, unless the compiler says otherwise.
TEST(RepairMjcf, RangesKeepTheirUnit) {
  const std::string swapped = "<joint name='turn' axis='0 0 1' limited='true' range='90 -45'/>";
  const RepairedMjcf result = repaired(robot(kInertial, swapped));
  const Description<double> after = [&] {
    Diagnostics ignored;
    return parse_mjcf(result.text, "arm.xml", {}, ignored);
  }();
  ASSERT_EQ(result.edits.size(), 1u);
  EXPECT_EQ(result.edits[0].rule, "limit-swapped");
  ASSERT_EQ(after.joints.at(0).limits.size(), 1u);
  EXPECT_NEAR(after.joints[0].limits[0].lower.value(), -0.78539816339744828, 1e-15);
  EXPECT_NEAR(after.joints[0].limits[0].upper.value(), 1.5707963267948966, 1e-15);
}

TEST(RepairMjcf, NumbersOfOtherFilesAndClassesAreNotChanged) {
  const testing::TemporaryFolder folder;
  const auto part = folder.path() / "part.xml", whole = folder.path() / "whole.xml";
  const std::string inside =
      "<mujocoinclude><body name='link'>\n" + kJoint +
      "\n<inertial mass='2' pos='0.2 0 0' diaginertia='3300 28000 28000'/>\n"
      "<geom type='box' size='0.2 0.05 0.05' pos='0.2 0 0'/></body></mujocoinclude>";
  write_text_file("test", part, inside);
  const std::string text = "<mujoco><worldbody><include file='part.xml'/></worldbody></mujoco>";
  const RepairedMjcf result = repair_mjcf_text(text, whole.string());
  EXPECT_EQ(result.text, text);
  EXPECT_TRUE(result.edits.empty());
  ASSERT_EQ(result.lost.size(), 1u);
  EXPECT_NE(result.lost[0].message.find("it is in " + part.string()), std::string::npos)
      << result.lost[0].message;
}

TEST(XmlTags, PlacesOfAttributes) {
  const std::string text = "<?xml?>\n<a x='1'>\n <!-- <b y='0'/> -->\n <b y = \"2 3\"/><b/>\n</a>";
  const std::vector<XmlTag> tags = find_xml_tags(text);
  ASSERT_EQ(tags.size(), 3u);
  EXPECT_EQ(tags[1].line, 4);
  EXPECT_EQ(tags[1].path, (std::vector<std::string>{"a", "b"}));
  TextEdits edits(text);
  EXPECT_EQ(edits.numbers(tags[1], "y"), (std::vector<double>{2, 3}));
  EXPECT_TRUE(edits.set(tags[0], "x", {1}));  // the same number
  EXPECT_TRUE(edits.set(tags[1], "y", {4, 5}));
  EXPECT_TRUE(edits.set(tags[0], "z", {6}));
  EXPECT_FALSE(edits.set(tags[2], "y", {7}));
  EXPECT_EQ(edits.written(),
            "<?xml?>\n<a x='1' z=\"6\">\n <!-- <b y='0'/> -->\n <b y = \"4 5\"/><b/>\n</a>");
  TextEdits removal(text);
  removal.remove(tags[1], "y");
  EXPECT_EQ(removal.written(), "<?xml?>\n<a x='1'>\n <!-- <b y='0'/> -->\n <b/><b/>\n</a>");
}

}  // namespace
}  // namespace limb
