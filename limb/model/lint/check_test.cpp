#include "limb/model/lint/check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <limits>
#include <numbers>

#include "limb/math/inertia_solids.hpp"
#include "limb/math/testing/random.hpp"
#include "limb/model/core/link_tree.hpp"
#include "limb/model/lint/link_size.hpp"

namespace limb {
namespace {

using Severity = Diagnostic::Severity;
using Texts = std::vector<std::string>;

/// A link with a solid box and the inertia of that box.
LinkDescription<double> box_link(const std::string& name, double mass, const Pose<double>& X_LG,
                                 const Vector3<double>& size) {
  LinkDescription<double> link;
  link.name = name;
  Geometry g;
  g.shape = Geometry::Shape::box;
  g.size = size;
  g.X_LG = X_LG;
  link.geometry.push_back(g);
  InertialDescription<double> inertial;
  inertial.mass = mass;
  inertial.X_LI.p = X_LG.p;
  const Matrix3<double> I = box_inertia(Mass{mass}, size).tensor();
  inertial.tensor = rotate_tensor<double>(X_LG.R, I);
  link.inertial = inertial;
  return link;
}

JointDescription<double> hinge(const std::string& name, const std::string& parent,
                               const std::string& child) {
  JointDescription<double> joint;
  joint.name = name;
  joint.type = JointType::revolute;
  joint.parent = parent;
  joint.child = child;
  joint.X_PJ.p = {0.4, 0, 0};
  joint.axis = Vector3<double>::UnitZ();
  DofLimits<double> limits;
  limits.lower = -1;
  limits.upper = 1;
  joint.limits = {limits};
  return joint;
}

Pose<double> at(double x, double y, double z) {
  return {Matrix3<double>::Identity(), {x, y, z}};
}

Description<double> arm() {
  Description<double> robot;
  const Vector3<double> size(0.4, 0.1, 0.08);
  robot.links = {box_link("base", 3, at(0.2, 0, 0), size), box_link("arm", 2, at(0.2, 0, 0), size)};
  robot.joints = {hinge("turn", "base", "arm")};
  return robot;
}

Texts rules(const Description<double>& robot) {
  Texts all;
  for (const auto& finding : find_values(robot)) all.push_back(finding.diagnostic.rule);
  return all;
}

TEST(Check, AConsistentRobotHasNoFindings) {
  EXPECT_EQ(rules(arm()), Texts{});
}

// A solid box of any pose and proportions gives no finding. Seed 20.
TEST(Check, SolidsGiveNoFalsePositives) {
  testing::Random random(20);
  for (int i = 0; i < 2000; ++i) {
    auto robot = arm();
    const auto size = [&] { return std::exp(random.uniform(std::log(0.02), std::log(1.0))); };
    const Vector3<double> edges(size(), size(), size());
    const Pose<double> X_LG{random.rotation<double>(), random.vector<double>(0.5)};
    robot.links[1] = box_link("arm", edges.prod() * random.uniform(300, 8000), X_LG, edges);
    EXPECT_EQ(rules(robot), Texts{}) << "trial " << i;
  }
}

// The tensor of a slender link about its origin is found and corrected to the original.
TEST(Check, FindsTensorsAboutTheOrigin) {
  testing::Random random(21);
  for (int i = 0; i < 500; ++i) {
    auto robot = arm();
    const double length = random.uniform(0.1, 1);
    const Vector3<double> size(length, length * random.uniform(0.05, 0.2),
                               length * random.uniform(0.05, 0.2));
    robot.links[1] = box_link("arm", size.prod() * 2000, at(length / 2, 0, 0), size);
    const Matrix3<double> right = robot.links[1].inertial->tensor;
    auto& inertial = *robot.links[1].inertial;
    inertial.tensor = parallel_axis_from_com<double>(right, inertial.mass, inertial.X_LI.p);
    const LintFindings found = find_values(robot);
    ASSERT_EQ(found.size(), 1u) << "trial " << i;
    EXPECT_EQ(found[0].diagnostic.rule, "inertia-wrong-point");
    ASSERT_EQ(found[0].edits.size(), 1u);
    // Edits are written with 14 digits.
    EXPECT_LT((tensor_from(found[0].edits[0].after) - right).norm(), 1e-12 * right.norm());
  }
}

TEST(Check, FindsUnitsOfEveryKind) {
  for (const double factor : {1e3, 1e6, 1e9, 1e4, 1e7}) {
    auto robot = arm();
    const Matrix3<double> right = robot.links[1].inertial->tensor;
    robot.links[1].inertial->tensor *= factor;
    const LintFindings found = find_values(robot);
    ASSERT_EQ(found.size(), 1u) << factor;
    EXPECT_EQ(found[0].diagnostic.rule, "inertia-units");
    EXPECT_EQ(found[0].diagnostic.severity, Severity::error);
    ASSERT_EQ(found[0].edits.size(), 1u);
    EXPECT_LT((tensor_from(found[0].edits[0].after) - right).norm(), 1e-12 * right.norm());
  }
}

// Moments about the mass centre of a body in a box are at most those of masses at both ends:
// int(x^2) dm <= m (hi - c) (c - lo) [Bhatia 2000]. Above 1.15 of that the tensor is about another
// point, if it fits the box (0.75 of the bound) about the mass centre.
TEST(Check, MomentsAboveTheBoundOfTheBoxAreAboutAnotherPoint) {
  const double m = 2, L = 0.4;
  for (const double centre : {0.2, 0.12}) {
    const double bound = m * (L - centre) * centre, shift = m * centre * centre;
    for (const double share : {0.9, 1.1, 1.14, 1.16, 1.3, 1.7}) {
      auto robot = arm();
      robot.links[1] = box_link("arm", m, at(L / 2, 0, 0), {L, 0.1, 0.08});
      auto& inertial = *robot.links[1].inertial;
      inertial.X_LI.p.x() = centre;
      // Second moments along x, y, z; those of the box across.
      const double x = share * bound, y = m * 0.01 / 12, z = m * 0.0064 / 12;
      inertial.tensor = Vector3<double>(y + z, x + z, x + y).asDiagonal();
      const double about_centre = x - shift;
      const bool fits = about_centre > 0 && about_centre <= 0.75 * bound;
      const bool expected = share > 1.15 && fits;
      const LintFindings found = find_values(robot);
      ASSERT_EQ(found.size(), expected ? 1u : 0u) << centre << " " << share;
      if (!expected) continue;
      EXPECT_EQ(found[0].diagnostic.rule, "inertia-wrong-point");
      const Matrix3<double> moved = tensor_from(found[0].edits.at(0).after);
      const Vector3<double> right(y + z, about_centre + z, about_centre + y);
      EXPECT_LT((moved.diagonal() - right).norm(), 1e-12 * x);
    }
  }
}

// tr(S) / (m r^2) with the half diagonal r: 1/3 for a solid box. Above 10 it is reported; below
// 1e-4 if a unit explains it in most links.
TEST(Check, RadiusOfGyrationIsComparedWithTheHalfDiagonal) {
  for (const auto& [factor, expected] : {std::pair{29.0, Texts{}},
                                         {31.0, Texts{"inertia-implausible"}},
                                         {3.1e-4, Texts{}},
                                         {2.9e-4, Texts{"inertia-units", "inertia-units"}}}) {
    auto robot = arm();
    robot.links[1].inertial->tensor *= factor;
    if (factor < 1) robot.links[0].inertial->tensor *= factor;
    EXPECT_EQ(rules(robot), expected) << factor;
  }
}

// A single small tensor may be that of a heavy core, and is often a placeholder.
TEST(Check, SmallTensorsAreReportedIfMostLinksHaveThem) {
  auto robot = arm();
  const Matrix3<double> right = robot.links[1].inertial->tensor;
  robot.links[1].inertial->tensor /= 1e6;
  EXPECT_EQ(rules(robot), Texts{});
  robot.links[0].inertial->tensor /= 1e6;
  const LintFindings found = find_values(robot);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].diagnostic.severity, Severity::warning);
  EXPECT_LT((tensor_from(found[1].edits.at(0).after) - right).norm(), 1e-12 * right.norm());
}

// A large tensor has another unit only with two signs: the mass fits the shapes, or most links
// agree.
TEST(Check, MarkersAndPlaceholdersHaveNoUnit) {
  const auto with = [](const Vector3<double>& size, double mass, const Matrix3<double>& tensor) {
    auto robot = arm();
    robot.links[1] = box_link("arm", 2, at(0.2, 0, 0), size);
    robot.links[1].inertial->mass = mass;
    robot.links[1].inertial->tensor = tensor;
    return robot;
  };
  const Vector3<double> moments(1e-4, 1.1e-4, 1.2e-4);
  // A cube of 1 mm marks where a sensor is; the tensor fits the robot.
  EXPECT_EQ(rules(with({1e-3, 1e-3, 1e-3}, 0.001, moments.asDiagonal())), Texts{});
  // 1 kg m^2 about all axes of a cube of 5 cm: a placeholder.
  const auto robot = with({0.05, 0.05, 0.05}, 1, Matrix3<double>::Identity());
  const LintFindings found = find_values(robot);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].diagnostic.rule, "inertia-placeholder");
  EXPECT_EQ(found[0].diagnostic.severity, Severity::note);
  EXPECT_TRUE(found[0].edits.empty());
  EXPECT_EQ(rules(with({0.05, 0.05, 0.05}, 1, 1.2345 * Matrix3<double>::Identity())),
            Texts{"inertia-units"});
  // A mesh of unknown size beside a small box: the link may be larger.
  auto partly = with({0.02, 0.02, 0.02}, 0.06, (130 * moments).asDiagonal());
  const LintFindings implausible = find_values(partly);
  ASSERT_EQ(implausible.size(), 1u);
  EXPECT_EQ(implausible[0].diagnostic.rule, "inertia-implausible");
  // From the origin to the far corner of the cube at 0.2 m; 2/3 m r^2 with half the diagonal.
  const double r = Vector3<double>(0.21, 0.02, 0.02).norm() / 2;
  EXPECT_EQ(
      implausible[0].diagnostic.fix,
      fmt::format("a full box of this size has a trace of {:.4g} kg m^2", 2 * 0.06 * r * r / 3));
  Geometry mesh;
  mesh.shape = Geometry::Shape::mesh;
  partly.links[1].geometry.push_back(mesh);
  EXPECT_EQ(rules(partly), Texts{});
}

// Zeros with rounding errors, as converters write them.
TEST(Check, MomentsAtRoundingAreNoFindings) {
  auto robot = arm();
  robot.links[1].geometry.clear();
  robot.links[1].inertial->tensor = Vector3<double>(-1e-20, 0, 1e-20).asDiagonal();
  EXPECT_EQ(rules(robot), Texts{});
}

// Motors without stops have limits of several turns; degrees are round and too large for radians.
TEST(Check, LimitsOfSeveralTurnsAreNoDegrees) {
  const auto with = [](double lower, double upper) {
    auto robot = arm();
    robot.joints[0].limits = {{lower, upper, 1.0, 1.0}};
    return rules(robot);
  };
  EXPECT_EQ(with(-10, 10), Texts{});
  EXPECT_EQ(with(-3.054, 6.807), Texts{});
  EXPECT_EQ(with(-8 * std::numbers::pi, 8 * std::numbers::pi), Texts{});
  EXPECT_EQ(with(-100 * std::numbers::pi, 100 * std::numbers::pi), Texts{});
  EXPECT_EQ(with(-29.5, 29.5), Texts{});
  EXPECT_EQ(with(-1000, 1000), Texts{});
  EXPECT_EQ(with(-30, 10), Texts{"limit-degrees"});
  EXPECT_EQ(with(-170, 170.5), Texts{"limit-degrees"});
  EXPECT_EQ(with(0, 720), Texts{"limit-degrees"});
}

// Triangle inequality of the principal moments, in any axes: violated by less than a hundredth of
// the largest it is a warning, then an error. The nearest tensor has no negative second moment.
TEST(Check, TriangleInequalityOfPrincipalMoments) {
  testing::Random random(22);
  const auto with = [&](const Vector3<double>& moments) {
    auto robot = arm();
    robot.links[1].geometry.clear();
    const Matrix3<double> R = random.rotation<double>();
    robot.links[1].inertial->tensor =
        rotate_tensor<double>(R, 0.01 * Matrix3<double>(moments.asDiagonal()));
    return find_values(robot);
  };
  EXPECT_TRUE(with({1, 1, 1.999}).empty());
  EXPECT_TRUE(with({1, 1.2, 0.3}).empty());
  const auto expect = [&](const Vector3<double>& moments, const char* rule, Severity severity) {
    const LintFindings found = with(moments);
    ASSERT_EQ(found.size(), 1u) << moments.transpose();
    EXPECT_EQ(found[0].diagnostic.rule, rule);
    EXPECT_EQ(found[0].diagnostic.severity, severity);
    // Second moments (I2 + I3 - I1) / 2: the negative ones become zero.
    const Matrix3<double> nearest = tensor_from(found[0].edits.at(0).after);
    Vector3<double> second = 0.005 * (moments.sum() * Vector3<double>::Ones() - 2 * moments);
    second = second.cwiseMax(0);
    Vector3<double> right = second.sum() * Vector3<double>::Ones() - second;
    std::sort(right.begin(), right.end());
    const Vector3<double> eigenvalues =
        Eigen::SelfAdjointEigenSolver<Matrix3<double>>(nearest).eigenvalues();
    EXPECT_LT((eigenvalues - right).norm(), 1e-7 * right.norm());  // a floor of sqrt(eps)
  };
  expect({1, 1, 2.018}, "inertia-triangle", Severity::warning);  // by 0.9 % of the largest
  expect({1, 1, 2.022}, "inertia-triangle", Severity::error);    // by 1.1 %
  expect({1, 3, 1.5}, "inertia-triangle", Severity::error);
  expect({-0.1, 1, 1.05}, "inertia-not-positive", Severity::error);
}

// The message states by how much.
TEST(Check, TriangleMessageHasTheMargin) {
  auto robot = arm();
  robot.links[1].geometry.clear();
  robot.links[1].inertial->tensor = Vector3<double>(0.01, 0.025, 0.01).asDiagonal();
  const LintFindings found = find_values(robot);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].diagnostic.message,
            "link 'arm': principal moments 0.01, 0.01, 0.025 violate the triangle inequality: the "
            "largest exceeds the sum of the others by 0.005");
}

// Inertias of welded links add up in the frame of their body: 1 kg at 1 m on a fixed arm of 1 m,
// turned by 90 degrees.
TEST(LinkTree, InertiasOfWeldedLinksAddUp) {
  Description<double> robot;
  for (const char* name : {"base", "arm", "tool"}) {
    LinkDescription<double> link;
    link.name = name;
    InertialDescription<double> inertial;
    inertial.mass = 1;
    inertial.X_LI.p = {1, 0, 0};
    inertial.tensor = Vector3<double>(0.1, 0.2, 0.25).asDiagonal();
    link.inertial = inertial;
    robot.links.push_back(link);
  }
  robot.joints = {hinge("turn", "base", "arm"), hinge("weld", "arm", "tool")};
  robot.joints[1].type = JointType::fixed;
  robot.joints[1].X_PJ = {so3::exp<double>({0, 0, std::numbers::pi / 2}), {1, 0, 0}};
  const LinkTree tree = link_tree(robot);
  const auto I = body_inertias(robot, tree);
  EXPECT_EQ(I.at(1).mass(), 2);
  // The tool: mass centre at (1, 1, 0) of the arm, tensor with x and y exchanged.
  EXPECT_LT((I.at(1).first_moment() - Vector3<double>(2, 1, 0)).norm(), 1e-15);
  Matrix3<double> expected;
  expected << 0.1 + 0.2 + 1, -1, 0, -1, 0.2 + 1 + 0.1 + 1, 0, 0, 0, 0.25 + 1 + 0.25 + 2;
  EXPECT_LT((I.at(1).tensor() - expected).norm(), 1e-15);
  EXPECT_EQ(I.at(2).mass(), 0);  // part of the arm
  EXPECT_EQ(I.at(0).mass(), 1);
}

TEST(Check, FindsProductsWithTheOtherSign) {
  auto robot = arm();
  const Pose<double> X_LG{so3::exp<double>({0, 0, 0.6}), {0.1, 0, 0}};
  robot.links[1] = box_link("arm", 2, X_LG, {0.4, 0.1, 0.1});
  EXPECT_EQ(rules(robot), Texts{});
  auto& tensor = robot.links[1].inertial->tensor;
  const Matrix3<double> right = tensor;
  tensor(0, 1) = tensor(1, 0) = -tensor(0, 1);
  const LintFindings found = find_values(robot);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].diagnostic.rule, "products-mirrored");
  EXPECT_LT((tensor_from(found[0].edits.at(0).after) - right).norm(), 1e-12 * right.norm());
}

// Grams: links without mass are left as they are.
TEST(Check, MassesInGramsAreDivided) {
  auto robot = arm();
  for (auto& link : robot.links) {
    link.inertial->mass *= 1000;
    link.inertial->tensor *= 1000;
  }
  LinkDescription<double> frame;
  frame.name = "frame";
  robot.links.insert(robot.links.begin() + 1, frame);
  robot.joints.push_back(hinge("mount", "base", "frame"));
  robot.joints.back().type = JointType::fixed;
  for (auto& joint : robot.joints) joint.X_PJ.p *= 0.1;
  for (auto& link : robot.links) {  // small, so that 5000 kg are denser than any metal
    for (auto& geometry : link.geometry) {
      geometry.size *= 0.2;
      geometry.X_LG.p *= 0.2;
    }
    if (link.inertial) link.inertial->X_LI.p *= 0.2;
  }
  const LintFindings found = find_values(robot);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].diagnostic.rule, "mass-units");
  EXPECT_EQ(found[0].diagnostic.message.substr(0, 53),
            "link 'base' has mass 3000, all links together 5000, i");
  ASSERT_EQ(found[0].edits.size(), 2u);
  EXPECT_EQ(found[0].edits[0].owner, "base");
  EXPECT_EQ(found[0].edits[0].after, std::vector<double>{3});
  EXPECT_EQ(found[0].edits[1].owner, "arm");
  EXPECT_EQ(found[0].edits[1].after, std::vector<double>{2});
}

// A massless body with half a kilogram beyond it is a warning, at the end of a chain an error.
TEST(Check, MasslessBodiesBetweenJointsAreAWarning) {
  auto robot = arm();
  robot.links[1].inertial.reset();
  robot.links.push_back(box_link("tip", 0.5, at(0.1, 0, 0), {0.2, 0.05, 0.05}));
  robot.joints.push_back(hinge("wrist", "arm", "tip"));
  EXPECT_EQ(rules(robot), Texts{"inertial-missing"});
  robot.links[2].inertial.reset();
  EXPECT_EQ(rules(robot), (Texts{"inertial-missing-leaf", "inertial-missing-leaf"}));
}

TEST(Check, WeldedLinksCountAsOneBody) {
  auto robot = arm();
  LinkDescription<double> tool;
  tool.name = "tool";
  robot.links.push_back(tool);
  robot.joints.push_back(hinge("mount", "arm", "tool"));
  EXPECT_EQ(rules(robot), Texts{"inertial-missing-leaf"});
  robot.joints[1].armature = 0.1;
  EXPECT_EQ(rules(robot), Texts{"inertial-missing"});
  robot.joints[1].type = JointType::fixed;
  EXPECT_EQ(rules(robot), Texts{});
  // A tensor that no body has, compensated by the rest of the body, is only a warning.
  InertialDescription<double> odd;
  odd.mass = 0.01;
  odd.tensor = Vector3<double>(1e-6, 1e-6, 5e-6).asDiagonal();
  robot.links[2].inertial = odd;
  const LintFindings found = find_values(robot);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].diagnostic.rule, "inertia-triangle");
  EXPECT_EQ(found[0].diagnostic.severity, Severity::warning);
}

TEST(Check, ABodyWithoutMomentAboutItsAxisIsSingular) {
  auto robot = arm();
  auto& inertial = *robot.links[1].inertial;
  robot.links[1].geometry.clear();
  inertial.tensor.setZero();
  EXPECT_EQ(rules(robot), Texts{"inertia-zero"});  // a point mass off the axis has inertia about it
  inertial.X_LI.p = {0, 0, 0.3};
  EXPECT_EQ(rules(robot), (Texts{"inertia-zero", "inertia-singular"}));
}

TEST(Check, LimitsOfJoints) {
  auto robot = arm();
  auto& limits = robot.joints[0].limits[0];
  const auto with = [&](double lower, double upper) {
    limits.lower = lower;
    limits.upper = upper;
    return rules(robot);
  };
  const double pi = 3.141592653589793;
  EXPECT_EQ(with(-2 * pi, 2 * pi), Texts{});
  EXPECT_EQ(with(-6.2832, 6.2832), Texts{});
  EXPECT_EQ(with(-9.42, 9.42), Texts{});      // one and a half turns
  EXPECT_EQ(with(-4 * pi, 4 * pi), Texts{});  // two turns
  EXPECT_EQ(with(-1e16, 1e16), Texts{});      // unlimited
  EXPECT_EQ(with(-180, 180), Texts{"limit-degrees"});
  EXPECT_EQ(with(0, 90), Texts{"limit-degrees"});
  EXPECT_EQ(with(1, -1), Texts{"limit-swapped"});
  robot.joints[0].type = JointType::prismatic;  // 180 m is a long rail, not an angle
  EXPECT_EQ(with(-180, 180), Texts{});
  robot.joints[0].type = JointType::revolute;
  with(-1, 1);
  limits.effort = 0;
  limits.velocity = -1;
  EXPECT_EQ(rules(robot), (Texts{"effort-zero", "velocity-negative"}));
}

TEST(Check, AxesHaveADirectionAndLengthOne) {
  auto robot = arm();
  robot.joints[0].axis = {0, 0, 1 + 1e-8};
  EXPECT_EQ(rules(robot), Texts{});
  robot.joints[0].axis = {0, 3e200, 4e200};
  const LintFindings found = find_values(robot);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].diagnostic.rule, "axis-not-unit");
  EXPECT_DOUBLE_EQ(found[0].edits.at(0).after[1], 0.6);
  EXPECT_DOUBLE_EQ(found[0].edits.at(0).after[2], 0.8);
  robot.joints[0].axis.setZero();
  EXPECT_EQ(rules(robot), Texts{"axis-zero"});
}

TEST(Check, NonFiniteNumbersEndTheCheck) {
  auto robot = arm();
  robot.links[1].inertial->tensor(0, 0) = std::numeric_limits<double>::quiet_NaN();
  robot.joints[0].limits[0].upper = std::numeric_limits<double>::infinity();
  EXPECT_EQ(rules(robot), (Texts{"not-finite", "not-finite"}));
}

TEST(Check, MissingMeshesAreReportedOnce) {
  auto robot = arm();
  Geometry mesh;
  mesh.shape = Geometry::Shape::mesh;
  mesh.mesh_uri = "package://x/arm.stl";
  robot.links[0].geometry.push_back(mesh);
  robot.links[1].geometry.push_back(mesh);
  EXPECT_EQ(rules(robot), Texts{"mesh-not-found"});
  Diagnostics reported(1);
  reported[0].rule = "mesh-not-found";
  check_values(robot, reported);
  EXPECT_EQ(reported.size(), 1u);
}

TEST(LinkSize, BoxesEnclosePrimitives) {
  LinkDescription<double> link;
  Geometry g;
  g.shape = Geometry::Shape::capsule;
  g.size = {0.1, 0.4, 0};
  g.X_LG = {so3::exp<double>({0, 1.5707963267948966, 0}), {1, 0, 0}};
  link.geometry = {g};
  const Box box = shape_box(link);
  EXPECT_NEAR(box.sizes().x(), 0.6, 1e-15);
  EXPECT_NEAR(box.sizes().y(), 0.2, 1e-15);
  EXPECT_NEAR(box.center().x(), 1, 1e-15);
}

}  // namespace
}  // namespace limb
