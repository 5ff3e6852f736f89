// rnea, crba and aba on the canonical model against the textbook recursions on the original bodies:
// random trees of all joint types, fixed and floating, with and without couplings, with drives.
#include "limb/dynamics/recursive/rnea.hpp"

#include <gtest/gtest.h>

#include "limb/dynamics/recursive/aba.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/testing/armature.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/dynamics/textbook/featherstone.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using testing::driven_samples;
using testing::Sample;
namespace book = textbook::featherstone;

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr JointEffects kNone = JointEffects::none();

double relative(const MatrixX<double>& found, const MatrixX<double>& expected) {
  return (found - expected).norm() / (1 + expected.norm());
}

// Sums of a few hundred products over a dozen levels; worst seen 9 eps of the norm.
constexpr double kTolerance = 64 * kEps;

TEST(Rnea, AgreesWithTextbook) {
  for (const Sample& s : testing::samples(25)) {
    SCOPED_TRACE(s.name);
    Workspace<double> work(s.model);
    VectorX<double> tau(s.v.size());
    rnea(s.model, work, s.q, s.v, s.a, tau, kNone);
    EXPECT_LT(relative(tau, book::rnea<double>(s.model, s.q, s.v, s.a)), kTolerance);
    bias(s.model, work, s.q, s.v, tau, kNone);
    const VectorX<double> zero = VectorX<double>::Zero(s.v.size());
    EXPECT_LT(relative(tau, book::rnea<double>(s.model, s.q, s.v, zero)), kTolerance);
    gravity(s.model, work, s.q, tau);
    EXPECT_LT(relative(tau, book::rnea<double>(s.model, s.q, zero, zero)), kTolerance);
  }
}

/// Compares inverse and forward dynamics of a modified robot at the state of the sample.
void expect_textbook(const Model<double>& model, const Sample& s) {
  Workspace<double> work(model);
  VectorX<double> tau(s.v.size()), a(s.v.size());
  rnea(model, work, s.q, s.v, s.a, tau, kNone);
  EXPECT_LT(relative(tau, book::rnea<double>(model, s.q, s.v, s.a)), kTolerance);
  const MatrixX<double> M = book::crba<double>(model, s.q);
  aba(model, work, s.q, s.v, tau, a, kNone);
  EXPECT_LT((M * (a - s.a)).norm(), 64 * kTolerance * (1 + tau.norm()));
}

// Added inertia on one body, whose canonical joint is then not regrouped.
TEST(Rnea, AgreesWithTextbookOnAddedInertia) {
  for (const Sample& s : testing::samples(5)) {
    SCOPED_TRACE(s.name);
    for (const int body : {1, s.model.body_count() / 2, s.model.body_count() - 1}) {
      testing::Random random(8);
      const Inertia<double> added = Inertia<double>::from_com(
          1.7, random.direction<double>() * 0.3, Vector3<double>(0.1, 0.2, 0.25).asDiagonal());
      const Model<double> heavier = s.model.with_added_inertia(BodyId(body), added);
      expect_textbook(heavier, s);
    }
  }
  EXPECT_EQ(testing::message(
                [] { load_model("builtin:2r").with_added_inertia(BodyId(0), Inertia<double>()); }),
            "Model::with_added_inertia: body is 0, expected 1 to 2");
}

// A shifted and rotated joint: the inertia regrouped to the parent moves with it.
TEST(Rnea, AgreesWithTextbookOnMovedJoints) {
  for (const Sample& s : testing::samples(5)) {
    SCOPED_TRACE(s.name);
    testing::Random random(9);
    Model<double> moved = s.model;
    for (const int body : {1, s.model.body_count() / 2, s.model.body_count() - 1}) {
      moved = moved.with_shifted_joint(BodyId(body), random.direction<double>() * 0.3);
      moved = moved.with_rotated_joint(BodyId(body), random.rotation<double>());
      expect_textbook(moved, s);
    }
  }
  EXPECT_EQ(testing::message([] {
              load_model("builtin:2r").with_shifted_joint(BodyId(3), Vector3<double>::Zero());
            }),
            "Model::with_shifted_joint: body is 3, expected 1 to 2");
  EXPECT_EQ(testing::message([] {
              load_model("builtin:2r").with_rotated_joint(BodyId(0), Matrix3<double>::Identity());
            }),
            "Model::with_rotated_joint: body is 0, expected 1 to 2");
}

TEST(Crba, AgreesWithTextbook) {
  for (const Sample& s : testing::samples(25)) {
    SCOPED_TRACE(s.name);
    Workspace<double> work(s.model);
    const Eigen::Index n = s.v.size();
    MatrixX<double> M = MatrixX<double>::Constant(n, n, 7);  // every entry must be written
    crba(s.model, work, s.q, M, kNone);
    EXPECT_LT(relative(M, book::crba<double>(s.model, s.q)), kTolerance);
    EXPECT_EQ(M, MatrixX<double>(M.transpose()));
  }
}

// A block of a larger matrix has columns further apart than its rows.
TEST(Crba, WritesIntoABlock) {
  const Model<double> model = load_model("builtin:arm7");
  Workspace<double> work(model);
  const VectorX<double> q = VectorX<double>::LinSpaced(7, -1, 1);
  MatrixX<double> M(7, 7), large = MatrixX<double>::Constant(9, 9, 3);
  crba(model, work, q, M);
  crba(model, work, q, large.block(1, 1, 7, 7));
  EXPECT_EQ(MatrixX<double>(large.block(1, 1, 7, 7)), M);
  EXPECT_TRUE((large.row(0).array() == 3).all() && (large.row(8).array() == 3).all());
  EXPECT_TRUE((large.col(0).array() == 3).all() && (large.col(8).array() == 3).all());
}

// The condition number of the mass matrix enters; worst seen 900 eps.
TEST(Aba, InvertsRnea) {
  for (const std::vector<Sample>& all : {testing::samples(25), driven_samples(25)}) {
    for (const Sample& s : all) {
      SCOPED_TRACE(s.name);
      Workspace<double> work(s.model);
      VectorX<double> tau(s.v.size()), a(s.v.size());
      rnea(s.model, work, s.q, s.v, s.a, tau);
      EXPECT_TRUE(aba(s.model, work, s.q, s.v, tau, a).ok());
      EXPECT_LT(relative(a, s.a), 1e4 * kEps);
      rnea(s.model, work, s.q, s.v, s.a, tau, kNone);
      EXPECT_TRUE(aba(s.model, work, s.q, s.v, tau, a, kNone).ok());
      EXPECT_LT(relative(a, s.a), 1e4 * kEps);
    }
  }
}

TEST(Drives, AddArmatureDampingAndFriction) {
  for (const Sample& s : driven_samples(12)) {
    SCOPED_TRACE(s.name);
    Workspace<double> work(s.model);
    const Eigen::Index n = s.v.size();
    VectorX<double> bare(n), tau(n);
    rnea(s.model, work, s.q, s.v, s.a, bare, kNone);
    rnea(s.model, work, s.q, s.v, s.a, tau);
    const Coupling<double>& coupling = s.model.coupling();
    const VectorX<double> v = coupling.expand_velocity(s.v), a = coupling.expand_velocity(s.a);
    VectorX<double> expected = testing::armature_force(s.model, v, a);
    for (const Body<double>& body : s.model.bodies()) {
      for (int k = body.v_start; k < body.v_start + body.joint.nv(); ++k) {
        expected[k] += body.damping * v[k] + body.friction * (v[k] > 0 ? 1.0 : -1.0);
      }
    }
    EXPECT_LT(relative(tau - bare, coupling.reduce_force(expected)),
              kTolerance * (1 + bare.norm()));

    MatrixX<double> M(n, n), bare_M(n, n);
    crba(s.model, work, s.q, M);
    crba(s.model, work, s.q, bare_M, kNone);
    rnea(s.model, work, s.q, s.v, s.a, tau,
         {.armature = true, .damping = false, .friction = false});
    bias(s.model, work, s.q, s.v, bare, kNone);
    const VectorX<double> turning =
        coupling.reduce_force(testing::armature_force(s.model, v, VectorX<double>::Zero(v.size())));
    EXPECT_LT(relative(M * s.a + bare + turning, tau), kTolerance);
  }
}

/// A body on a free joint with armature 0.3, or with as much mass instead.
Model<double> free_body(const Vector3<double>& gravity, bool with_mass = false) {
  Description<double> robot;
  robot.gravity = gravity;
  LinkDescription<double> link;
  link.name = "body";
  link.inertial.emplace();
  link.inertial->mass = 2;
  link.inertial->X_LI.p = Vector3<double>(0.1, -0.2, 0.3);
  link.inertial->tensor = Vector3<double>(0.4, 0.5, 0.6).asDiagonal();
  JointDescription<double> joint;
  joint.name = "free";
  joint.type = JointType::free;
  joint.parent = kWorldLink;
  joint.child = "body";
  if (!with_mass) {
    joint.armature = 0.3;
  } else {
    // The same body with a point mass at its origin and three equal moments of inertia.
    const Inertia<double> sum =
        link.inertial->inertia() +
        Inertia<double>(0.3, Vector3<double>::Zero(), 0.3 * Matrix3<double>::Identity());
    link.inertial->mass = sum.mass();
    link.inertial->X_LI.p = sum.com();
    link.inertial->tensor = sum.tensor_about_com();
  }
  robot.links = {link};
  robot.joints = {joint};
  return build_model(robot);
}

// Without gravity, armature m of a free joint is a mass m at its origin with moments of inertia m.
TEST(Drives, ArmatureOfAFreeJointIsAMassWithoutWeight) {
  const Model<double> armature = free_body(Vector3<double>::Zero()),
                      mass = free_body(Vector3<double>::Zero(), true);
  Workspace<double> work(armature), other(mass);
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const Sample s = testing::sample_of("", armature, seed);
    VectorX<double> tau(6), expected(6), a(6);
    rnea(armature, work, s.q, s.v, s.a, tau);
    rnea(mass, other, s.q, s.v, s.a, expected);
    EXPECT_LT(relative(tau, expected), kTolerance);
    EXPECT_TRUE(aba(armature, work, s.q, s.v, tau, a).ok());
    EXPECT_LT(relative(a, s.a), 1e3 * kEps);
  }
  // It has no weight.
  const Model<double> falling = free_body(Vector3<double>(0, 0, -9.81));
  Workspace<double> work_falling(falling);
  VectorX<double> g(6), g_bare(6);
  gravity(falling, work_falling, falling.neutral(), g);
  bias(falling, work_falling, falling.neutral(), VectorX<double>::Zero(6), g_bare, kNone);
  EXPECT_EQ(g, g_bare);
  EXPECT_DOUBLE_EQ(g[2], 2 * 9.81);
}

TEST(External, WrenchesActThroughFrameJacobians) {
  for (const Sample& s : testing::samples(8)) {
    SCOPED_TRACE(s.name);
    Workspace<double> work(s.model);
    testing::Random random(5);
    std::vector<FrameWrench<double>> external;
    for (std::size_t f = 0; f < s.model.frames().size(); f += 3) {
      external.push_back({FrameId(static_cast<int>(f)), random.force<double>(10)});
    }
    VectorX<double> tau(s.v.size()), a(s.v.size());
    rnea(s.model, work, s.q, s.v, s.a, external, tau, kNone);
    EXPECT_LT(relative(tau, book::rnea<double>(s.model, s.q, s.v, s.a, external)), kTolerance);
    EXPECT_TRUE(aba(s.model, work, s.q, s.v, tau, external, a, kNone).ok());
    EXPECT_LT(relative(a, s.a), 1e4 * kEps);
    // The next call is unaffected.
    rnea(s.model, work, s.q, s.v, s.a, tau, kNone);
    EXPECT_LT(relative(tau, book::rnea<double>(s.model, s.q, s.v, s.a)), kTolerance);
  }
}

// A massless link at the tip: its joint has no inertia.
TEST(Aba, ReportsASingularMassMatrix) {
  Description<double> robot = testing::random_tree(
      3, {.joints = 4, .types = {JointType::revolute}, .root = JointType::fixed});
  JointDescription<double> tip;
  tip.name = "tip";
  tip.type = JointType::revolute;
  tip.parent = robot.links.back().name;
  tip.child = "massless";
  tip.axis = {0, 0, 1};
  robot.joints.push_back(tip);
  LinkDescription<double> link;
  link.name = "massless";
  robot.links.push_back(link);
  const Model<double> model = build_model(robot);
  Workspace<double> work(model);
  const int n = model.uncoupled_nv();
  const VectorX<double> zero = VectorX<double>::Zero(n);
  VectorX<double> a(n);
  EXPECT_EQ(aba(model, work, zero, zero, zero, a).velocity,
            model.body(model.find_body("tip")).v_start);
  EXPECT_TRUE(a.array().isNaN().all());
}

TEST(Rnea, NamesTheArgumentOfTheWrongSize) {
  const Model<double> model = load_model("builtin:quadruped");
  Workspace<double> work(model);
  VectorX<double> q(model.uncoupled_nq()), v(model.uncoupled_nv()), tau(model.uncoupled_nv()),
      short_q(model.uncoupled_nq() - 1);
  EXPECT_EQ(testing::message([&] { rnea(model, work, short_q, v, v, tau); }),
            "rnea: q has 18 entries, expected 19 (a free joint needs 7 numbers in q but 6 in v)");
  EXPECT_EQ(testing::message([&] { aba(model, work, q, v, q, tau); }),
            "aba: tau has 19 entries, expected 18 (a free joint needs 7 numbers in q but 6 in v)");
  MatrixX<double> M(18, 17);
  EXPECT_EQ(testing::message([&] { crba(model, work, q, M); }),
            "crba: M is 18 x 17, expected 18 x 18");
}

}  // namespace
}  // namespace limb
