#include <gtest/gtest.h>

#include <filesystem>

#include "limb/base/error.hpp"
#include "limb/base/testing/temporary_folder.hpp"
#include "limb/base/text_file.hpp"
#include "limb/model/testing/mjcf_text.hpp"

namespace limb {
namespace {

namespace fs = std::filesystem;
using testing::body_with;
using testing::parse_text;

/// A folder that is removed after the test.
class Folder {
 public:
  Folder() { fs::create_directories(path_ / "robot/parts"); }
  fs::path write(const std::string& name, const std::string& text) const {
    write_text_file("test", path_ / name, text);
    return path_ / name;
  }
  const fs::path& path() const { return path_; }

 private:
  testing::TemporaryFolder temporary_;
  fs::path path_ = temporary_.path();
};

std::string message_of(const fs::path& path, const ReadOptions& options = {}) {
  try {
    read_mjcf(path, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(ReadMjcfErrors, EachMistakeHasItsTextAndLine) {
  const std::pair<std::string, std::string> cases[] = {
      {"<robot/>",
       "m.xml:1: error: the outermost element is <robot>, expected <mujoco> "
       "[root-element]"},
      {"<mujoco>\n<compiler angle='rad'/></mujoco>",
       "m.xml:2: error: <compiler>: attribute 'angle' is 'rad', expected 'radian' or 'degree' "
       "[keyword-unknown]"},
      {"<mujoco><compiler coordinate='global'/></mujoco>",
       "m.xml:1: error: <compiler>: attribute 'coordinate' is 'global', expected 'local' "
       "[coordinate-global]"},
      {"<mujoco><compiler eulerseq='xya'/></mujoco>",
       "m.xml:1: error: <compiler>: attribute 'eulerseq' is 'xya', expected three of the letters "
       "xyzXYZ [eulerseq]"},
      {"<mujoco><worldbdoy/></mujoco>",
       "m.xml:1: note: <mujoco>: unknown element 'worldbdoy' (closest: 'worldbody') "
       "[element-unknown]"},
      {body_with("<joint axsi='0 0 1'/>"),
       "m.xml:1: note: <joint>: unknown attribute 'axsi' (closest: 'axis') [attribute-unknown]"},
      {body_with("<joint name='j' axis='0 0'/>"),
       "m.xml:1: error: joint 'j': attribute 'axis' is '0 0', expected 3 finite numbers "
       "[attribute-not-a-number]"},
      {body_with("<geom size='nan'/>"),
       "m.xml:1: error: <geom>: attribute 'size' is 'nan', expected 1 to 3 finite numbers "
       "[attribute-not-a-number]"},
      {body_with("<geom size='1' mass='1e200'/>"),
       "m.xml:1: error: <geom>: attribute 'mass' is '1e200', expected numbers up to 1e+30 "
       "[number-too-large]"},
      {body_with("<geom type='box' size='1 2'/>"),
       "m.xml:1: error: <geom>: size is [1, 2, 0], expected 3 positive numbers [geom-size]"},
      {body_with("<geom size='1' mass='-2'/>"),
       "m.xml:1: error: <geom>: mass is -2, expected 0 or more [geom-mass-negative]"},
      {body_with("<geom type='capsule' size='1' fromto='1 2 3 1 2 3'/>"),
       "m.xml:1: error: <geom>: the two points of 'fromto' are the same [fromto-zero]"},
      {body_with("<geom size='1' euler='1 2 3' quat='1 0 0 0'/>"),
       "m.xml:1: error: <geom>: orientation by 'quat' and by 'euler' [orientation-twice]"},
      {body_with("<geom size='1' quat='0 0 0 0'/>"),
       "m.xml:1: error: <geom>: attribute 'quat' is '0 0 0 0', expected directions of length > 0 "
       "that are not parallel [orientation-zero]"},
      {body_with("<geom class='vsual' size='1'/>", "<default><default class='visual'/></default>"),
       "m.xml:1: error: <geom> names the default class 'vsual', no such class (closest: 'visual') "
       "[class-unknown]"},
      {body_with("<geom type='mesh' mesh='lnik' mass='0'/>",
                 "<asset><mesh file='a/link.stl'/></asset>"),
       "m.xml:1: error: <geom>: mesh 'lnik' is not in <asset> (closest: 'link') [mesh-unknown]"},
      {body_with("<geom type='mesh' mesh='link'/>", "<asset><mesh file='link.stl'/></asset>"),
       "m.xml:1: error: mesh 'link': file 'link.stl' was not found in the folder of the model or "
       "the "
       "given roots [mesh-mass-unknown]"},
      {body_with("<inertial mass='1'/>"),
       "m.xml:1: error: <inertial>: has no attribute 'pos' [attribute-missing]"},
      {body_with("<joint limited='true'/>"),
       "m.xml:1: error: <joint>: limited is 'true' and 'range' is missing [range-missing]"},
      {body_with("<joint range='0 1'/>", "<compiler autolimits='false'/>"),
       "m.xml:1: error: <joint>: 'range' is given, 'limited' is not, and autolimits is off "
       "[limited-missing]"},
      {body_with("<joint/><freejoint name='f'/>"),
       "m.xml:1: error: body 'b': free joint 'f' together with other joints "
       "[free-joint-not-alone]"},
      {body_with("<body name='c'><freejoint name='f'/></body>"),
       "m.xml:1: error: body 'c': free joint 'f' in a body that is not in <worldbody> itself "
       "[free-joint-nested]"},
      {body_with("<joint type='ball' stiffness='3'/>"),
       "m.xml:1: error: <joint>: a spring of a ball or free joint is not supported "
       "[spring-not-supported]"},
      {body_with("<joint stiffness='-3'/>"),
       "m.xml:1: error: <joint>: stiffness is -3, expected 0 or more [stiffness-negative]"},
      {body_with("<joint type='ball' springdamper='1 2'/>"),
       "m.xml:1: error: <joint>: 'springdamper' of a ball or free joint is not supported "
       "[spring-not-supported]"},
      {body_with("<joint name='j' springdamper='1 2'/>"),
       "m.xml:1: error: <joint>: 'springdamper' in a model with a singular mass matrix "
       "[spring-not-supported]"},
      {"<mujoco><asset><hfield name='h' nrow='2' ncol='2' size='1 1 1 1' elevation='1 2 "
       "3'/></asset><worldbody><geom type='hfield' hfield='h'/></worldbody></mujoco>",
       "m.xml:1: warning: <geom>: height field 'h' cannot be used: attribute 'elevation' has 3 "
       "finite numbers, expected 2 x 2 [height-field-not-read]"},
      {"<mujoco><asset><hfield name='h' file='h.png' size='1 1 1 1'/></asset><worldbody><geom "
       "type='hfield' hfield='h'/></worldbody></mujoco>",
       "m.xml:1: warning: <geom>: height field 'h' cannot be used: PNG files are not read "
       "[height-field-not-read]"},
      {"<mujoco><asset><hfield name='h' nrow='1e9' ncol='1e9' size='1 1 1 "
       "1'/></asset><worldbody><geom type='hfield' hfield='h'/></worldbody></mujoco>",
       "m.xml:1: warning: <geom>: height field 'h' cannot be used: 1000000000 x 1000000000 points, "
       "expected whole numbers, at most 4000000 points in all height fields "
       "[height-field-not-read]"},
      {"<mujoco><asset><hfield name='h' nrow='2' ncol='2' size='1 1 1 1'/></asset><worldbody><geom "
       "type='hfield' hfield='h' euler='0 0 3'/></worldbody></mujoco>",
       "m.xml:1: warning: a rotated height field is not read [height-field-not-read]"},
      {body_with("<geom type='hfield' hfield='h'/>",
                 "<asset><hfield name='h' nrow='2' ncol='2' size='1 1 1 1'/></asset>"),
       "m.xml:1: warning: a height field of a body is not read [height-field-not-read]"},
      {"<mujoco><worldbody><geom type='hfield' hfield='h'/></worldbody></mujoco>",
       "m.xml:1: error: <geom>: height field 'h' is not in <asset> [height-field-unknown]"},
      {body_with("<joint damping='1 2'/>"),
       "m.xml:1: error: <joint>: more than one number in 'damping' is not supported "
       "[polynomial-not-supported]"},
      {body_with("<geom size='1' contype='-1'/>"),
       "m.xml:1: error: <geom>: attribute 'contype' is -1, expected 0 to 2147483647 "
       "[contact-mask]"},
      {body_with("<geom size='1' friction='-1'/>"),
       "m.xml:1: error: <geom>: friction is -1, expected 0 or more [friction-negative]"},
      {body_with("<geom size='1' friction='1 0 -0.5'/>"),
       "m.xml:1: error: <geom>: friction is -0.5, expected 0 or more [friction-negative]"},
      {body_with("<joint type='ball' limited='true'/>"),
       "m.xml:1: error: <joint>: the range of a ball joint, 0, is not supported "
       "[range-not-supported]"},
      {body_with("<geom size='1' condim='2'/>"),
       "m.xml:1: error: <geom>: condim is 2, expected 1, 3, 4 or 6 [condim]"},
      {body_with("<geom size='1' priority='0.5'/>"),
       "m.xml:1: error: <geom>: priority is 0.5, expected an integer [priority]"},
      {body_with("<geom size='1' surfacevel='0.5 0 0'/>"),
       "m.xml:1: error: <geom>: attribute 'surfacevel' is not supported "
       "[surface-not-supported]"},
      {"<mujoco><contact><pair geom1='a' geom2='b' friction='0.3'/></contact></mujoco>",
       "m.xml:1: warning: <pair>: friction is [0.3, 1, 0.005, 0.0001, 0.0001]: two directions "
       "differ [friction-anisotropic]"},
      {body_with("<geom size='1' solref='0.01 1'/>"),
       "m.xml:1: warning: <geom>: attributes 'solref' and 'solimp' of geoms are not read "
       "[softness-not-read]"},
      {body_with("<composite type='cable'/>"),
       "m.xml:1: error: <composite> is not supported [element-not-supported]"},
      {body_with("<replicate count='2.5'/>"),
       "m.xml:1: error: <replicate>: attribute 'count' is '2.5', expected a whole number from 1 to "
       "100000 [replicate-count]"},
      {body_with("<replicate count='100000'><replicate count='100000'><site/></replicate>"
                 "</replicate>"),
       "m.xml:1: error: the model has more than 200000 elements with all copies "
       "[too-many-elements]"},
      {body_with("<attach model='arm'/>"),
       "m.xml:1: error: <attach>: has no attribute 'prefix' [attribute-missing]"},
      {body_with("<attach model='arm' prefix='a'/>"),
       "m.xml:1: error: <attach>: model 'arm' is not in <asset> [model-unknown]"},
      {body_with("<attach model='arm' prefix='a'/>", "<asset><model file='arm.xml'/></asset>"),
       "m.xml:1: error: <attach>: model 'arm.xml': no such file [model-not-found]"},
      {body_with("<joint name='j'/>", "<keyframe><key qpos='1 2'/></keyframe>"),
       "m.xml:1: error: <key>: attribute 'qpos' has 2 numbers, expected at most 1, one per "
       "coordinate of the joints [keyframe-size]"},
      {body_with("<joint/>", "<option timestep='0'/>"),
       "m.xml:1: error: <option>: timestep is 0, expected > 0 [timestep]"},
      {body_with("<joint/>", "<option cone='pyramidal'/>"),
       "m.xml:1: note: <option>: cone 'pyramidal' is not read [cone-not-read]"},
      {body_with("<joint/>", "<option integrator='RK4'/>"),
       "m.xml:1: note: <option>: integrator 'RK4' is not read [integrator-not-read]"},
      {body_with("<joint/>", "<option density='-1.2'/>"),
       "m.xml:1: error: <option>: density is -1.2, expected 0 or more [medium]"},
      {body_with("<geom size='1' fluidshape='ellipsoid'/>", "<option density='1.2'/>"),
       "m.xml:1: error: <geom>: fluidshape 'ellipsoid' is not supported [medium-not-supported]"},
      {body_with("<joint/>", "<contact><exclude body1='b' body2='c'/></contact>"),
       "m.xml:1: error: <exclude>: attribute 'body2' is 'c', no such body "
       "[reference-unknown]"},
      {body_with("<joint/>", "<deformable><flex/></deformable>"),
       "m.xml:1: error: <flex> is not supported [element-not-supported]"},
      {"<mujoco><worldbody><joint/></worldbody></mujoco>",
       "m.xml:1: error: <joint> is in <worldbody>, expected in a body [world-element]"},
      {"<mujoco><worldbody><body name='world'/></worldbody></mujoco>",
       "m.xml:1: error: body 'world': the name 'world' belongs to the world itself [name-world]"},
      {"<mujoco><equality><weld body1='hnad'/></equality><worldbody><body name='hand'/>"
       "</worldbody></mujoco>",
       "m.xml:1: error: <weld>: attribute 'body1' is 'hnad', no such body (closest: 'hand') "
       "[reference-unknown]"},
      {"<mujoco><worldbody><body><joint name='j'/><joint name='k'/></body></worldbody>"
       "<tendon><fixed name='a'><joint joint='j' coef='1'/></fixed><fixed name='b'>"
       "<joint joint='k' coef='1'/></fixed></tendon>"
       "<equality><tendon tendon1='a' tendon2='b' polycoef='0 1 2'/></equality></mujoco>",
       "m.xml:1: error: <tendon>: polycoef is [0, 1, 2]: only the first two numbers are "
       "supported [equality-not-supported]"},
      {"<mujoco><worldbody><body><joint name='j' type='ball'/></body><body><joint name='k'/></body>"
       "</worldbody><equality><joint joint1='k' joint2='j' polycoef='0 1 2'/></equality></mujoco>",
       "m.xml:1: error: <joint>: couples joints that are not hinge or slide "
       "[equality-not-supported]"},
      {"<mujoco><actuator><motor name='m' joint='x'/></actuator></mujoco>",
       "m.xml:1: error: motor 'm': attribute 'joint' is 'x', no such joint [reference-unknown]"},
      {"<mujoco><tendon><spatial range='0 1'/></tendon></mujoco>",
       "m.xml:1: error: <spatial>: spatial tendons with forces or limits are not supported "
       "[tendon-not-supported]"},
      {"<mujoco><tendon><spatial/></tendon></mujoco>",
       "m.xml:1: note: <spatial>: spatial tendons are not read [tendon-not-read]"},
      {"<mujoco><tendon><fixed frictionloss='1'/></tendon></mujoco>",
       "m.xml:1: error: <fixed>: 'frictionloss' and 'armature' of tendons are not supported "
       "[tendon-not-supported]"},
      {"<mujoco><worldbody><body><joint name='j'/></body></worldbody><actuator><muscle joint='j'/>"
       "</actuator></mujoco>",
       "m.xml:1: error: <muscle>: not supported: limb has no muscles "
       "[actuator-not-supported]"},
      {"<mujoco><worldbody><body><joint name='j'/></body></worldbody><actuator><position joint='j' "
       "timeconst='1'/></actuator></mujoco>",
       "m.xml:1: warning: <position>: the lag between control and force is not read "
       "[actuator-lag-not-read]"},
      {"<mujoco><worldbody><body><joint name='j'/></body></worldbody><actuator><intvelocity "
       "joint='j' actrange='-1 1'/></actuator></mujoco>",
       "m.xml:1: warning: <intvelocity>: the state between control and force is not read "
       "[actuator-state-not-read]"},
      {"<mujoco><worldbody><body><joint name='j' type='ball'/></body></worldbody><actuator>"
       "<motor joint='j'/></actuator></mujoco>",
       "m.xml:1: warning: <motor>: only the first number of 'gear' is read [gear-not-read]"},
      {"<mujoco><worldbody><body><joint name='j' type='ball'/></body></worldbody><actuator>"
       "<position joint='j' kp='2'/></actuator></mujoco>",
       "m.xml:1: error: <position>: not supported: it drives a ball or free joint "
       "[actuator-not-supported]"},
      {"<mujoco><worldbody><body name='b'/></worldbody><actuator><adhesion body='b' "
       "ctrlrange='0 1'/></actuator></mujoco>",
       "m.xml:1: warning: <adhesion>: not read: limb has no actuators of this kind "
       "[actuator-not-read]"},
      {"<mujoco><worldbody><body name='b'/></worldbody><actuator><adhesion body='b' "
       "ctrlrange='0.5 1'/></actuator></mujoco>",
       "m.xml:1: error: <adhesion>: not supported: limb has no actuators of this kind "
       "[actuator-not-supported]"},
      {"<mujoco><default><default class='a'/><default class='a'/></default></mujoco>",
       "m.xml:1: error: default class 'a' is defined twice [class-twice]"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(parse_text(text).first(), expected) << text;
}

TEST(ReadMjcfErrors, UnsupportedElementsAreIgnoredOnRequest) {
  const std::string text = body_with("<joint type='ball' limited='true' range='0 1'/>");
  Diagnostics refused, ignored;
  (void)parse_mjcf(text, "m.xml", {}, refused);
  ReadOptions options;
  options.unsupported = Unsupported::ignore;
  (void)parse_mjcf(text, "m.xml", options, ignored);
  EXPECT_TRUE(has_errors(refused));
  EXPECT_EQ(refused.front().fix, "to leave it out: --unsupported ignore");
  EXPECT_FALSE(has_errors(ignored));
  EXPECT_EQ(ignored.front().severity, Diagnostic::Severity::warning);
  EXPECT_EQ(ignored.front().rule, "range-not-supported");
}

TEST(ReadMjcfErrors, ActuatorsAndEqualitiesOfSpatialTendonsAreNotRead) {
  const std::string tendon = "<mujoco>\n<tendon><spatial name='t'/></tendon>\n";
  EXPECT_EQ(parse_text(tendon + "<actuator><motor tendon='t'/></actuator></mujoco>").rules(),
            "tendon-not-read:2 actuator-not-read:3");
  EXPECT_EQ(parse_text(tendon + "<equality><tendon tendon1='t'/></equality></mujoco>").rules(),
            "tendon-not-read:2 equality-not-supported:3");
}

TEST(ReadMjcfErrors, AMistakeInAClassIsReportedOnce) {
  const auto parsed = parse_text(
      body_with("<geom/><geom/><geom/>", "<default>\n<geom size='1' density='x'/></default>"));
  EXPECT_EQ(parsed.rules(), "attribute-not-a-number:2");
}

TEST(ReadMjcfErrors, ThrowsTheFirstErrorWithFileAndLine) {
  const Folder folder;
  const fs::path path = folder.write("robot/a.xml",
                                     "<mujoco>\n<worldbody>\n<joint/>\n"
                                     "</worldbody></mujoco>");
  EXPECT_EQ(message_of(path),
            "read_mjcf: " + path.string() + ":3: <joint> is in <worldbody>, expected in a body");
  EXPECT_EQ(message_of(folder.path() / "none.xml"),
            "read_mjcf: " + (folder.path() / "none.xml").string() + ": no such file");
  const fs::path broken = folder.write("robot/b.xml", "<mujoco>\n<a></mujoco>");
  EXPECT_EQ(message_of(broken),
            "read_mjcf: " + broken.string() +
                ":2: not well-formed XML: </mujoco> does not close <a> of line 2");
}

TEST(ReadMjcfErrors, AnAttachedModelMayBeEmpty) {
  const Folder folder;
  folder.write("robot/none.xml", "<mujoco/>");
  folder.write("robot/empty.xml", "<mujoco><worldbody/></mujoco>");
  for (const std::string file : {"none.xml", "empty.xml"}) {
    const std::string asset = "<asset><model name='m' file='" + file + "'/></asset>";
    const fs::path path =
        folder.write("robot/a.xml", body_with("<joint/><attach model='m' prefix='p'/>", asset));
    EXPECT_EQ(read_mjcf(path).links.size(), 1u) << file;
    folder.write("robot/a.xml",
                 body_with("<joint/><attach model='m' body='world' prefix='p'/>", asset));
    EXPECT_EQ(message_of(path), "read_mjcf: " + path.string() +
                                    ":1: <attach>: body is 'world', which is not supported");
  }
}

TEST(ReadMjcfErrors, AttachedBodiesWithOneNameDoNotMixUpTheirJoints) {
  const Folder folder;
  // The second b is in the part that is attached, the first one is not.
  folder.write("robot/inner.xml",
               "<mujoco><worldbody><body name='b'/><body name='x'/><body name='y'/>"
               "<body name='part'><body name='b'><body name='c'/></body></body></worldbody>"
               "</mujoco>");
  folder.write("robot/outer.xml",
               "<mujoco><asset><model name='m' file='inner.xml'/></asset><worldbody>"
               "<attach model='m' body='part' prefix='p'/></worldbody></mujoco>");
  for (const std::string body : {"pb", "pc"}) {
    const fs::path path =
        folder.write("robot/a.xml", body_with("<attach model='o' body='" + body + "' prefix='q'/>",
                                              "<asset><model name='o' file='outer.xml'/></asset>"));
    Diagnostics diagnostics;
    const auto robot = parse_mjcf(read_text_file("test", path), path.string(), {}, diagnostics);
    EXPECT_EQ(robot.joints.back().child, "qpc");
    EXPECT_EQ(robot.joints.back().parent, body == "pb" ? "qpb" : "b");
  }
}

TEST(ReadMjcfErrors, MistakesInIncludedFilesHaveTheirFileAndLine) {
  const Folder folder;
  folder.write("robot/parts/b.xml", "<x>\n\n<body name='c'><geom size='-1'/></body></x>");
  const fs::path path = folder.write(
      "robot/a.xml", "<mujoco><worldbody><include file='parts/b.xml'/></worldbody></mujoco>");
  EXPECT_EQ(message_of(path), "read_mjcf: " + (folder.path() / "robot/parts/b.xml").string() +
                                  ":3: <geom>: size is [-1], expected 1 positive number");
}

TEST(ReadMjcfErrors, IncludesStayInsideTheRootAndTerminate) {
  const Folder folder;
  folder.write("secret.xml", "<x><worldbody><body name='secret'/></worldbody></x>");
  folder.write("robot/loop.xml", "<x><include file='parts/loop.xml'/></x>");
  folder.write("robot/parts/loop.xml", "<x><include file='loop.xml'/></x>");
  fs::create_symlink(folder.path() / "secret.xml", folder.path() / "robot/link.xml");
  const auto include = [&](const std::string& file) {
    return message_of(
        folder.write("robot/a.xml", "<mujoco><include file='" + file + "'/></mujoco>"));
  };
  const std::string here = "read_mjcf: " + (folder.path() / "robot/a.xml").string() + ":1: ";
  for (const std::string& file : {std::string("../secret.xml"), std::string("link.xml"),
                                  (folder.path() / "secret.xml").string(),
                                  std::string("parts/../../secret.xml"), std::string("parts")}) {
    EXPECT_EQ(include(file), here + "include of '" + file + "': no such file");
  }
  EXPECT_EQ(include("a.xml"), here + "include of 'a.xml', which is already included");
  EXPECT_EQ(include("loop.xml"), "read_mjcf: " + (folder.path() / "robot/parts/loop.xml").string() +
                                     ":1: include of 'loop.xml', which is already included");
  EXPECT_EQ(include(""), here + "<include> has no attribute 'file'");
  // A root given by the caller opens its files, and only those.
  const fs::path path =
      folder.write("robot/a.xml", "<mujoco><include file='secret.xml'/></mujoco>");
  EXPECT_EQ(message_of(path, {{folder.path()}}), "no error");
  EXPECT_EQ(message_of(path, {{folder.path() / "robot"}}),
            here + "include of 'secret.xml': no such file");
}

TEST(ReadMjcfErrors, LongChainsOfIncludesTerminate) {
  const Folder folder;
  for (int i = 0; i < 40; ++i) {
    folder.write("robot/" + std::to_string(i) + ".xml",
                 "<mujoco><include file='" + std::to_string(i + 1) + ".xml'/></mujoco>");
  }
  EXPECT_EQ(message_of(folder.path() / "robot/0.xml"),
            "read_mjcf: " + (folder.path() / "robot/16.xml").string() +
                ":1: include of '17.xml' is nested more than 16 files deep");
}

TEST(ReadMjcfErrors, DepthIsLimitedAcrossIncludes) {
  const Folder folder;
  std::string open, close;
  for (int i = 0; i < 60; ++i) {
    open += "<body>";
    close += "</body>";
  }
  const auto include = [&](int i) { return "<include file='" + std::to_string(i) + ".xml'/>"; };
  for (int i = 0; i < 12; ++i) {
    folder.write("robot/" + std::to_string(i) + ".xml",
                 "<x>" + open + include(i + 1) + close + "</x>");
  }
  const auto path =
      folder.write("robot/a.xml", "<mujoco><worldbody>" + include(0) + "</worldbody></mujoco>");
  // 2 levels here and 60 per file: the ninth file reaches 500.
  EXPECT_EQ(message_of(path), "read_mjcf: " + (folder.path() / "robot/8.xml").string() +
                                  ":1: <body> is nested more than 500 levels deep");
}

TEST(ReadMjcfErrors, MaliciousTextsNeedLittleTimeAndMemory) {
  std::string classes, end;
  for (int i = 0; i < 80; ++i) {
    classes += "<default class='c" + std::to_string(i) + "'>";
    end += "</default>";
  }
  const auto deep = parse_text("<mujoco><default>" + classes + end + "</default></mujoco>");
  EXPECT_EQ(deep.first(),
            "m.xml:1: error: default class 'c63' is nested more than 64 classes deep "
            "[class-too-deep]");

  const std::string name(100000, 'n');
  std::string children;
  for (int i = 0; i < 10000; ++i) children += "<body/>";
  const auto long_name = parse_text("<mujoco><worldbody><body name='" + name + "'>" + children +
                                    "</body></worldbody></mujoco>");
  EXPECT_EQ(long_name.first(),
            "m.xml:1: error: the name of <body> has 100000 letters, expected at most 256 "
            "[name-too-long]");
  EXPECT_EQ(long_name.description.joints.back().parent.size(), 256u);

  std::string unknown;
  for (int i = 0; i < 100000; ++i) unknown += "<worldbdoy/>";
  EXPECT_LE(parse_text("<mujoco>" + unknown + "</mujoco>").diagnostics.size(), 1000u);
  std::string attributes;
  for (int i = 0; i < 900; ++i) attributes += " a" + std::to_string(i) + "=''";
  EXPECT_LE(parse_text("<mujoco" + attributes + "/>").diagnostics.size(), 201u);
}

// Numbers at the allowed limit, everywhere at once, still give finite results.
TEST(ReadMjcfErrors, LargestNumbersStayFinite) {
  const auto parsed = parse_text(
      "<mujoco><compiler balanceinertia='true' boundmass='1e30' angle='radian'/><worldbody>"
      "<body pos='1e30 1e30 1e30' quat='1e30 0 0 1e30'><joint axis='1e30 0 1e30' ref='1e30' "
      "pos='1e30 0 0'/><geom type='box' size='1e30 1e30 1e30' density='1e30' pos='-1e30 0 0'/>"
      "</body></worldbody></mujoco>");
  EXPECT_EQ(parsed.rules(), "");
  const auto& inertial = *parsed.description.links.at(0).inertial;
  EXPECT_TRUE(inertial.tensor.allFinite() && inertial.X_LI.p.allFinite());
  EXPECT_TRUE(parsed.description.joints.at(0).X_PJ.p.allFinite());
}

}  // namespace
}  // namespace limb
