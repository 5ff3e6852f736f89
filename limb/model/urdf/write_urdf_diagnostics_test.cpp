// Diagnostics and errors of the URDF writer.
#include <gtest/gtest.h>

#include <limits>

#include "limb/base/error.hpp"
#include "limb/model/urdf/read_urdf.hpp"
#include "limb/model/urdf/write_urdf.hpp"

namespace limb {
namespace {

Description<double> parse(const std::string& text) {
  Diagnostics found;
  auto robot = parse_urdf(text, "copy.urdf", {}, found);
  EXPECT_FALSE(has_errors(found)) << text;
  return robot;
}

std::string write(const Description<double>& robot) {
  Diagnostics ignored;
  return write_urdf(robot, ignored);
}

std::string diagnostics_text(const Description<double>& robot) {
  Diagnostics found;
  write_urdf(robot, found);
  std::string lines;
  for (const Diagnostic& d : found) {
    EXPECT_FALSE(d.reason.empty()) << d.text();
    lines += d.text();
    lines += '\n';
  }
  return lines;
}

TEST(WriteUrdfDiagnostics, ReportsExtensionsAndLosses) {
  Description<double> robot;
  robot.file = "r.xml";
  robot.links = {{"a", {}, {}, {}}, {"b", {}, {}, {}}};
  JointDescription<double> joint;
  joint.name = "j";
  joint.parent = kWorldLink;
  joint.child = "a";
  joint.source = {"r.xml", 7};
  joint.type = JointType::spherical;
  robot.joints = {joint};
  EXPECT_EQ(
      diagnostics_text(robot),
      "r.xml:7: note: joint 'j': type 'spherical' is an extension of limb [joint-type-own]\n");
  EXPECT_EQ(parse(write(robot)).links.at(0).name, "world");
  robot.joints[0].type = JointType::revolute;
  EXPECT_EQ(diagnostics_text(robot),
            "r.xml:7: note: joint 'j': unlimited lower upper effort velocity is written as 1e9 "
            "[limit-unlimited]\n");
  robot.joints[0].type = JointType::continuous;
  robot.joints[0].armature = 0.5;
  robot.joints[0].X_JC.p[0] = 1;
  EXPECT_EQ(diagnostics_text(robot),
            "r.xml:7: note: link 'a': its frame is moved to that of joint 'j' [frame-moved]\n"
            "r.xml:7: note: joint 'j': armature 0.5 is written [armature-own]\n");

  robot.joints = {joint};
  robot.joints[0].type = JointType::continuous;
  robot.gravity = {0, 0, -1.62};
  robot.links[0].geometry.resize(2);
  robot.links[0].geometry[0].shape = Geometry::Shape::ellipsoid;
  robot.links[0].geometry[1].shape = Geometry::Shape::plane;
  robot.frames = {{"b", "a", {}, {"r.xml", 8}}, {"tip", "a", {}, {"r.xml", 9}}};
  robot.loops = {{"loop", LoopDescription<double>::Kind::weld, "a", "b", {}, {}, {"r.xml", 10}}};
  robot.couplings = {{"j", {}, 1, {"r.xml", 11}}, {"none", {{"j", 1}}, 0, {"r.xml", 12}}};
  EXPECT_EQ(diagnostics_text(robot),
            "warning: link 'a': an ellipsoid is left out [geometry-lost]\n"
            "warning: link 'a': a plane is left out [geometry-lost]\n"
            "r.xml:8: warning: frame 'b' is left out [frame-lost]\n"
            "r.xml:9: note: frame 'tip' is written as a link without mass [frame-as-link]\n"
            "r.xml:10: warning: loop 'loop' between 'a' and 'b' is left out [loop-lost]\n"
            "r.xml:11: warning: coupling of joint 'j' is left out [coupling-lost]\n"
            "r.xml:12: warning: coupling of joint 'none' is left out [coupling-lost]\n"
            "r.xml: warning: gravity [0, 0, -1.62] is left out [gravity-lost]\n");
  robot.couplings = {{"j", {{"k", 1}}, 1, {"r.xml", 14}, {2}}};
  EXPECT_NE(diagnostics_text(robot).find(
                "r.xml:14: warning: coupling of joint 'j' is left out [coupling-lost]\n"),
            std::string::npos);
  robot.couplings = {{"j", {{"k", 1}, {"l", 2}}, 1, {"r.xml", 13}}};
  EXPECT_NE(
      diagnostics_text(robot).find("r.xml:13: note: joint 'j': follows 2 joints [coupling-own]\n"),
      std::string::npos);
}

TEST(WriteUrdfDiagnostics, WhatIsSaidAboutSimulationsIsLost) {
  Description<double> robot;
  robot.file = "r.xml";
  robot.links = {{"a", {}, {}, {}}, {"b", {}, {}, {}}};
  JointDescription<double> joint;
  joint.name = "j";
  joint.type = JointType::continuous;
  joint.parent = "a";
  joint.child = "b";
  robot.joints = {joint};
  EXPECT_EQ(diagnostics_text(robot), "");
  const std::string scene =
      "r.xml: warning: servos, tendons, keyframes, fixed shapes, drag and gravity compensation are "
      "left out [scene-lost]\n";
  const auto with = [&](const auto& change) {
    Description<double> changed = robot;
    change(changed);
    return diagnostics_text(changed);
  };
  EXPECT_EQ(with([](auto& d) { d.joints[0].stiffness = 2; }),
            "warning: the spring of joint 'j' is left out [spring-lost]\n");
  EXPECT_EQ(with([](auto& d) { d.links[0].gravity_compensation = 1; }), scene);
  EXPECT_EQ(with([](auto& d) { d.tendons.emplace_back(); }), scene);
  EXPECT_EQ(with([](auto& d) { d.scene.keyframes.emplace_back(); }), scene);
  EXPECT_EQ(with([](auto& d) { d.scene.fixed.emplace_back(); }), scene);
  EXPECT_EQ(with([](auto& d) { d.scene.medium.density = 1; }), scene);
  EXPECT_EQ(with([](auto& d) { d.actuators.push_back({"j", 1, {}}); }), "");  // a torque motor
  EXPECT_EQ(with([](auto& d) {
              d.actuators.push_back({"j", 1, {}});
              d.actuators[0].servo.stiffness = 3;
            }),
            scene);
}

std::string thrown(const Description<double>& robot) {
  try {
    write(robot);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(WriteUrdfDiagnostics, RejectsInvalidNumbersAndRotations) {
  Description<double> robot;
  robot.links = {{"a", InertialDescription<double>(), {}, {}}};
  robot.links[0].inertial->mass = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(thrown(robot), "write_urdf: link 'a' mass value is nan, expected a finite number");
  robot.links[0].inertial.reset();
  JointDescription<double> joint;
  joint.name = "j";
  joint.X_PJ.R(0, 0) = 2;
  robot.joints.push_back(joint);
  EXPECT_EQ(thrown(robot).substr(0, 31), "write_urdf: joint 'j' origin R ");
  robot.joints[0].X_PJ = {};
  robot.joints[0].X_PJ.p[1] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(thrown(robot),
            "write_urdf: joint 'j' origin xyz is [0, inf, 0], expected finite numbers");
}

}  // namespace
}  // namespace limb
