#include "limb/model/lint/link_size.hpp"

#include <gtest/gtest.h>

#include "limb/math/inertia_solids.hpp"
#include "limb/math/so3.hpp"
#include "limb/model/lint/check.hpp"
#include "limb/model/lint/repair.hpp"

namespace limb {
namespace {

using Vector = Vector3<double>;
using Texts = std::vector<std::string>;

constexpr double kHalfPi = 1.5707963267948966;
// Sums of a few products of numbers below 2.
constexpr double kTolerance = 8 * std::numeric_limits<double>::epsilon();

/// The file is in millimetres: 400 x 100 x 80 mm, from x = 0.
const MeshBoxes kMeshes = {{"arm.stl", Box(Vector(0, -50, -40), Vector(400, 50, 40))},
                           {"flat.stl", Box()}};

Geometry mesh(const std::string& path) {
  Geometry g;
  g.shape = Geometry::Shape::mesh;
  g.mesh_uri = g.mesh_path = path;
  g.mesh_scale = Vector::Constant(1e-3);
  return g;
}

/// Two links with a mesh each and the inertia of a solid box of that size.
Description<double> arm() {
  Description<double> robot;
  for (const char* name : {"base", "arm"}) {
    LinkDescription<double> link;
    link.name = name;
    link.geometry = {mesh("arm.stl")};
    InertialDescription<double> inertial;
    inertial.mass = 2;
    inertial.X_LI.p = {0.2, 0, 0};
    inertial.tensor = box_inertia(Mass{2.0}, Vector(0.4, 0.1, 0.08)).tensor();
    link.inertial = inertial;
    robot.links.push_back(link);
  }
  JointDescription<double> joint;
  joint.name = "turn";
  joint.type = JointType::continuous;
  joint.parent = "base";
  joint.child = "arm";
  joint.X_PJ.p = {0.4, 0, 0};
  joint.axis = Vector::UnitZ();
  robot.joints = {joint};
  return robot;
}

Texts rules(const Description<double>& robot, const MeshBoxes& meshes) {
  Texts all;
  for (const auto& finding : find_values(robot, meshes)) all.push_back(finding.diagnostic.rule);
  return all;
}

TEST(LinkSize, AMeshIsScaledThenPlaced) {
  LinkDescription<double> link;
  Geometry g = mesh("arm.stl");
  g.mesh_scale = {-1e-3, 1e-3, 1e-3};
  g.X_LG = {so3::exp<double>({0, 0, kHalfPi}), {1, 0, 0}};  // -x of the mesh becomes -y
  link.geometry = {g};
  const Box box = shape_box(link, kMeshes);
  EXPECT_LT((box.min() - Vector(0.95, -0.4, -0.04)).norm(), kTolerance);
  EXPECT_LT((box.max() - Vector(1.05, 0, 0.04)).norm(), kTolerance);
}

TEST(LinkSize, TheShapeIsKnownIfTheSizesOfAllMeshesAre) {
  LinkDescription<double> link;
  EXPECT_FALSE(has_known_shape(link, kMeshes));
  link.geometry = {mesh("arm.stl")};
  EXPECT_TRUE(has_known_shape(link, kMeshes));
  EXPECT_FALSE(has_known_shape(link));
  link.geometry.push_back(mesh("absent.stl"));
  EXPECT_FALSE(has_known_shape(link, kMeshes));
  EXPECT_FALSE(shape_box(link, kMeshes).isEmpty());
}

TEST(LinkSize, AnEmptyMeshHasNoBox) {
  LinkDescription<double> link;
  link.geometry = {mesh("flat.stl")};
  EXPECT_TRUE(shape_box(link, kMeshes).isEmpty());
  EXPECT_FALSE(has_plausible_shape(link, kMeshes));
}

TEST(LinkSize, MeshesInMillimetresWithoutScaleDoNotFitTheMass) {
  auto robot = arm();
  EXPECT_TRUE(has_plausible_shape(robot.links[1], kMeshes));
  robot.links[1].geometry[0].mesh_scale = Vector::Ones();
  EXPECT_FALSE(has_plausible_shape(robot.links[1], kMeshes));
}

TEST(CheckWithMeshes, AConsistentRobotHasNoFindings) {
  EXPECT_EQ(rules(arm(), kMeshes), Texts{});
  EXPECT_EQ(rules(arm(), {}), Texts{});
}

TEST(CheckWithMeshes, AWrongUnitOfOneLinkIsFoundAndRepaired) {
  auto robot = arm();
  const Matrix3<double> tensor = robot.links[1].inertial->tensor;
  robot.links[1].inertial->tensor = 1e3 * tensor;
  EXPECT_EQ(rules(robot, kMeshes), Texts{"inertia-units"});
  const RepairedRobot repaired = repair_robot(robot, kMeshes);
  EXPECT_LT((repaired.robot.links[1].inertial->tensor - tensor).norm(), 1e-12);
  EXPECT_TRUE(repaired.remaining.empty());
  // Compared with the whole robot, one link alone does not tell the unit.
  EXPECT_EQ(rules(robot, {}), Texts{"inertia-implausible"});
}

// Fingers of TIAGo: 0.001 kg m^2 about all axes, in more than half of the links.
TEST(CheckWithMeshes, PlaceholdersAreNoUnit) {
  auto robot = arm();
  for (auto& link : robot.links) link.inertial->tensor = 20 * Matrix3<double>::Identity();
  EXPECT_EQ(rules(robot, kMeshes), (Texts{"inertia-placeholder", "inertia-placeholder"}));
}

// The mesh of a link may end before the joint, and what holds it there is not drawn.
TEST(CheckWithMeshes, TheLinkReachesToItsOrigin) {
  auto robot = arm();
  auto& link = robot.links[1];
  link.geometry[0].X_LG.p = {0.05, 0, 0};
  link.inertial->X_LI.p = {0.1, 0, 0};
  // The second moment about the mass centre is 0.025 m^2 per kg: more than a body from 0.05 to
  // 0.45 m has, 0.0175, and less than one from 0 to 0.45 m has, 0.035.
  link.inertial->tensor = 2 * Vector(0.001, 0.0255, 0.0255).asDiagonal().toDenseMatrix();
  EXPECT_EQ(rules(robot, kMeshes), Texts{});
}

TEST(CheckWithMeshes, AMassCentreFarOutsideIsFound) {
  auto robot = arm();
  robot.links[1].inertial->X_LI.p = {200, 0, 0};
  EXPECT_EQ(rules(robot, kMeshes), Texts{"com-units"});
}

}  // namespace
}  // namespace limb
