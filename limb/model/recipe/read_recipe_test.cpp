#include "limb/model/recipe/read_recipe.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "limb/base/error.hpp"
#include "limb/base/testing/temporary_folder.hpp"
#include "limb/base/text_file.hpp"
#include "limb/math/inertia_solids.hpp"
#include "limb/model/recipe/read_recipe_impl.hpp"

namespace limb {
namespace {

Description<double> parse(const std::string& text) {
  Diagnostics diagnostics;
  auto d = parse_recipe<double>("name = \"robot\"\n" + text, "r.toml", {}, diagnostics);
  for (const auto& diagnostic : diagnostics) ADD_FAILURE() << diagnostic.text();
  return d;
}
/// A robot with one link, given by the lines of its table.
LinkDescription<double> link(const std::string& lines) {
  return parse("[[link]]\nname = \"a\"\n" + lines).links.at(0);
}
JointDescription<double> joint(const std::string& lines) {
  return parse("[[joint]]\nname = \"j\"\nparent = \"world\"\nchild = \"a\"\n" + lines).joints.at(0);
}

TEST(ReadRecipe, ParametersUnitsGravity) {
  const auto d = parse(R"(
gravity = [0, "-g", 0]
units = {length = "mm", angle = "deg"}
[parameters]
g = 9.81
l = 500
lc = "l/2"
[[link]]
name = "a"
mass = "3/2"
com = ["lc", 0, 0]
[[joint]]
name = "j"
type = "revolute"
parent = "world"
child = "a"
xyz = [0, 0, 1000]
rpy = [0, 0, 90]
axis = [0, 0, 1]
limits = {lower = -180, upper = 90, velocity = 360, effort = 5}
)");
  EXPECT_EQ(d.name, "robot");
  EXPECT_EQ(d.file, "r.toml");
  EXPECT_EQ(d.gravity, Vector3<double>(0, -9.81, 0));
  EXPECT_EQ(d.links[0].inertial->mass, 1.5);
  EXPECT_EQ(d.links[0].inertial->X_LI.p, Vector3<double>(0.25, 0, 0));
  EXPECT_EQ(d.joints[0].X_PJ.p, Vector3<double>(0, 0, 1));
  Matrix3<double> quarter;
  quarter << 0, -1, 0, 1, 0, 0, 0, 0, 1;
  EXPECT_EQ(d.joints[0].X_PJ.R, quarter);  // quarter turns are exact
  const auto& limits = d.joints[0].limits.at(0);
  EXPECT_EQ(limits.lower, -std::numbers::pi);
  EXPECT_EQ(limits.upper, std::numbers::pi / 2);
  EXPECT_EQ(limits.velocity, 2 * std::numbers::pi);
  EXPECT_EQ(limits.effort, 5);
  EXPECT_EQ(d.links[0].source.text(), "r.toml:9");
  EXPECT_EQ(d.joints[0].source.text(), "r.toml:13");
}

TEST(ReadRecipe, DefaultGravityIsDown) {
  EXPECT_EQ(parse("[[link]]\nname = \"a\"\n").gravity, Vector3<double>(0, 0, -9.81));
}

TEST(ReadRecipe, ParametersCanBeOverridden) {
  Diagnostics diagnostics;
  const std::string text =
      "name = \"r\"\n[parameters]\nm = 1\nn = \"2*m\"\n[[link]]\nname = \"a\"\nmass = \"n\"\n";
  const auto d = parse_recipe<double>(
      text, "", {}, diagnostics,
      [](const std::string& name, const double& value) { return name == "m" ? 5.0 : value; });
  EXPECT_TRUE(diagnostics.empty());
  EXPECT_EQ(d.links[0].inertial->mass, 10);
}

TEST(ReadRecipe, RotationsInFourForms) {
  const std::string fixed = "type = \"fixed\"\n";
  const auto rpy = joint(fixed + "rpy = [0.1, 0.2, 0.3]\n").X_PJ.R;
  EXPECT_LT((rpy - rpy_to_matrix(0.1, 0.2, 0.3)).norm(), 1e-15);
  const auto quat = joint(fixed + "quat = [0, 0, \"sqrt(2)/2\", \"sqrt(1/2)\"]\n").X_PJ.R;
  EXPECT_LT((quat - axis_rotation(2, std::numbers::pi / 2)).norm(), 1e-15);
  const auto turned = joint(fixed + "axis_angle = {axis = [0.6, 0.8, 0], angle = 0.5}\n").X_PJ.R;
  EXPECT_LT((turned - so3::exp<double>(Vector3<double>(0.3, 0.4, 0))).norm(), 1e-15);
  const auto rows = joint(fixed + "matrix = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]\n").X_PJ.R;
  EXPECT_LT((rows - axis_rotation(2, std::numbers::pi / 2)).norm(), 1e-15);
}

TEST(ReadRecipe, EveryJointTypeWithLimits) {
  for (const JointType type : kJointTypes) {
    SCOPED_TRACE(to_text(type));
    std::string text = fmt::format("type = \"{}\"\n", to_text(type));
    using enum JointType;
    const bool axis = type != fixed && type != translation && type != spherical && type != free;
    if (axis) text += "axis = [0, 0, 1]\n";
    if (type == universal) text += "axis2 = [1, 0, 0]\n";
    if (type == helical) text += "pitch = 0.01\n";
    if (joint_nv(type) > 0) {
      text += "limits = [";
      for (int i = 0; i < joint_nv(type); ++i) text += fmt::format("{{lower = {}}}, ", -i);
      text += "]\n";
    }
    const auto j = joint(text);
    EXPECT_EQ(j.type, type);
    ASSERT_EQ(j.limits.size(), static_cast<std::size_t>(joint_nv(type)));
    if (joint_nv(type) > 1) {
      EXPECT_EQ(j.limits[1].lower, -1);
    }
    if (axis) {
      EXPECT_EQ(j.axis, Vector3<double>::UnitZ());
    }
    if (type == universal) {
      EXPECT_EQ(j.axis2, Vector3<double>::UnitX());
    }
    if (type == helical) {
      EXPECT_EQ(j.pitch, 0.01);
    }
  }
}

TEST(ReadRecipe, DriveOfAJoint) {
  const auto j = joint(
      "type = \"continuous\"\naxis = [0, 1, 0]\ndamping = 0.1\nfriction = 0.2\n"
      "rotor = {inertia = 1e-5, gear_ratio = 100}\n"
      "child_placement = {xyz = [1, 2, 3]}\n");
  EXPECT_EQ(j.damping, 0.1);
  EXPECT_EQ(j.friction, 0.2);
  EXPECT_NEAR(j.armature, 0.1, 1e-16);
  EXPECT_EQ(j.X_JC.p, Vector3<double>(1, 2, 3));
  EXPECT_EQ(joint("type = \"continuous\"\naxis = [0, 1, 0]\narmature = 0.3\n").armature, 0.3);
}

TEST(ReadRecipe, TheKeySelectsTheSignOfTheProducts) {
  const std::string six = "{xx = 3, yy = 4, zz = 5, xy = 0.1, xz = 0.2, yz = 0.3}\n";
  const auto entries = link("mass = 1\ninertia_entries = " + six).inertial->tensor;
  const auto products = link("mass = 1\ninertia_products = " + six).inertial->tensor;
  EXPECT_EQ(entries(0, 1), 0.1);
  EXPECT_EQ(products(0, 1), -0.1);
  EXPECT_EQ(entries(1, 2), -products(2, 1));
  EXPECT_EQ(entries.diagonal(), Vector3<double>(3, 4, 5));
  const auto turned = link(
      "mass = 1\ncom = [1, 0, 0]\ninertia = [1, 2, 3]\n"
      "inertia_axes = {rpy = [0, 0, \"pi/2\"]}\n");
  EXPECT_EQ(turned.inertial->X_LI.p, Vector3<double>::UnitX());
  const auto I = turned.inertial->inertia().tensor_about_com();
  EXPECT_LT((I.diagonal() - Vector3<double>(2, 1, 3)).norm(), 1e-15);
}

// Each shape compared with the inertia function of the same name, at the same pose.
TEST(ReadRecipe, Solids) {
  const Vector3<double> size(0.1, 0.2, 0.3);
  const Pose<double> X{axis_rotation(0, 0.4), Vector3<double>(1, 2, 3)};
  const std::pair<std::string, Inertia<double>> cases[] = {
      {"shape = \"box\", mass = 2, size = [0.1, 0.2, 0.3]", box_inertia(Mass{2.0}, size)},
      {"shape = \"box\", density = 2, size = [0.1, 0.2, 0.3]", box_inertia(Density{2.0}, size)},
      {"shape = \"cylinder\", mass = 2, radius = 0.1, length = 0.5",
       cylinder_inertia(Mass{2.0}, 0.1, 0.5)},
      {"shape = \"tube\", mass = 2, inner_radius = 0.1, outer_radius = 0.2, length = 0.5",
       hollow_cylinder_inertia(Mass{2.0}, 0.1, 0.2, 0.5)},
      {"shape = \"sphere\", density = 2, radius = 0.1", sphere_inertia(Density{2.0}, 0.1)},
      {"shape = \"hollow_sphere\", mass = 2, inner_radius = 0.1, outer_radius = 0.2",
       hollow_sphere_inertia(Mass{2.0}, 0.1, 0.2)},
      {"shape = \"shell\", mass = 2, radius = 0.1", spherical_shell_inertia(Mass{2.0}, 0.1)},
      {"shape = \"capsule\", mass = 2, radius = 0.1, length = 0.5",
       capsule_inertia(Mass{2.0}, 0.1, 0.5)},
      {"shape = \"ellipsoid\", mass = 2, half_axes = [0.1, 0.2, 0.3]",
       ellipsoid_inertia(Mass{2.0}, size)},
      {"shape = \"cone\", mass = 2, radius = 0.1, height = 0.5", cone_inertia(Mass{2.0}, 0.1, 0.5)},
      {"shape = \"point\", mass = 2", Inertia<double>::point_mass(2, Vector3<double>::Zero())},
  };
  for (const auto& [text, expected] : cases) {
    SCOPED_TRACE(text);
    const std::string placed = "{" + text + ", xyz = [1, 2, 3], rpy = [0.4, 0, 0]}";
    const Matrix6<double> I = expected.transformed(X).matrix();
    // A few products of numbers up to 30.
    EXPECT_LT((link("solid = " + placed + "\n").inertial->inertia().matrix() - I).norm(), 1e-14);
    const auto two = link("solids = [" + placed + ", " + placed + "]\n").inertial->inertia();
    EXPECT_LT((two.matrix() - 2 * I).norm(), 1e-13);
  }
  const auto drawn = link(
      "solid = {shape = \"tube\", mass = 2, inner_radius = 0.1, "
      "outer_radius = 0.2, length = 0.5, xyz = [1, 0, 0]}\n");
  ASSERT_EQ(drawn.geometry.size(), 1u);
  EXPECT_EQ(drawn.geometry[0].shape, Geometry::Shape::cylinder);
  EXPECT_EQ(drawn.geometry[0].size, Vector3<double>(0.2, 0.5, 0));
  EXPECT_EQ(drawn.geometry[0].X_LG.p, Vector3<double>::UnitX());
}

TEST(ReadRecipe, CouplingsLoopsFramesActuators) {
  const auto d = parse(R"(
[[link]]
name = "a"
[[coupling]]
joint = "j1"
mimic = "j2"
ratio = -2
offset = 0.5
[[coupling]]
joint = "knee"
belt = "motor"
over = ["hip"]
[[coupling]]
differential = ["pitch", "roll"]
motors = ["m1", "m2"]
[[coupling]]
joint = "j3"
terms = [{joint = "j1", ratio = "1/3"}, {joint = "j2"}]
[[loop]]
name = "rod"
kind = "weld"
link_a = "a"
link_b = "b"
in_a = {xyz = [1, 0, 0]}
in_b = {xyz = [0, 1, 0]}
[[frame]]
name = "f"
link = "a"
xyz = [0, 0, 1]
[[actuator]]
joint = "j1"
gear = "100/3"
)");
  ASSERT_EQ(d.couplings.size(), 5u);
  const auto expect = [&](std::size_t i, const char* name, const char* a, double ra, const char* b,
                          double rb) {
    const auto& c = d.couplings[i];
    EXPECT_EQ(c.joint, name);
    EXPECT_EQ(c.terms.at(0).joint, a);
    EXPECT_EQ(c.terms.at(0).ratio, ra);
    EXPECT_EQ(c.terms.at(1).joint, b);
    EXPECT_EQ(c.terms.at(1).ratio, rb);
  };
  EXPECT_EQ(d.couplings[0].terms.size(), 1u);
  EXPECT_EQ(d.couplings[0].terms[0].ratio, -2);
  EXPECT_EQ(d.couplings[0].offset, 0.5);
  expect(1, "knee", "motor", 1, "hip", -1);
  expect(2, "pitch", "m1", 0.5, "m2", 0.5);
  expect(3, "roll", "m1", 0.5, "m2", -0.5);
  expect(4, "j3", "j1", 1.0 / 3, "j2", 1);
  EXPECT_EQ(d.loops.at(0).kind, LoopDescription<double>::Kind::weld);
  EXPECT_EQ(d.loops[0].X_BL.p, Vector3<double>::UnitY());
  EXPECT_EQ(d.frames.at(0).X_LF.p, Vector3<double>::UnitZ());
  EXPECT_EQ(d.actuators.at(0).gear, 100.0 / 3);
}

// The reader is a template: float as an example of a scalar that is not instantiated in limb.
TEST(ReadRecipe, OtherScalars) {
  Diagnostics diagnostics;
  const auto d = parse_recipe<float>(
      "name = \"r\"\n[[standard_dh]]\ntype = \"revolute\"\na = \"1/3\"\nalpha = \"pi/2\"\n", "", {},
      diagnostics);
  EXPECT_TRUE(diagnostics.empty());
  EXPECT_EQ(d.joints[0].X_JC.p[0], 1.0f / 3.0f);
  EXPECT_EQ(d.joints[0].X_JC.R(1, 1), 0.0f);
}

TEST(ReadRecipe, ErrorsNameTheFile) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("robot.toml");
  write_text_file("test", path, "name = \"r\"\n[[link]]\nname = \"a\"\nmas = 1\n");
  try {
    read_recipe(path);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "read_recipe: " + path + ":4: link 'a': unknown key 'mas' (closest: 'mass')");
  }
}

// Quadratic code would take minutes.
TEST(ReadRecipe, ReadsTenThousandLinks) {
  std::string text;
  for (int i = 0; i < 10000; ++i) {
    text += fmt::format(
        "[[link]]\nname = \"l{0}\"\nmass = 1.5\ncom = [0, 0, \"1/{1}\"]\n"
        "[[joint]]\nname = \"j{0}\"\ntype = \"revolute\"\nparent = \"{2}\"\n"
        "child = \"l{0}\"\nxyz = [0, 0, 0.1]\naxis = [0, 1, 0]\n",
        i, i + 1, i == 0 ? "world" : fmt::format("l{}", i - 1));
  }
  const auto d = parse(text);
  EXPECT_EQ(d.joints.size(), 10000u);
}

}  // namespace
}  // namespace limb
