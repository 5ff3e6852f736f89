#include "limb/model/core/model.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "limb/model/canonical/canonical.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/testing/reference_dynamics.hpp"

namespace limb {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;

Matrix3d diagonal(double x, double y, double z) {
  return Vector3d(x, y, z).asDiagonal();
}

/// trunk -(a)- left -(weld)- tool, trunk -(b)- right, declared in a mixed order.
RobotBuilder<double> small_tree() {
  RobotBuilder<double> b("tree");
  b.link("trunk", 5.0, {0, 0, 0.1}, diagonal(0.1, 0.1, 0.1));
  b.link("right", 1.0, {0, 0, -0.2}, diagonal(0.01, 0.01, 0.002));
  b.link("left", 1.0, {0, 0, -0.2}, diagonal(0.01, 0.01, 0.002));
  b.link("tool", 0.3, {0, 0, 0.05}, diagonal(0.001, 0.001, 0.001));
  b.joint("a", Joint<double>::revolute(Vector3d::UnitY()), "trunk", "left",
          {Matrix3d::Identity(), {0, 0.2, 0}});
  b.limits({{-1.0, 1.0, 3.0, 20.0}});
  b.joint("weld", Joint<double>::fixed(), "left", "tool", {Matrix3d::Identity(), {0, 0, -0.4}});
  b.joint("b", Joint<double>::prismatic(Vector3d::UnitZ()), "trunk", "right",
          {Matrix3d::Identity(), {0, -0.2, 0}});
  b.frame("tip", "tool", {Matrix3d::Identity(), {0, 0, 0.1}});
  return b;
}

TEST(BuildModel, OrdersDepthFirstAndNumbersCoordinates) {
  const Model<double> model = small_tree().build();
  ASSERT_EQ(model.body_count(), 3);
  EXPECT_EQ(model.bodies()[1].name, "a");
  EXPECT_EQ(model.bodies()[2].name, "b");
  EXPECT_EQ(model.find_body("b"), BodyId(2));
  EXPECT_EQ(model.bodies()[2].parent, BodyId(0));
  EXPECT_EQ(model.uncoupled_nq(), 2);
  EXPECT_EQ(model.uncoupled_nv(), 2);
  EXPECT_EQ(model.bodies()[2].v_start, 1);
  EXPECT_EQ(model.bodies()[1].limits[0].upper, 1.0);
  EXPECT_FALSE(model.bodies()[2].limits[0].upper.has_value());
}

// Algorithms assume that a subtree is a range of bodies, also if the world has several children.
TEST(BuildModel, OrdersDepthFirstWithSeveralJointsOnTheWorld) {
  RobotBuilder<double> b("roots");
  for (const char* link : {"hip", "motor", "knee"}) {
    b.link(link, 1.0, {0, 0, 0}, diagonal(0.1, 0.1, 0.1));
  }
  const auto turn = Joint<double>::revolute(Vector3d::UnitZ());
  b.joint("first", turn, kWorldLink, "hip", {});
  b.joint("second", turn, kWorldLink, "motor", {});
  b.joint("below_first", turn, "hip", "knee", {});
  const Model<double> model = b.build();
  EXPECT_EQ(model.bodies()[1].name, "first");
  EXPECT_EQ(model.bodies()[2].name, "below_first");
  EXPECT_EQ(model.bodies()[3].name, "second");
}

// The welded tool's mass is added to the body with its parallel-axis term; the trunk is welded to
// the world and does not count.
TEST(BuildModel, WeldsFixedJoints) {
  const Model<double> model = small_tree().build();
  EXPECT_NEAR(model.total_mass(), 2.3, 4 * kEps);
  const Inertia<double>& body = model.bodies()[1].inertia;
  EXPECT_NEAR(body.mass(), 1.3, 2 * kEps);
  EXPECT_NEAR(body.first_moment().z(), 1.0 * -0.2 + 0.3 * -0.35, 2 * kEps);
  EXPECT_NEAR(body.tensor()(0, 0), 0.01 + 0.04 + 0.001 + 0.3 * 0.35 * 0.35, 2 * kEps);
  const Frame<double>& tip = model.frame(model.find_frame("tip"));
  EXPECT_EQ(tip.body, BodyId(1));
  EXPECT_NEAR(tip.X_BF.p.z(), -0.3, kEps);
  EXPECT_EQ(model.frame(model.find_frame("trunk")).body, BodyId(0));
}

TEST(BuildModel, FreeBaseIsTheParentOfTheRoot) {
  const Model<double> model = small_tree().build(Base::free);
  ASSERT_EQ(model.body_count(), 4);
  EXPECT_EQ(model.bodies()[1].name, "root_joint");
  EXPECT_EQ(model.uncoupled_nq(), 9);
  EXPECT_EQ(model.uncoupled_nv(), 8);
  EXPECT_NEAR(model.total_mass(), 7.3, 8 * kEps);
  EXPECT_EQ(model.neutral()[6], 1.0);
  EXPECT_EQ(model.actuated(),
            (std::vector<bool>{false, false, false, false, false, false, true, true}));
}

TEST(BuildModel, JointsOnTheWorldFollowTheRequestedBase) {
  RobotBuilder<double> b("box");
  b.link("body", 1.0, Vector3d::Zero(), Matrix3d::Identity());
  b.joint("float", Joint<double>::free(), kWorldLink, "body");
  EXPECT_EQ(b.build().nv(), 6);
  EXPECT_EQ(b.build(Base::free).nv(), 6);
  EXPECT_EQ(b.build(Base::free).bodies()[1].name, "float");
  EXPECT_EQ(b.build(Base::fixed).nv(), 0);
}

TEST(BuildModel, RejectsAFreeBaseWithoutABaseLink) {
  RobotBuilder<double> b("arm");
  b.link("upper", 1.0, Vector3d::Zero(), Matrix3d::Identity());
  b.joint("shoulder", Joint<double>::revolute(Vector3d::UnitZ()), kWorldLink, "upper");
  try {
    b.build(Base::free);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "build_model: joint 'shoulder' connects directly to the world, so there is no base link "
        "to set free");
  }
}

TEST(Model, LookupsNameTheNearest) {
  const Model<double> model = small_tree().build();
  try {
    model.find_frame("tol");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "Model::find_frame: no frame is named 'tol' (closest: 'tool')");
  }
  EXPECT_THROW(model.find_body("elbow"), Error);
}

TEST(Model, ChecksSizes) {
  const Model<double> model = small_tree().build(Base::free);
  try {
    model.integrate(VectorXd::Zero(8), VectorXd::Zero(8));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "Model::integrate: q has 8 entries, expected 9");
  }
}

TEST(Model, RandomStaysInLimitsAndDifferenceUndoesIntegrate) {
  const Model<double> model = small_tree().build(Base::free);
  std::mt19937_64 engine(5);
  for (int i = 0; i < 50; ++i) {
    const VectorXd q = model.random_configuration(engine);
    EXPECT_LE(std::abs(q[7]), 1.0);
    const VectorXd v = VectorXd::LinSpaced(model.uncoupled_nv(), -0.7, 0.9);
    EXPECT_LT((model.difference(q, model.integrate(q, v)) - v).norm(), 128 * kEps);
  }
}

TEST(Model, CastKeepsEverything) {
  const Model<double> model = small_tree().build(Base::free);
  const Model<float> single = model.cast<float>();
  EXPECT_EQ(single.nq(), model.uncoupled_nq());
  EXPECT_EQ(single.find_frame("tip"), model.find_frame("tip"));
  EXPECT_EQ(single.bodies()[2].limits[0].effort, 20.0f);
  EXPECT_EQ(single.canonical().joints.size(), model.canonical().joints.size());
  std::mt19937_64 engine(6);
  const VectorXd q = model.random_configuration(engine);
  const auto M = testing::mass_matrix(model, q);
  const auto Mf = testing::mass_matrix<float>(single, q.cast<float>());
  // Entries up to 7 kg through a chain of three poses: some tens of float roundings.
  EXPECT_LT((Mf.cast<double>() - M).norm(), 64 * std::numeric_limits<float>::epsilon() * M.norm());
}

// The belt-driven leg of the lecture: the belt makes the knee's coordinate an absolute angle, so
// the generalized forces are those of the motors in the chassis. [worked examples, belt_leg]
TEST(Coupling, BeltTurnsRelativeIntoAbsoluteAngles) {
  const double m = 1.2, l = 0.35, q1 = 0.3, q2 = 0.7;
  RobotBuilder<double> b("leg");
  b.gravity({0, -9.81, 0});
  const Matrix3d rod = diagonal(0, m * l * l / 12, m * l * l / 12);
  // Hanging along -y; angles from the vertical.
  const Matrix3d down = axis_rotation(2, -std::acos(0.0));
  b.link("chassis").link("thigh", m, {l / 2, 0, 0}, rod).link("shank", m, {l / 2, 0, 0}, rod);
  b.joint("hip", Joint<double>::revolute(Vector3d::UnitZ()), "chassis", "thigh",
          {down, Vector3d::Zero()});
  b.joint("knee", Joint<double>::revolute(Vector3d::UnitZ()), "thigh", "shank",
          {Matrix3d::Identity(), {l, 0, 0}});
  // The knee's motor sits in the chassis and turns a pulley; the belt runs over the hip.
  b.link("pulley");
  b.joint("motor", Joint<double>::revolute(Vector3d::UnitZ()), "chassis", "pulley");
  b.couple("knee", {{"motor", 1.0}, {"hip", -1.0}});
  const Model<double> model = b.build();
  const Coupling<double>& coupling = model.coupling();
  EXPECT_FALSE(coupling.is_identity());
  ASSERT_EQ(coupling.ny_v(), 2);
  const VectorXd q = coupling.expand_position(Eigen::Vector2d(q1, q2));
  EXPECT_NEAR(q[1], q2 - q1, kEps);
  EXPECT_EQ(q[2], q2);
  const Eigen::MatrixXd G = coupling.matrix();
  const Eigen::MatrixXd M = G.transpose() * testing::mass_matrix(model, q) * G;
  const VectorXd g = coupling.reduce_force(testing::gravity_force(model, q));
  Eigen::Matrix2d M_lecture;
  M_lecture << 0.196, 0.06769798305921206, 0.06769798305921206, 0.049;
  // Sums of four products of order 0.2 (M) and 2 (g); the quarter turn costs one more rounding.
  EXPECT_LT((M - M_lecture).norm(), 4 * kEps);
  EXPECT_LT((g - Eigen::Vector2d(1.826403533229077, 1.3271528574783673)).norm(), 16 * kEps);
}

TEST(Coupling, MimicChainsEndAtTheirLeader) {
  RobotBuilder<double> b("gripper");
  b.link("palm").link("f1").link("f2").link("f3");
  const auto slide = Joint<double>::prismatic(Vector3d::UnitX());
  b.joint("j1", slide, "palm", "f1")
      .joint("j2", slide, "palm", "f2")
      .joint("j3", slide, "palm", "f3");
  b.couple("j3", {{"j2", 2.0}}, 0.5).couple("j2", {{"j1", -1.0}}, 0.1);
  const Model<double> model = b.build();
  EXPECT_EQ(model.coupling().ny_v(), 1);
  const VectorXd q = model.coupling().expand_position(VectorXd::Constant(1, 0.3));
  EXPECT_NEAR(q[1], -0.3 + 0.1, kEps);
  EXPECT_NEAR(q[2], 2 * (-0.3 + 0.1) + 0.5, 2 * kEps);
  EXPECT_EQ(model.coupling().reduce_force(Eigen::Vector3d(1, 10, 100))[0], 1 - 10 - 200);
  EXPECT_EQ(model.coupling().expand_velocity(VectorXd::Constant(1, 1.0)), Vector3d(1, -1, -2));
}

TEST(Coupling, DifferentialCombinesTwoMotors) {
  RobotBuilder<double> b("wrist");
  b.link("arm").link("a").link("b").link("pitch").link("roll");
  const auto turn = Joint<double>::revolute(Vector3d::UnitY());
  b.joint("m1", turn, "arm", "a").joint("m2", turn, "arm", "b");
  b.joint("pitch", turn, "arm", "pitch");
  b.joint("roll", Joint<double>::revolute(Vector3d::UnitX()), "pitch", "roll");
  b.couple("pitch", {{"m1", 0.5}, {"m2", 0.5}}).couple("roll", {{"m1", 0.5}, {"m2", -0.5}});
  const Model<double> model = b.build();
  EXPECT_EQ(model.coupling().expand_position(Eigen::Vector2d(1, 3)), Eigen::Vector4d(1, 3, 2, -1));
}

TEST(BuildModel, TenThousandLinksInAChain) {
  RobotBuilder<double> b("chain");
  const int n = 10000;
  b.link("0");
  for (int i = 1; i <= n; ++i) {
    b.link(std::to_string(i), 1.0, Vector3d::Zero(), Matrix3d::Identity());
    b.joint(std::string("j").append(std::to_string(i)), Joint<double>::revolute(Vector3d::UnitX()),
            std::to_string(i - 1), std::to_string(i));
  }
  const Model<double> model = b.build();
  EXPECT_EQ(model.uncoupled_nv(), n);
  EXPECT_EQ(model.bodies()[static_cast<std::size_t>(n)].parent, BodyId(n - 1));
}

TEST(RobotBuilder, ArmatureIsRotorInertiaTimesGearRatioSquared) {
  RobotBuilder<double> b("motor");
  b.link("base").link("arm");
  EXPECT_THROW(b.rotor(1e-4, 100), Error);
  b.joint("j", Joint<double>::revolute(Vector3d::UnitX()), "base", "arm").rotor(1e-4, 100);
  EXPECT_NEAR(b.build().bodies()[1].armature, 1.0, 2 * kEps);
}

}  // namespace
}  // namespace limb
