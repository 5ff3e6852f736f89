#include "limb/model/recipe/write_recipe.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "limb/base/error.hpp"
#include "limb/math/testing/random.hpp"
#include "limb/model/core/builtin.hpp"
#include "limb/model/recipe/read_recipe.hpp"

namespace limb {
namespace {

Description<double> reread(const Description<double>& d) {
  Diagnostics diagnostics;
  auto result = parse_recipe<double>(write_recipe(d), d.file, {}, diagnostics);
  for (const auto& diagnostic : diagnostics) {
    // The mesh of random_robot() is a name without a file.
    if (diagnostic.rule != "mesh-not-found") ADD_FAILURE() << diagnostic.text();
  }
  return result;
}

void expect_same(const Pose<double>& a, const Pose<double>& b) {
  EXPECT_EQ(a.R, b.R);
  EXPECT_EQ(a.p, b.p);
}

/// Every number bit for bit: decimals are written so that they read back as themselves.
void expect_same(const Description<double>& a, const Description<double>& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.gravity, b.gravity);
  ASSERT_EQ(a.links.size(), b.links.size());
  for (std::size_t i = 0; i < a.links.size(); ++i) {
    const auto &x = a.links[i], &y = b.links[i];
    EXPECT_EQ(x.name, y.name);
    ASSERT_EQ(x.inertial.has_value(), y.inertial.has_value());
    if (x.inertial) {
      EXPECT_EQ(x.inertial->mass, y.inertial->mass);
      EXPECT_EQ(x.inertial->tensor, y.inertial->tensor);
      expect_same(x.inertial->X_LI, y.inertial->X_LI);
    }
    ASSERT_EQ(x.geometry.size(), y.geometry.size());
    for (std::size_t k = 0; k < x.geometry.size(); ++k) {
      EXPECT_EQ(x.geometry[k].shape, y.geometry[k].shape);
      EXPECT_EQ(x.geometry[k].role, y.geometry[k].role);
      EXPECT_EQ(x.geometry[k].size, y.geometry[k].size);
      EXPECT_EQ(x.geometry[k].mesh_uri, y.geometry[k].mesh_uri);
      EXPECT_EQ(x.geometry[k].mesh_scale, y.geometry[k].mesh_scale);
      expect_same(x.geometry[k].X_LG, y.geometry[k].X_LG);
    }
  }
  ASSERT_EQ(a.joints.size(), b.joints.size());
  for (std::size_t i = 0; i < a.joints.size(); ++i) {
    const auto &x = a.joints[i], &y = b.joints[i];
    SCOPED_TRACE(x.name);
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.type, y.type);
    EXPECT_EQ(x.parent, y.parent);
    EXPECT_EQ(x.child, y.child);
    expect_same(x.X_PJ, y.X_PJ);
    expect_same(x.X_JC, y.X_JC);
    using enum JointType;
    const JointType t = x.type;
    if (t != fixed && t != translation && t != spherical && t != free) {
      EXPECT_EQ(x.axis, y.axis);
    }
    if (t == universal) {
      EXPECT_EQ(x.axis2, y.axis2);
    }
    if (t == helical) {
      EXPECT_EQ(x.pitch, y.pitch);
    }
    EXPECT_EQ(x.damping, y.damping);
    EXPECT_EQ(x.friction, y.friction);
    EXPECT_EQ(x.armature, y.armature);
    ASSERT_EQ(x.limits.size(), y.limits.size());
    for (std::size_t k = 0; k < x.limits.size(); ++k) {
      EXPECT_EQ(x.limits[k].lower, y.limits[k].lower);
      EXPECT_EQ(x.limits[k].upper, y.limits[k].upper);
      EXPECT_EQ(x.limits[k].velocity, y.limits[k].velocity);
      EXPECT_EQ(x.limits[k].effort, y.limits[k].effort);
    }
  }
  ASSERT_EQ(a.frames.size(), b.frames.size());
  for (std::size_t i = 0; i < a.frames.size(); ++i) {
    EXPECT_EQ(a.frames[i].name, b.frames[i].name);
    EXPECT_EQ(a.frames[i].link, b.frames[i].link);
    expect_same(a.frames[i].X_LF, b.frames[i].X_LF);
  }
  ASSERT_EQ(a.couplings.size(), b.couplings.size());
  for (std::size_t i = 0; i < a.couplings.size(); ++i) {
    EXPECT_EQ(a.couplings[i].joint, b.couplings[i].joint);
    EXPECT_EQ(a.couplings[i].offset, b.couplings[i].offset);
    EXPECT_EQ(a.couplings[i].powers, b.couplings[i].powers);
    ASSERT_EQ(a.couplings[i].terms.size(), b.couplings[i].terms.size());
    for (std::size_t k = 0; k < a.couplings[i].terms.size(); ++k) {
      EXPECT_EQ(a.couplings[i].terms[k].joint, b.couplings[i].terms[k].joint);
      EXPECT_EQ(a.couplings[i].terms[k].ratio, b.couplings[i].terms[k].ratio);
    }
  }
  ASSERT_EQ(a.loops.size(), b.loops.size());
  for (std::size_t i = 0; i < a.loops.size(); ++i) {
    EXPECT_EQ(a.loops[i].name, b.loops[i].name);
    EXPECT_EQ(a.loops[i].kind, b.loops[i].kind);
    EXPECT_EQ(a.loops[i].link_a, b.loops[i].link_a);
    EXPECT_EQ(a.loops[i].link_b, b.loops[i].link_b);
    expect_same(a.loops[i].X_AL, b.loops[i].X_AL);
    expect_same(a.loops[i].X_BL, b.loops[i].X_BL);
  }
  ASSERT_EQ(a.actuators.size(), b.actuators.size());
  for (std::size_t i = 0; i < a.actuators.size(); ++i) {
    EXPECT_EQ(a.actuators[i].joint, b.actuators[i].joint);
    EXPECT_EQ(a.actuators[i].gear, b.actuators[i].gear);
  }
}

/// A robot with one of everything, all numbers random.
Description<double> random_robot(unsigned seed) {
  testing::Random random(seed);
  Description<double> d;
  d.name = "all \"joints\"\n\\";
  d.gravity = random.vector<double>(10);
  std::string parent = kWorldLink;
  for (const JointType type : kJointTypes) {
    JointDescription<double> j;
    j.name = fmt::format("joint of {}", to_text(type));
    j.type = type;
    j.parent = parent;
    j.child = parent = fmt::format("link.{}", to_text(type));
    j.X_PJ = random.pose<double>();
    j.X_JC = random.pose<double>();
    j.axis = random.direction<double>();
    j.axis2 = random.direction<double>();
    j.pitch = random.uniform(-1, 1);
    for (int i = 0; i < joint_nv(type); ++i) {
      DofLimits<double> limits;
      limits.lower = random.uniform(-3, 0);
      if (i % 2 == 0) limits.upper = random.uniform(0, 3);
      if (i % 3 == 0) limits.velocity = random.uniform(0, 1e-8);
      if (i % 2 == 1) limits.effort = random.uniform(0, 1e18);
      j.limits.push_back(limits);
    }
    j.damping = random.uniform(0, 1);
    j.friction = random.uniform(0, 1);
    j.armature = random.uniform(0, 1);
    d.joints.push_back(j);
    LinkDescription<double> link;
    link.name = j.child;
    InertialDescription<double> inertial;
    inertial.mass = random.uniform(0.1, 5);
    inertial.X_LI = random.pose<double>();
    inertial.tensor = unit_point_tensor<double>(random.vector<double>());
    link.inertial = inertial;
    d.links.push_back(link);
  }
  const auto shapes = {Geometry::Shape::box,       Geometry::Shape::cylinder,
                       Geometry::Shape::sphere,    Geometry::Shape::capsule,
                       Geometry::Shape::ellipsoid, Geometry::Shape::plane,
                       Geometry::Shape::mesh};
  for (const Geometry::Shape shape : shapes) {
    Geometry g;
    g.shape = shape;
    g.role = shape == Geometry::Shape::box ? Geometry::Role::collision : Geometry::Role::visual;
    g.X_LG = random.pose<double>();
    if (shape == Geometry::Shape::mesh) {
      g.mesh_uri = "package://a/b.stl";
      g.mesh_scale = random.vector<double>();
    } else {
      g.size = random.vector<double>();
    }
    d.links[0].geometry.push_back(g);
  }
  d.links[1].inertial.reset();
  d.frames.push_back({"tool", d.links[2].name, random.pose<double>(), {}});
  d.couplings.push_back({"a", {{"b", random.uniform(-1, 1)}, {"c", -1}}, 0.25, {}});
  d.couplings.push_back({"c", {{"b", 0.5}}, 0, {}, {random.uniform(-1, 1), 0, -3}});
  LoopDescription<double> loop;
  loop.name = "rod";
  loop.kind = LoopDescription<double>::Kind::weld;
  loop.link_a = "x";
  loop.link_b = "y";
  loop.X_AL = random.pose<double>();
  d.loops.push_back(loop);
  d.actuators.push_back({"a", random.uniform(1, 100), {}});
  return d;
}

TEST(WriteRecipe, EveryJointTypeRoundTripsBitForBit) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const auto d = random_robot(seed);
    expect_same(d, reread(d));
  }
}

TEST(WriteRecipe, BuiltinRobotsRoundTripBitForBit) {
  for (const std::string& name : builtin_names()) {
    SCOPED_TRACE(name);
    const auto d = read_builtin(name);
    const auto back = reread(d);
    expect_same(d, back);
    EXPECT_EQ(write_recipe(d), write_recipe(back));
  }
}

TEST(WriteRecipe, TextIsShortAndStable) {
  EXPECT_EQ(write_recipe(read_builtin("pendulum")), R"(name = "pendulum"
gravity = [0, -9.81, 0]

[[link]]
name = "rod"
mass = 1.2
com = [0, -0.35, 0]

[[joint]]
name = "pivot"
type = "continuous"
parent = "world"
child = "rod"
axis = [0, 0, 1]

[[frame]]
name = "tip"
link = "rod"
xyz = [0, -0.35, 0]
)");
}

TEST(WriteRecipe, RejectsNonFiniteNumbers) {
  auto d = read_builtin("pendulum");
  d.links[0].inertial->mass = std::numeric_limits<double>::quiet_NaN();
  try {
    write_recipe(d);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "write_recipe: description is nan, expected a finite number");
  }
}

}  // namespace
}  // namespace limb
