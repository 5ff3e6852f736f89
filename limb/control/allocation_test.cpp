// Control steps that solve quadratic programs do not allocate, over thousands of steps in which
// contacts change, targets are out of reach and programs are infeasible.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "limb/control/locomotion/locomotion.hpp"
#include "limb/control/testing/legged_robots.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/testing/allocations.hpp"

namespace limb {
namespace {

class ControlAllocation : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Qp::available()) GTEST_SKIP() << "limb was built without a solver of quadratic programs";
    if (!testing::kCountsAllocations) GTEST_SKIP() << "sanitizers replace the allocator";
  }
  double uniform() { return unit_(engine_); }
  template <typename Vector>
  void fill(Vector&& x, double size) {
    for (auto& entry : x.reshaped()) entry = size * uniform();
  }

  std::mt19937_64 engine_{17};
  std::uniform_real_distribution<double> unit_{-1, 1};
};

// The sizes of whole-body and MPC programs; most constraints are active, many programs are
// infeasible, and each differs much from the one before.
TEST_F(ControlAllocation, RandomProgramsDoNotAllocate) {
  long solved = 0, infeasible = 0;
  for (const auto& [n, e, m] :
       {std::array{30, 18, 44}, {61, 18, 102}, {60, 0, 100}, {120, 0, 200}}) {
    Qp qp(n, e, m);
    MatrixX<double> L(n, n);
    for (int trial = 0; trial < 40; ++trial) {
      fill(L, 1);
      qp.H() = L * L.transpose() / n + 0.01 * MatrixX<double>::Identity(n, n);
      fill(qp.A(), 1);
      fill(qp.C(), 1);
      fill(qp.g(), 5);
      fill(qp.b(), 0.1);
      for (int i = 0; i < m; ++i) {
        const double middle = (trial % 4 == 3 ? 2 : 0.3) * uniform();
        qp.lower()[i] = i % 3 == 0 ? -std::numeric_limits<double>::infinity() : middle - 1;
        qp.upper()[i] = middle + 1;
      }
      Status status = Status::not_finite;
      EXPECT_EQ(testing::allocations([&] { status = qp.solve(); }), 0) << n << ", " << trial;
      EXPECT_EQ(testing::allocations([&] { qp.residuals(); }), 0);
      solved += status == Status::ok ? 1 : 0;
      infeasible += status == Status::primal_infeasible ? 1 : 0;
    }
  }
  EXPECT_GT(solved, 40);
  EXPECT_GT(infeasible, 5);
}

TEST_F(ControlAllocation, WholeBodyStepsDoNotAllocate) {
  for (const testing::LeggedRobot& robot : {testing::quadruped(), testing::humanoid()}) {
    const int n = robot.model.nv();
    WholeBody body(robot.model, robot.feet);
    WholeBodyTargets targets = body.targets();
    VectorX<double> q = robot.q, dq(n), v(n);
    long changes = 0, most = 0;
    for (int step = 0; step < 1000; ++step) {
      fill(dq, 0.1);
      fill(v, 0.3);
      integrate(robot.model, robot.q, dq, q);
      fill(targets.mass_center, 8);  // often beyond the friction limit
      fill(targets.turn, 5);
      fill(targets.posture, 5);
      for (auto& foot : targets.feet) {
        const bool stands = uniform() > -0.4;
        changes += stands != foot.stands ? 1 : 0;
        foot.stands = stands;
        fill(foot.acceleration.v, 3);
      }
      if (step % 100 == 99) targets.mass_center.x() = std::nan("");
      EXPECT_EQ(testing::allocations([&] {
                  body.update(q, v);
                  body.solve(targets);
                }),
                0)
          << step;
      EXPECT_EQ(body.report().fell_back, step % 100 == 99) << step;
      most = std::max<long>(most, body.report().iterations);
    }
    EXPECT_GT(changes, 500);
    std::printf("%s: 1000 steps, %ld contact changes, at most %ld iterations\n",
                robot.model.name().c_str(), changes, most);
  }
}

TEST_F(ControlAllocation, LocomotionStepsDoNotAllocate) {
  const testing::LeggedRobot robot = testing::quadruped();
  Locomotion walk(robot.model, robot.feet, robot.q);
  walk.set_gait(Gait::trot());
  const Gait other = Gait::walk();
  BaseState base;
  base.X_WB.p.z() = robot.q[2];
  const VectorX<double> q = robot.q.tail(12);
  VectorX<double> v(12);
  bool contact[4];
  int predictions = 0;
  for (int step = 0; step < 1000; ++step) {
    for (bool& touches : contact) touches = uniform() > 0;
    fill(v, 0.3);
    fill(base.V_WB_B.v, 0.3);
    const VelocityCommand command{uniform(), uniform(), uniform()};
    if (step == 500) walk.set_gait(other);
    EXPECT_EQ(testing::allocations([&] { walk.step(base, q, v, contact, command); }), 0) << step;
    predictions += walk.report().mpc_ran ? 1 : 0;
  }
  EXPECT_GT(predictions, 100);
}

}  // namespace
}  // namespace limb
