// Strict task priorities: lower tasks never degrade higher ones, and for compatible tasks weights
// and priorities agree.
#include <gtest/gtest.h>

#include <random>

#include "limb/base/testing/worst.hpp"
#include "limb/control/testing/legged_robots.hpp"
#include "limb/control/whole_body/whole_body.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/dynamics/testing/allocations.hpp"

namespace limb {
namespace {

using testing::LeggedRobot;

class WholeBodyPriority : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Qp::available()) GTEST_SKIP() << "limb was built without a solver of quadratic programs";
  }
  template <typename Vector>
  void fill(Vector&& x, double size) {
    for (auto& entry : x.reshaped()) entry = size * unit_(engine_);
  }
  void fill_state(const LeggedRobot& robot, VectorX<double>& q, VectorX<double>& v) {
    VectorX<double> dq(v.size());
    fill(dq, 0.1);
    fill(v, 0.2);
    integrate(robot.model, robot.q, dq, q);
  }
  void fill_targets(WholeBodyTargets& targets, double com, double turn) {
    fill(targets.mass_center, com);
    fill(targets.turn, turn);
    fill(targets.posture, 20);
    for (auto& foot : targets.feet) fill(foot.acceleration.v, 5);
  }

  std::mt19937_64 engine_{31};
  std::uniform_real_distribution<double> unit_{-1, 1};
};

WholeBodyOptions ordered() {
  WholeBodyOptions options;
  options.priority = {.mass_center = 0, .turn = 1, .swing = 1, .posture = 2, .force = 2};
  return options;
}

/// Task accelerations of the last solve, of the first two tasks.
struct TaskAccelerations {
  Vector3<double> mass_center, turn;
};
TaskAccelerations task_accelerations(const LeggedRobot& robot, const WholeBody& body,
                                     const VectorX<double>& q, const VectorX<double>& v) {
  Kinematics<double> kinematics(robot.model);
  const VectorX<double>& a = body.acceleration();
  // By finite differences of velocities: (q, v) one step before and after.
  const double h = 1e-5;
  VectorX<double> q_after = q, q_before = q;
  integrate(robot.model, q, VectorX<double>(h * v + h * h / 2 * a), q_after);
  integrate(robot.model, q, VectorX<double>(-h * v + h * h / 2 * a), q_before);
  const auto velocities = [&](const VectorX<double>& at, const VectorX<double>& speed) {
    forward_kinematics(robot.model, at, speed, kinematics);
    return TaskAccelerations{center_of_mass_velocity(robot.model, kinematics),
                             kinematics.X_WB[1].R * kinematics.V_WB_B[1].w};
  };
  const TaskAccelerations after = velocities(q_after, v + h * a),
                          before = velocities(q_before, v - h * a);
  return {(after.mass_center - before.mass_center) / (2 * h), (after.turn - before.turn) / (2 * h)};
}

// The target of the mass centre exceeds the friction limit, sometimes with a swing foot. Its result
// does not depend on lower targets, and is at least as good as with weights.
TEST_F(WholeBodyPriority, LowerTasksDoNotAffectHigherOnes) {
  for (const LeggedRobot& robot : {testing::quadruped(), testing::humanoid()}) {
    WholeBody strict(robot.model, robot.feet, ordered()), weighted(robot.model, robot.feet);
    VectorX<double> q = robot.q, v(robot.model.nv());
    Worst most_degraded, most_moved, gained;
    int unsolved = 0, most = 0;
    for (int trial = 0; trial < 40; ++trial) {
      fill_state(robot, q, v);
      WholeBodyTargets targets = strict.targets();
      fill_targets(targets, 8, 20);
      if (trial % 3 == 0 && robot.feet.size() > 2) targets.feet[1].stands = false;
      strict.update(q, v);
      strict.solve(targets);
      ASSERT_EQ(strict.report().levels, 3) << trial << ": " << to_text(strict.report().status);
      unsolved += strict.report().status == Status::ok ? 0 : 1;
      most = std::max<int>(most, strict.report().iterations);
      const TaskAccelerations first = task_accelerations(robot, strict, q, v);

      weighted.update(q, v);
      weighted.solve(targets);
      ASSERT_EQ(weighted.report().status, Status::ok) << trial;
      const double degraded =
          (first.mass_center - targets.mass_center).norm() -
          (task_accelerations(robot, weighted, q, v).mass_center - targets.mass_center).norm();
      most_degraded.add(degraded);
      gained.add(-degraded);

      // Other lower-priority targets.
      const Vector3<double> same = targets.mass_center;
      fill_targets(targets, 0, 40);
      targets.mass_center = same;
      strict.solve(targets);
      ASSERT_EQ(strict.report().levels, 3) << trial << ": " << to_text(strict.report().status);
      const TaskAccelerations second = task_accelerations(robot, strict, q, v);
      most_moved.add((second.mass_center - first.mass_center).norm());
    }
    std::printf(
        "%s: mass centre moved by %.1e m/s^2 by other tasks, at most %.1e worse and %.2f "
        "better than by weights; %d stopped early, most iterations %d\n",
        robot.model.name().c_str(), most_moved.value(), most_degraded.value(), gained.value(),
        unsolved, most);
    // Tolerances of 1e-6 in the units of the program: a gradient of that size over the weight of
    // the task, 10, and the smallest curvature, times the condition of active constraints. Measured
    // 3e-5.
    EXPECT_LT(most_degraded.value(), 1e-3);
    EXPECT_LT(most_moved.value(), 1e-3);
    EXPECT_GT(gained.value(), 0.05);  // the priorities made a difference
    // The last levels, where the limits leave almost no freedom; constraints still hold.
    EXPECT_LE(unsolved, 4);
  }
}

// The result of the second level does not depend on the target of the posture.
TEST_F(WholeBodyPriority, PostureDoesNotAffectTheBase) {
  const LeggedRobot robot = testing::quadruped();
  WholeBody strict(robot.model, robot.feet, ordered());
  VectorX<double> q = robot.q, v(robot.model.nv());
  for (int trial = 0; trial < 20; ++trial) {
    fill_state(robot, q, v);
    WholeBodyTargets targets = strict.targets();
    fill_targets(targets, 8, 20);
    strict.update(q, v);
    strict.solve(targets);
    const TaskAccelerations first = task_accelerations(robot, strict, q, v);
    fill(targets.posture, 100);
    strict.solve(targets);
    ASSERT_EQ(strict.report().levels, 3);
    EXPECT_LT((task_accelerations(robot, strict, q, v).turn - first.turn).norm(), 1e-3) << trial;
    EXPECT_LE(strict.report().outside_cone, 2e-6 * 9.81 * robot.model.total_mass());
    EXPECT_LE(strict.report().over_limit, 2e-6 * 9.81 * robot.model.total_mass());
  }
}

// Compatible targets: weights and priorities find the motion that satisfies all of them.
TEST_F(WholeBodyPriority, CompatibleTasksAreAllSatisfied) {
  const LeggedRobot robot = testing::quadruped();
  WholeBody strict(robot.model, robot.feet, ordered()), weighted(robot.model, robot.feet);
  VectorX<double> q = robot.q, v(robot.model.nv());
  for (int trial = 0; trial < 20; ++trial) {
    fill_state(robot, q, v);
    WholeBodyTargets targets = weighted.targets();
    fill_targets(targets, 1, 1);
    weighted.update(q, v);
    weighted.solve(targets);
    ASSERT_EQ(weighted.report().status, Status::ok);
    // Its result is the next target.
    const TaskAccelerations now = task_accelerations(robot, weighted, q, v);
    const VectorX<double> a = weighted.acceleration();
    const Matrix3X<double> f = weighted.forces();
    targets.mass_center = now.mass_center;
    targets.turn = now.turn;
    targets.posture = a;
    for (std::size_t i = 0; i < 4; ++i) {
      targets.feet[i].force = f.col(static_cast<Eigen::Index>(i));
    }
    weighted.solve(targets);
    strict.update(q, v);
    strict.solve(targets);
    ASSERT_EQ(strict.report().levels, 3);
    // Posture and forces have the weight 0.001: the tolerance divided by it, and differences of
    // 1e-5 s.
    const double allowed = 5e-3;
    EXPECT_LT((weighted.acceleration() - a).norm(), allowed) << trial;
    EXPECT_LT((strict.acceleration() - a).norm(), allowed) << trial;
    EXPECT_LT((strict.forces() - f).norm(), 1e-3 * 9.81 * robot.model.total_mass()) << trial;
  }
}

TEST_F(WholeBodyPriority, StepsDoNotAllocate) {
  if (!testing::kCountsAllocations) GTEST_SKIP() << "sanitizers replace the allocator";
  const LeggedRobot robot = testing::quadruped();
  WholeBody strict(robot.model, robot.feet, ordered());
  VectorX<double> q = robot.q, v(robot.model.nv());
  WholeBodyTargets targets = strict.targets();
  for (int step = 0; step < 300; ++step) {
    fill_state(robot, q, v);
    fill_targets(targets, 8, 20);
    for (auto& foot : targets.feet) foot.stands = unit_(engine_) > -0.5;
    EXPECT_EQ(testing::allocations([&] {
                strict.update(q, v);
                strict.solve(targets);
              }),
              0)
        << step;
  }
}

}  // namespace
}  // namespace limb
