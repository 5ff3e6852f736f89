#include "limb/dynamics/constraints/actuation.hpp"

#include <gtest/gtest.h>

#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/dynamics/testing/state.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using Vector = VectorX<double>;
using Matrix = MatrixX<double>;
using testing::Sample;

constexpr double kEps = std::numeric_limits<double>::epsilon();

Sample quadruped() {
  return testing::sample_of("quadruped", load_model("builtin:quadruped"), 4);
}
/// The last bodies of the legs.
std::vector<Contact<double>> feet(int count) {
  std::vector<Contact<double>> contacts;
  for (int i = 0; i < count; ++i) {
    Contact<double> foot{BodyId(4 + 3 * i)};
    foot.X_FC.p = {0, 0, -0.2};
    contacts.push_back(foot);
  }
  return contacts;
}

TEST(Actuation, SelectionLeavesTheBaseOut) {
  const Sample s = quadruped();
  EXPECT_EQ(motor_count(s.model), 12);
  EXPECT_EQ(base_size(s.model), 6);
  Matrix S = Matrix::Constant(12, 18, 7), expected = Matrix::Zero(12, 18);
  selection_matrix(s.model, S);
  expected.rightCols(12) = Matrix::Identity(12, 12);
  EXPECT_EQ(S, expected);
  EXPECT_EQ(testing::message([&] { selection_matrix(s.model, S.topRows(6)); }),
            "selection_matrix: S is 6 x 18, expected 12 x 18");
}

// A motor on a follower joint drives the joints that it follows. If the file lists any actuators,
// joints without one are unactuated.
TEST(Actuation, CoupledJointsWithMotors) {
  Description<double> robot = testing::random_tree(
      5, {.joints = 5, .types = {JointType::revolute}, .root = JointType::fixed});
  const auto name = [&](std::size_t i) { return robot.joints[i].name; };
  robot.couplings.push_back({name(3), {{name(0), 2.0}, {name(1), -1.0}}, 0.0, {}});
  robot.actuators.push_back({name(3), 1, {}});
  robot.actuators.push_back({name(4), 1, {}});
  const Model<double> model = build_model(robot);
  EXPECT_EQ(model.nv(), 4);
  EXPECT_EQ(motor_count(model), 3);
  Matrix S(3, 4);
  selection_matrix(model, S);
  // Only joint 2 has none.
  const int without = model.coupling()
                          .rows()[static_cast<std::size_t>(model.find_body(name(2)).value() - 1)]
                          .terms[0]
                          .y;
  EXPECT_EQ(S.col(without).norm(), 0);
  EXPECT_EQ(S.sum(), 3);
}

TEST(Actuation, PartitionIsTheWholeEquation) {
  const Sample s = quadruped();
  Workspace<double> work(s.model);
  Matrix M(18, 18), again(18, 18);
  Vector h(18), h_again(18);
  crba(s.model, work, s.q, M);
  bias(s.model, work, s.q, s.v, h);
  BaseJointPartition<double> blocks(s.model);
  base_joint_partition(s.model, M, h, blocks);
  again << blocks.M_bb, blocks.M_bj, blocks.M_bj.transpose(), blocks.M_jj;
  h_again << blocks.h_b, blocks.h_j;
  EXPECT_EQ(again, M);
  EXPECT_EQ(h_again, h);
  EXPECT_EQ(blocks.M_bb.rows(), 6);
}

// Torques and contact forces of the inverse dynamics satisfy the equation of motion.
TEST(Actuation, ResidualOfInverseDynamicsIsZero) {
  const Sample s = quadruped();
  const ConstraintSet<double> set(s.model, feet(4));
  ConstraintWorkspace<double> work(s.model, set);
  Vector a(18), f(12), tau(18), residual(18);
  Vector given = s.tau;
  given.head(6).setZero();
  constrained_forward_dynamics(s.model, set, work, s.q, s.v, given, a, f);
  constrained_inverse_dynamics(s.model, set, work, s.q, s.v, a, tau, f);
  // Points below the last bodies' origins: their forces as wrenches on those bodies' frames.
  Workspace<double> tree(s.model);
  std::vector<FrameWrench<double>> wrenches;
  for (std::size_t i = 0; i < s.model.frames().size(); ++i) {
    const Frame<double>& frame = s.model.frames()[i];
    const int leg = (frame.body.value() - 4) / 3;
    if (frame.body.value() < 4 || (frame.body.value() - 4) % 3 != 0) continue;
    bool first = true;
    for (const auto& w : wrenches) {
      first = first && s.model.frame(w.frame).body != frame.body;
    }
    if (!first) continue;
    const Vector3<double> force = f.segment<3>(3 * leg), p(0, 0, -0.2);
    wrenches.push_back(
        {FrameId(static_cast<int>(i)), frame.X_BF.inv_act(Force<double>{force, p.cross(force)})});
  }
  ASSERT_EQ(wrenches.size(), 4u);
  equation_of_motion_residual(s.model, tree, s.q, s.v, a, tau.tail(12), wrenches, residual);
  // Forces of 1e3 N in cancelling sums; worst seen 1e-12.
  EXPECT_LT(residual.norm(), 1e3 * kEps * (f.norm() + tau.norm() + a.norm()));
  EXPECT_EQ(
      testing::message([&] {
        equation_of_motion_residual(s.model, tree, s.q, s.v, a, tau, wrenches, residual);
      }),
      "equation_of_motion_residual: tau_motors has 18 entries, expected 12 (one for each motor)");
}

// The generalized force of a wrench on the base's six velocities is that wrench moved to the base.
TEST(Actuation, WrenchAtTheBaseIsTheDualAdjoint) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    const Model<double> model = testing::random_robots(seed)[1];
    const testing::State s = testing::random_state(model, seed);
    const auto k = testing::kinematics_at(model, s);
    testing::Random random(seed);
    for (int body = 1; body < model.body_count(); ++body) {
      const AnyFrame<double> frame(BodyId(body), random.pose<double>());
      const Force<double> F = random.force<double>(10);
      Matrix6X<double> J(6, model.nv());
      frame_jacobian(model, k, frame, FrameAxes::local, J);
      const Vector6<double> expected = J.leftCols<6>().transpose() * F.vector();
      const Force<double> at_base = transfer_wrench(model, k, frame, F, BodyId(1));
      // Two changes of frame; worst seen 4 eps.
      EXPECT_LT((at_base.vector() - expected).norm(), 32 * kEps * (1 + expected.norm())) << body;
      const Force<double> back = transfer_wrench(model, k, BodyId(1), at_base, frame);
      EXPECT_LT((back.vector() - F.vector()).norm(), 64 * kEps * (1 + expected.norm())) << body;
    }
  }
}

// Each point contact constrains three of the base's six degrees of freedom, the second one only
// two: the robot can still rotate about the line through both.
TEST(Actuation, UnderactuationCountsConstrainedDirections) {
  const Sample s = quadruped();
  const int expected[] = {6, 3, 1, 0, 0};
  for (int count = 0; count <= 4; ++count) {
    const ConstraintSet<double> set(s.model, feet(count));
    ConstraintWorkspace<double> work(s.model, set);
    const auto report = underactuation(s.model, set, work, s.q);
    EXPECT_EQ(report.velocities, 18);
    EXPECT_EQ(report.motors, 12);
    EXPECT_EQ(report.rows, 3 * count);
    EXPECT_EQ(report.unactuated, (std::vector<int>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(report.rank, 18 - expected[count]) << count;
    ASSERT_EQ(report.free_directions.cols(), expected[count]);
    const Matrix D = report.free_directions;
    EXPECT_LT((D.transpose() * D - Matrix::Identity(D.cols(), D.cols())).norm(), 64 * kEps);
    if (D.cols() > 0) {
      EXPECT_EQ(D.bottomRows(12).norm(), 0);
    }
    Matrix J(set.rows(), 18);
    Vector drift(set.rows());
    constraint_jacobian(s.model, set, work, s.q, Vector::Zero(18), J, drift);
    EXPECT_LT((J * D).norm(), 64 * kEps * (1 + J.norm()));
    if (count != 2) continue;
    Kinematics<double> k(s.model);
    forward_kinematics(s.model, s.q, k);
    const Vector3<double> p(0, 0, -0.2);
    const Vector3<double> line = (k.X_WB[7] * p - k.X_WB[4] * p).normalized();
    const Vector3<double> axis = (k.X_WB[1].R * Vector3<double>(D.block(3, 0, 3, 1))).normalized();
    EXPECT_NEAR(std::abs(line.dot(axis)), 1, 1e4 * kEps);
  }
}

}  // namespace
}  // namespace limb
