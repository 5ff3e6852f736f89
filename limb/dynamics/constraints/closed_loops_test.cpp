// Robots with closed loops: forward dynamics keeps the loops closed, for every joint type, with and
// without couplings.
#include <gtest/gtest.h>

#include <Eigen/QR>

#include "limb/dynamics/constraints/constrained_dynamics.hpp"
#include "limb/dynamics/kinematics/jacobian.hpp"
#include "limb/dynamics/recursive/aba.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/recursive/rnea.hpp"
#include "limb/dynamics/recursive/workspace_data.hpp"
#include "limb/dynamics/robot/proof.hpp"
#include "limb/dynamics/robot/robot.hpp"
#include "limb/dynamics/testing/allocations.hpp"
#include "limb/dynamics/testing/loops.hpp"
#include "limb/dynamics/testing/state.hpp"
#include "limb/math/testing/compare.hpp"

namespace limb {
namespace {

using Vector = VectorX<double>;
using Matrix = MatrixX<double>;
using testing::example_wrenches;
using testing::Sample;

constexpr double kEps = std::numeric_limits<double>::epsilon();

std::vector<Sample> robots() {
  return testing::samples_with_loops(6);
}

/// Worst of all samples: 2e-12 relative. The condition number of J M^-1 J^T of random loops is 1e4
/// to 1e6; the dense system has its square.
constexpr double kTolerance = 1e6 * kEps;

// [M -J^T; J 0] [a; f] = [tau - h; -drift], solved as one dense system by a general decomposition.
TEST(ClosedLoops, AbaSolvesTheWholeSystem) {
  for (const Sample& s : robots()) {
    SCOPED_TRACE(s.name);
    const int n = s.model.nv();
    const ConstraintSet<double> set(s.model, {}, all_loops(s.model));
    ConstraintWorkspace<double> rows(s.model, set);
    const int m = set.rows();
    ASSERT_EQ(m, 16);
    Matrix J(m, n), M(n, n), K = Matrix::Zero(n + m, n + m);
    Vector drift(m), a(n), right(n + m);
    constraint_jacobian(s.model, set, rows, s.q, s.v, J, drift);
    Workspace<double> work(s.model);
    crba(s.model, work, s.q, M);
    // The random state violates the loops, and some rows are redundant: the part of the drift that
    // no acceleration can produce is left out.
    const Vector reachable = J * J.completeOrthogonalDecomposition().solve(drift);
    K << M, -J.transpose(), J, Matrix::Zero(m, m);
    for (const bool pushed : {false, true}) {
      const auto external = example_wrenches(s.model);
      Vector h(n);
      if (pushed) {
        rnea(s.model, work, s.q, s.v, Vector::Zero(n), external, h);
        EXPECT_TRUE(aba(s.model, work, s.q, s.v, s.tau, external, a).ok());
      } else {
        bias(s.model, work, s.q, s.v, h);
        EXPECT_TRUE(aba(s.model, work, s.q, s.v, s.tau, a).ok());
      }
      right << s.tau - h, -reachable;
      const Vector solution = K.completeOrthogonalDecomposition().solve(right);
      EXPECT_LT(testing::relative(a, solution.head(n)), kTolerance);
      EXPECT_LT((J * a + reachable).norm(), kTolerance * (1 + drift.norm()));
    }
  }
}

// A workspace with open loops ignores the loops: the dynamics are those of the tree.
TEST(ClosedLoops, OpenWorkspaceIsTheTree) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    Description<double> robot = testing::random_tree_with_loops(seed, false);
    const Sample s = testing::sample_of("loops", build_model(robot, Base::free), seed);
    testing::remove_loops(robot);
    const Model<double> tree = build_model(robot, Base::free);
    Workspace<double> open(s.model, Loops::open), of_tree(tree);
    Vector a(s.v.size()), expected(s.v.size());
    EXPECT_TRUE(aba(s.model, open, s.q, s.v, s.tau, a).ok());
    EXPECT_TRUE(aba(tree, of_tree, s.q, s.v, s.tau, expected).ok());
    EXPECT_EQ(a, expected);
  }
}

// Copies of a workspace share nothing that is written to.
TEST(ClosedLoops, CopiedWorkspaceIsIndependent) {
  const std::vector<Sample> all = robots();
  const Sample& s = all[0];
  Workspace<double> work(s.model);
  const Workspace<double> copy = work;
  EXPECT_NE(&copy.data(), &work.data());
  EXPECT_NE(&*copy.data().loops, &*work.data().loops);
  Workspace<double> used = copy;
  Vector a(s.v.size()), b(s.v.size());
  EXPECT_TRUE(aba(s.model, work, s.q, s.v, s.tau, a).ok());
  EXPECT_TRUE(aba(s.model, used, s.q, s.v, s.tau, b).ok());
  EXPECT_EQ(a, b);
}

TEST(ClosedLoops, NothingAllocates) {
  if (!testing::kCountsAllocations) GTEST_SKIP() << "sanitizers replace the allocator";
  for (const Sample& s : robots()) {
    Workspace<double> work(s.model);
    const auto external = example_wrenches(s.model);
    Vector a(s.v.size());
    EXPECT_EQ(testing::allocations([&] {
                aba(s.model, work, s.q, s.v, s.tau, a);
                aba(s.model, work, s.q, s.v, s.tau, external, a);
              }),
              0);
  }
}

// Wrenches on frames act as the generalized force J^T F, with contacts too.
TEST(Constrained, ExternalWrenchesAreGeneralizedForces) {
  for (const Sample& s : robots()) {
    SCOPED_TRACE(s.name);
    const int n = s.model.nv();
    Contact<double> foot{BodyId(s.model.body_count() - 1)};
    const ConstraintSet<double> set(s.model, {foot});
    ConstraintWorkspace<double> work(s.model, set);
    const auto external = example_wrenches(s.model);
    Kinematics<double> k(s.model);
    forward_kinematics(s.model, s.q, k);
    Vector tau = s.tau;
    Vector push = Vector::Zero(n);
    for (const FrameWrench<double>& wrench : external) {
      Matrix6X<double> J(6, n);
      frame_jacobian(s.model, k, wrench.frame, FrameAxes::local, J);
      push += J.transpose() * wrench.F_F.vector();
    }
    tau += push;
    Vector a(n), f(3), a_pushed(n), f_pushed(3);
    constrained_forward_dynamics(s.model, set, work, s.q, s.v, tau, a, f);
    constrained_forward_dynamics(s.model, set, work, s.q, s.v, s.tau, external, a_pushed, f_pushed);
    EXPECT_LT(testing::relative(a_pushed, a), kTolerance);
    EXPECT_LT(testing::relative(f_pushed, f), kTolerance);

    // Motors and foot supply M a + h - J^T F on every velocity.
    Vector needed(n), torque(n), force(3);
    Workspace<double> tree(s.model, Loops::open);
    rnea(s.model, tree, s.q, s.v, s.a, external, needed);
    const auto report =
        constrained_inverse_dynamics(s.model, set, work, s.q, s.v, s.a, external, torque, force);
    Matrix J(3, n);
    Vector drift(3);
    constraint_jacobian(s.model, set, work, s.q, s.v, J, drift);
    EXPECT_NEAR((needed - torque - J.transpose() * force).norm(), report.residual,
                kTolerance * (1 + needed.norm()));
  }
}

TEST(ClosedLoops, RobotAndProofCloseThem) {
  const std::vector<Sample> all = robots();
  for (const Sample& s : {all[0], all[1]}) {
    Robot robot(s.model);
    robot.set_state(s.q, s.v);
    Workspace<double> work(s.model);
    Vector a(s.v.size());
    EXPECT_TRUE(aba(s.model, work, s.q, s.v, s.tau, a).ok());
    EXPECT_EQ(robot.forward_dynamics(s.tau), a);
    bool found = false;
    ProofOptions options;
    options.states = 3;
    for (const ProofRow& row : prove(s.model, options)) {
      EXPECT_TRUE(row.holds()) << row.statement << " " << row.worst;
      found = found || row.statement.find("loops") != std::string::npos;
    }
    EXPECT_TRUE(found);
  }
}

}  // namespace
}  // namespace limb
