// Tasks in the order of their priority: those behind never cost those before anything, and where
// all can be had, weights and priorities agree.
#include <gtest/gtest.h>

#include <random>

#include "limb/control/testing/legged_robots.hpp"
#include "limb/control/whole_body.hpp"
#include "limb/dynamics/manifold.hpp"
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
  void fill_wishes(WholeBodyTargets& wanted, double com, double turn) {
    fill(wanted.mass_center, com);
    fill(wanted.turn, turn);
    fill(wanted.posture, 20);
    for (auto& foot : wanted.feet) fill(foot.acceleration.v, 5);
  }

  std::mt19937_64 engine_{31};
  std::uniform_real_distribution<double> unit_{-1, 1};
};

WholeBodyOptions ordered() {
  WholeBodyOptions options;
  options.priority = {.mass_center = 0, .turn = 1, .swing = 1, .posture = 2, .force = 2};
  return options;
}

/// What the accelerations of the last solve are for the first two tasks.
struct Reached {
  Vector3<double> mass_center, turn;
};
Reached reached(const LeggedRobot& robot, const WholeBody& body, const VectorX<double>& q,
                const VectorX<double>& v) {
  Kinematics<double> kinematics(robot.model);
  const VectorX<double>& a = body.acceleration();
  // By the difference of velocities: (q, v) half a step before and after.
  const double h = 1e-5;
  VectorX<double> q_after = q, q_before = q;
  integrate(robot.model, q, VectorX<double>(h * v + h * h / 2 * a), q_after);
  integrate(robot.model, q, VectorX<double>(-h * v + h * h / 2 * a), q_before);
  const auto velocities = [&](const VectorX<double>& at, const VectorX<double>& speed) {
    forward_kinematics(robot.model, at, speed, kinematics);
    return Reached{center_of_mass_velocity(robot.model, kinematics),
                   kinematics.X_WB[1].R * kinematics.V_WB_B[1].w};
  };
  const Reached after = velocities(q_after, v + h * a), before = velocities(q_before, v - h * a);
  return {(after.mass_center - before.mass_center) / (2 * h), (after.turn - before.turn) / (2 * h)};
}

// The mass centre is asked for more than friction allows, with a foot in the air now and then.
// Whatever is wanted behind it, it gets the same, and no less than by any weights.
TEST_F(WholeBodyPriority, LowerTasksNeverCostHigherOnes) {
  for (const LeggedRobot& robot : {testing::quadruped(), testing::humanoid()}) {
    WholeBody strict(robot.model, robot.feet, ordered()), weighted(robot.model, robot.feet);
    VectorX<double> q = robot.q, v(robot.model.velocity_size());
    double most_lost = 0, most_moved = 0, gained = 0;
    int unsolved = 0, most = 0;
    for (int trial = 0; trial < 40; ++trial) {
      fill_state(robot, q, v);
      WholeBodyTargets wanted = strict.targets();
      fill_wishes(wanted, 8, 20);
      if (trial % 3 == 0 && robot.feet.size() > 2) wanted.feet[1].stands = false;
      strict.update(q, v);
      strict.solve(wanted);
      ASSERT_EQ(strict.report().levels, 3) << trial << ": " << to_text(strict.report().status);
      unsolved += strict.report().status == QpStatus::solved ? 0 : 1;
      most = std::max(most, strict.report().iterations);
      const Reached first = reached(robot, strict, q, v);

      weighted.update(q, v);
      weighted.solve(wanted);
      ASSERT_EQ(weighted.report().status, QpStatus::solved) << trial;
      const double lost = (first.mass_center - wanted.mass_center).norm() -
                          (reached(robot, weighted, q, v).mass_center - wanted.mass_center).norm();
      most_lost = std::max(most_lost, lost);
      gained = std::max(gained, -lost);

      // Other wishes behind it.
      const Vector3<double> same = wanted.mass_center;
      fill_wishes(wanted, 0, 40);
      wanted.mass_center = same;
      strict.solve(wanted);
      ASSERT_EQ(strict.report().levels, 3) << trial << ": " << to_text(strict.report().status);
      const Reached second = reached(robot, strict, q, v);
      most_moved = std::max(most_moved, (second.mass_center - first.mass_center).norm());
    }
    std::printf(
        "%s: mass centre moved by %.1e m/s^2 by other tasks, at most %.1e worse and %.2f "
        "better than by weights; %d stopped early, most iterations %d\n",
        robot.model.name().c_str(), most_moved, most_lost, gained, unsolved, most);
    // Tolerances of 1e-6 in the units of the program: a gradient of that size over the weight of
    // the task, 10, and the smallest curvature, times the condition of active constraints. Measured
    // 3e-5.
    EXPECT_LT(most_lost, 1e-3);
    EXPECT_LT(most_moved, 1e-3);
    EXPECT_GT(gained, 0.05);  // there was something to win
    // The last levels, where limits leave next to nothing free; constraints are kept all the same.
    EXPECT_LE(unsolved, 4);
  }
}

// Between the levels: what the second has reached with the posture behind it is what it reaches
// whatever the posture wants.
TEST_F(WholeBodyPriority, PostureDoesNotTurnTheBase) {
  const LeggedRobot robot = testing::quadruped();
  WholeBody strict(robot.model, robot.feet, ordered());
  VectorX<double> q = robot.q, v(robot.model.velocity_size());
  for (int trial = 0; trial < 20; ++trial) {
    fill_state(robot, q, v);
    WholeBodyTargets wanted = strict.targets();
    fill_wishes(wanted, 8, 20);
    strict.update(q, v);
    strict.solve(wanted);
    const Reached first = reached(robot, strict, q, v);
    fill(wanted.posture, 100);
    strict.solve(wanted);
    ASSERT_EQ(strict.report().levels, 3);
    EXPECT_LT((reached(robot, strict, q, v).turn - first.turn).norm(), 1e-3) << trial;
    EXPECT_LE(strict.report().outside_cone, 2e-6 * 9.81 * robot.model.total_mass());
    EXPECT_LE(strict.report().over_limit, 2e-6 * 9.81 * robot.model.total_mass());
  }
}

// Wishes that one motion satisfies at once: it is found by weights and by priorities.
TEST_F(WholeBodyPriority, CompatibleTasksAreAllKept) {
  const LeggedRobot robot = testing::quadruped();
  WholeBody strict(robot.model, robot.feet, ordered()), weighted(robot.model, robot.feet);
  VectorX<double> q = robot.q, v(robot.model.velocity_size());
  for (int trial = 0; trial < 20; ++trial) {
    fill_state(robot, q, v);
    WholeBodyTargets wanted = weighted.targets();
    fill_wishes(wanted, 1, 1);
    weighted.update(q, v);
    weighted.solve(wanted);
    ASSERT_EQ(weighted.report().status, QpStatus::solved);
    // What it came to is the next wish.
    const Reached now = reached(robot, weighted, q, v);
    const VectorX<double> a = weighted.acceleration();
    const Matrix3X<double> f = weighted.forces();
    wanted.mass_center = now.mass_center;
    wanted.turn = now.turn;
    wanted.posture = a;
    for (std::size_t i = 0; i < 4; ++i) {
      wanted.feet[i].force = f.col(static_cast<Eigen::Index>(i));
    }
    weighted.solve(wanted);
    strict.update(q, v);
    strict.solve(wanted);
    ASSERT_EQ(strict.report().levels, 3);
    // Posture and forces have the weight 0.001: the tolerance over it, and differences of 1e-5 s.
    const double allowed = 5e-3;
    EXPECT_LT((weighted.acceleration() - a).norm(), allowed) << trial;
    EXPECT_LT((strict.acceleration() - a).norm(), allowed) << trial;
    EXPECT_LT((strict.forces() - f).norm(), 1e-3 * 9.81 * robot.model.total_mass()) << trial;
  }
}

TEST_F(WholeBodyPriority, StepsTakeNothingFromTheHeap) {
  if (!testing::kCountsAllocations) GTEST_SKIP() << "sanitizers bring an allocator of their own";
  const LeggedRobot robot = testing::quadruped();
  WholeBody strict(robot.model, robot.feet, ordered());
  VectorX<double> q = robot.q, v(robot.model.velocity_size());
  WholeBodyTargets wanted = strict.targets();
  for (int step = 0; step < 300; ++step) {
    fill_state(robot, q, v);
    fill_wishes(wanted, 8, 20);
    for (auto& foot : wanted.feet) foot.stands = unit_(engine_) > -0.5;
    EXPECT_EQ(testing::allocations([&] {
                strict.update(q, v);
                strict.solve(wanted);
              }),
              0)
        << step;
  }
}

}  // namespace
}  // namespace limb
