#include "limb/model/lint/check_structure.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace limb {
namespace {

Description<double> robot_of(const std::vector<std::string>& links,
                             const std::vector<std::array<std::string, 3>>& joints) {
  Description<double> robot;
  robot.file = "r.urdf";
  int line = 0;
  for (const auto& name : links) {
    LinkDescription<double> link;
    link.name = name;
    link.source = {"r.urdf", ++line};
    robot.links.push_back(link);
  }
  for (const auto& [name, parent, child] : joints) {
    JointDescription<double> joint;
    joint.name = name;
    joint.type = JointType::revolute;
    joint.parent = parent;
    joint.child = child;
    joint.source = {"r.urdf", ++line};
    robot.joints.push_back(joint);
  }
  return robot;
}

std::vector<std::string> texts(const Description<double>& robot) {
  Diagnostics found;
  check_structure(robot, found);
  std::vector<std::string> all;
  for (const auto& d : found) all.push_back(d.text());
  return all;
}

using Texts = std::vector<std::string>;

CouplingDescription<double> coupling(const std::string& joint, const Texts& drivers) {
  CouplingDescription<double> c;
  c.joint = joint;
  for (const auto& driver : drivers) c.terms.push_back({driver, 1.0});
  c.source = {"r.urdf", 9};
  return c;
}

TEST(CheckStructure, ATreeIsValid) {
  EXPECT_EQ(texts(robot_of({"a", "b", "c"}, {{"j", "a", "b"}, {"k", "a", "c"}})), Texts{});
  EXPECT_EQ(texts(robot_of({"a"}, {})), Texts{});
}

TEST(CheckStructure, TheWorldNeedsNoDeclaration) {
  EXPECT_EQ(texts(robot_of({"a", "b"}, {{"j", "world", "a"}, {"k", "world", "b"}})), Texts{});
  EXPECT_EQ(texts(robot_of({"a", "b"}, {{"j", "world", "a"}})),
            Texts{"r.urdf:2: error: the robot has 2 roots: 'b', 'world' [root-several]"});
  EXPECT_EQ(texts(robot_of({"world", "a"}, {{"j", "world", "a"}})), Texts{});
}

TEST(CheckStructure, NamesMustBeUnique) {
  EXPECT_EQ(texts(robot_of({"a", "b", "b"}, {{"j", "a", "b"}})),
            Texts{"r.urdf:3: error: link 'b' is declared twice, first at r.urdf:2 "
                  "[link-duplicate]"});
  auto robot = robot_of({"a"}, {});
  robot.frames.resize(2);
  robot.frames[0].name = robot.frames[1].name = "tool";
  robot.frames[0].link = "a";
  robot.frames[1].link = "aa";
  EXPECT_EQ(texts(robot), (Texts{"error: frame 'tool' is declared twice [frame-duplicate]",
                                 "error: frame 'tool' names link 'aa', no such link (closest: 'a') "
                                 "[frame-unknown-link]"}));
}

TEST(CheckStructure, UnknownLinksComeWithTheNearestName) {
  EXPECT_EQ(texts(robot_of({"base_link", "arm"}, {{"j", "base_lnk", "arm"}})),
            Texts{"r.urdf:3: error: joint 'j' names parent 'base_lnk', no such link (closest: "
                  "'base_link') [link-unknown]"});
}

TEST(CheckStructure, CyclesNameTheirLinksInOrder) {
  EXPECT_EQ(
      texts(robot_of({"r", "a", "b", "c"}, {{"x", "c", "a"}, {"y", "a", "b"}, {"z", "b", "c"}})),
      Texts{"r.urdf:5: error: links 'a', 'b', 'c' form a cycle [link-cycle]"});
  EXPECT_EQ(texts(robot_of({"a", "b"}, {{"x", "a", "a"}, {"y", "a", "b"}})),
            Texts{"r.urdf:3: error: joint 'x' has link 'a' as parent and as child "
                  "[joint-self-parent]"});
  EXPECT_EQ(texts(robot_of({"a", "b", "c"}, {{"x", "a", "c"}, {"y", "b", "c"}, {"z", "a", "b"}})),
            Texts{"r.urdf:5: error: link 'c' is the child of joint 'x' and of joint 'y' "
                  "[link-two-parents]"});
}

TEST(CheckStructure, RootsAreNamedAndJoined) {
  Diagnostics found;
  check_structure(robot_of({"a", "b"}, {}), found);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].text(), "r.urdf:2: error: the robot has 2 roots: 'a', 'b' [root-several]");
  EXPECT_EQ(found[0].fix, "join 'b' to 'a' by a joint (fixed, if it does not move), or remove it");
}

TEST(CheckStructure, CouplingsMustEndAtAnIndependentCoordinate) {
  auto robot = robot_of({"a", "b", "c", "d"}, {{"x", "a", "b"}, {"y", "b", "c"}, {"z", "c", "d"}});
  robot.couplings = {coupling("y", {"x"}), coupling("z", {"x", "y"})};
  EXPECT_EQ(texts(robot), Texts{});
  robot.couplings = {coupling("x", {"z"}), coupling("y", {"x"}), coupling("z", {"y"})};
  EXPECT_EQ(texts(robot), Texts{"r.urdf:9: error: joints 'x', 'y', 'z' follow each other in a "
                                "cycle [coupling-cycle]"});
  robot.couplings = {coupling("y", {"y"})};
  EXPECT_EQ(texts(robot), Texts{"r.urdf:9: error: joint 'y' follows itself [coupling-self]"});
  robot.couplings = {coupling("y", {"x"}), coupling("y", {"z"})};
  EXPECT_EQ(texts(robot), Texts{"r.urdf:9: error: joint 'y' is coupled twice [coupling-twice]"});
  // Polynomials are constraints: cycles, and several for one joint, are possible.
  const auto polynomial = [](CouplingDescription<double> c) {
    c.powers = {2};
    return c;
  };
  robot.couplings = {polynomial(coupling("y", {"x"})), polynomial(coupling("y", {"z"})),
                     polynomial(coupling("x", {"y"})), coupling("z", {"y"})};
  EXPECT_EQ(texts(robot), Texts{});
  robot.couplings = {polynomial(coupling("y", {"y"}))};
  EXPECT_EQ(texts(robot), Texts{"r.urdf:9: error: joint 'y' follows itself [coupling-self]"});
  robot.couplings = {polynomial(coupling("y", {"x", "z"}))};
  EXPECT_EQ(texts(robot), Texts{"r.urdf:9: error: coupling of joint 'y': a polynomial of 2 joints, "
                                "expected 1 [coupling-powers]"});
  robot.couplings = {polynomial(coupling("y", {"xx"}))};
  EXPECT_EQ(texts(robot), Texts{"r.urdf:9: error: coupling of joint 'y' names joint 'xx', no "
                                "such joint (closest: 'x') [coupling-unknown-joint]"});
  robot.couplings = {coupling("yy", {"x"})};
  EXPECT_EQ(texts(robot), Texts{"r.urdf:9: error: coupling of joint 'yy' names joint 'yy', no "
                                "such joint (closest: 'y') [coupling-unknown-joint]"});
  robot.couplings = {coupling("y", {"x"})};
  robot.joints[0].type = JointType::spherical;
  EXPECT_EQ(texts(robot), Texts{"r.urdf:9: error: coupling of joint 'y': joint 'x' is spherical "
                                "and has 3 degrees of freedom, expected 1 "
                                "[coupling-not-one-dof]"});
  robot.joints[1].type = JointType::fixed;
  EXPECT_EQ(texts(robot), Texts{"r.urdf:9: note: joint 'y' is fixed and follows another joint "
                                "[coupling-of-fixed]"});
}

TEST(CheckStructure, LoopsActuatorsAndLimitsFitTheTree) {
  auto robot = robot_of({"a", "b"}, {{"x", "a", "b"}});
  robot.joints[0].type = JointType::universal;
  robot.joints[0].limits.resize(1);
  robot.loops.resize(1);
  robot.loops[0].name = "close";
  robot.loops[0].link_a = "b";
  robot.loops[0].link_b = "elsewhere";
  robot.actuators.push_back({"motor", 1, {}});
  EXPECT_EQ(texts(robot),
            (Texts{"error: loop closure 'close' names link 'elsewhere', no such link "
                   "[loop-unknown-link]",
                   "error: an actuator names joint 'motor', no such joint "
                   "[actuator-unknown-joint]",
                   "r.urdf:3: error: joint 'x' is universal with 2 degrees of freedom and has 1 "
                   "limits [limits-count]"}));
}

TEST(CheckStructure, ARobotNeedsALink) {
  EXPECT_EQ(texts(robot_of({}, {})), Texts{"r.urdf: error: the robot has no link [link-none]"});
}

// A long chain in one cycle: a recursion would exhaust the stack.
TEST(CheckStructure, HandlesDeepTrees) {
  std::vector<std::string> links;
  std::vector<std::array<std::string, 3>> joints;
  const int n = 200000;
  for (int i = 0; i < n; ++i) {
    links.push_back(fmt::format("l{}", i));
    joints.push_back({fmt::format("j{}", i), fmt::format("l{}", (i + n - 1) % n), links.back()});
  }
  EXPECT_EQ(texts(robot_of(links, joints)),
            Texts{"r.urdf:200001: error: links 'l0', 'l1', 'l2', 'l3', 'l4', 'l5', 'l6', 'l7' and "
                  "199992 more form a cycle [link-cycle]"});
}

}  // namespace
}  // namespace limb
