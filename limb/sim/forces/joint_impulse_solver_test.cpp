// Exact friction and hard stops: closed forms of sliding and stopping, and the laws on random
// robots.
#include "limb/sim/forces/joint_impulse_solver.hpp"

#include <gtest/gtest.h>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/recursive/crba.hpp"
#include "limb/dynamics/testing/allocations.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/max_abs.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/core/load.hpp"
#include "limb/sim/world/simulation.hpp"

namespace limb {
namespace {

using testing::message;
using Vector = VectorX<double>;

constexpr WorldOptions kExact = {WorldOptions::Friction::exact, WorldOptions::Stops::hard};

RobotBuilder<double> block(double friction) {
  RobotBuilder<double> robot("block");
  robot.gravity({0, 0, 0}).link("block", 2, {0, 0, 0}, Eigen::Matrix3d::Identity());
  robot.joint("rail", Joint<double>::prismatic({1, 0, 0}), "world", "block").drive(0, friction, 0);
  return robot;
}

struct Slide {
  double q, v;
};
Slide slide(World& world, IntegrationMethod method, double v, double force, double t) {
  Simulation simulation(world, {method, 1e-3});
  simulation.set_state(0, Vector::Zero(1), Vector::Constant(1, v));
  simulation.set_controller([=](const ControlInput&, Vector& tau) { tau[0] = force; });
  simulation.run_until(t);
  return {simulation.state().q[0], simulation.state().v[0]};
}

// 2 kg, 3 N of friction, 1.2 m/s: at rest after m v^2 / 2 f = 0.48 m.
TEST(ExactFriction, SlidesTheClosedFormDistanceAndStays) {
  World world(block(3).build(), kExact);
  const Slide end = slide(world, IntegrationMethod::semi_implicit_euler, 1.2, 0, 2);
  EXPECT_NEAR(end.q, 0.48, 1.2 * 1e-3);  // order 1: half a step of the first velocity
  EXPECT_NEAR(end.v, 0, 1e-17);
  const Slide later = slide(world, IntegrationMethod::semi_implicit_euler, 1.2, 0, 10);
  EXPECT_NEAR(later.q, end.q, 1e-15);
}

TEST(ExactFriction, SticksBelowItsLimitAndSlidesAbove) {
  World world(block(3).build(), kExact);
  // Rounding of each of 5000 steps: about 1e-19 m.
  EXPECT_NEAR(slide(world, IntegrationMethod::semi_implicit_euler, 0, 2.999, 5).q, 0, 1e-15);
  EXPECT_NEAR(slide(world, IntegrationMethod::semi_implicit_euler, 0, 5, 1).v, 1,
              1e-12);  // (5 - 3) / 2
  WorldOptions stiction = kExact;
  stiction.curve.static_ratio = 1.5;
  World sticky(block(3).build(), stiction);
  EXPECT_NEAR(slide(sticky, IntegrationMethod::semi_implicit_euler, 0, 4.4, 5).q, 0, 1e-15);
  EXPECT_GT(slide(sticky, IntegrationMethod::semi_implicit_euler, 0, 4.6, 5).v, 1);
  EXPECT_GT(slide(sticky, IntegrationMethod::semi_implicit_euler, 1, 4.4, 5).v,
            1);  // already moving
}

TEST(SmoothFriction, AgreesWithExactFrictionWhileSlidingAndCreepsAtRest) {
  World smooth(block(3).build());
  const Slide end = slide(smooth, IntegrationMethod::runge_kutta_4, 1.2, 0, 0.5);
  EXPECT_NEAR(end.v, 1.2 - 1.5 * 0.5, 1e-9);
  // At rest: f tanh(v / v_0) = F, v_0 = 1e-3.
  const Slide creep = slide(smooth, IntegrationMethod::implicit_midpoint, 0, 1.5, 1);
  EXPECT_NEAR(creep.v, 1e-3 * std::atanh(0.5), 1e-9);
}

TEST(HardStops, StopAndRebound) {
  RobotBuilder<double> robot("weight");
  robot.link("w", 2, {0, 0, 0}, Eigen::Matrix3d::Identity());
  robot.joint("z", Joint<double>::prismatic({0, 0, 1}), "world", "w");
  DofLimits<double> limits;
  limits.lower = -0.5;
  robot.limits({limits});
  World world(robot.build(), kExact);
  const Slide end = slide(world, IntegrationMethod::semi_implicit_euler, 0, 0, 2);
  EXPECT_NEAR(end.q, -0.5, 1e-15);
  EXPECT_NEAR(end.v, 0, 1e-12);  // rounding of the position over the step

  WorldOptions elastic = kExact;
  elastic.restitution = 0.6;
  World bouncing(robot.build(), elastic);
  Simulation simulation(bouncing, {IntegrationMethod::semi_implicit_euler, 1e-4});
  double before = 0;
  Worst highest;
  bool hit = false;
  for (int i = 1; i <= 7000; ++i) {
    simulation.run_until(1e-4 * i);
    const double v = simulation.state().v[0];
    hit = hit || v > before + 0.1;
    before = v;
    if (hit) highest.add(simulation.state().q[0]);
  }
  EXPECT_NEAR(highest.value() + 0.5, 0.36 * 0.5, 1e-3);  // e^2 of the drop height; order 1
}

// Robots with friction on every joint and given velocities: the impulses obey every law.
TEST(JointImpulseSolver, ImpulsesObeyTheirLaws) {
  int stuck = 0, slipping = 0;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    Description<double> robot = testing::random_tree(seed, {.joints = 11});
    for (auto& joint : robot.joints) joint.friction = 2;
    const auto s = testing::sample_of("tree", build_model(robot, Base::free), seed);
    const int n = s.model.nv();
    JointImpulseSolver solver(s.model, {.stops = false});
    Workspace<double> work(s.model);
    RobotState<double> before = make_state(s.model);
    before.q = s.q;
    before.v = 0.02 * s.v;
    const double h = 1e-2;
    const Vector free = before.v + h * 2 * s.tau;
    Vector v = free;
    solver.apply(s.model, work, before, h, v);
    MatrixX<double> M(n, n);
    crba(s.model, work, s.q, M);
    const Vector p = M * (v - free);
    const auto& friction = s.model.canonical().friction;
    for (int i = 0; i < n; ++i) {
      const double bound = h * friction[i];
      // Sums over the mass matrix, whose entries are up to 100.
      EXPECT_LE(std::abs(p[i]), bound + 1e-11) << seed << ", " << i;
      if (friction[i] == 0) continue;
      if (std::abs(p[i]) < bound - 1e-9) {
        EXPECT_NEAR(v[i], 0, 1e-12) << seed << ", " << i;
        ++stuck;
      } else {
        EXPECT_LE(v[i] * p[i], 1e-13) << seed << ", " << i;  // opposes the motion
        ++slipping;
      }
    }
  }
  EXPECT_GT(stuck, 20);
  EXPECT_GT(slipping, 20);
}

// An arm held only by friction does not move at all, nor does a coupled leg.
TEST(JointImpulseSolver, HoldsRobotsAtRest) {
  for (const char* name : {"builtin:arm7", "builtin:belt-leg", "builtin:2r"}) {
    Description<double> robot = load_description(name);
    for (auto& joint : robot.joints) joint.friction = 80;
    World world(build_model(robot), kExact);
    Simulation simulation(world, {});
    RobotState<double> s = world.initial_state();
    s.q.setConstant(0.6);
    simulation.set_state(0, s.q, s.v);
    simulation.run_until(1);
    EXPECT_LT(max_abs(simulation.state().q - s.q), 1e-13) << name;
    EXPECT_LT(max_abs(simulation.state().v), 1e-13) << name;
  }
}

TEST(JointImpulseSolver, DoesNotAllocate) {
  if (!testing::kCountsAllocations) GTEST_SKIP() << "sanitizers replace the allocator";
  Description<double> robot = load_description("builtin:arm7");
  for (auto& joint : robot.joints) joint.friction = 1;
  World world(build_model(robot), kExact);
  Simulation simulation(world, {});
  simulation.run_until(0.01);
  EXPECT_EQ(testing::allocations([&] { simulation.run_until(0.05); }), 0);
}

TEST(JointImpulseSolver, InvalidParametersAreRejected) {
  const Model<double> model = block(1).build();
  EXPECT_EQ(message([&] { JointImpulseSolver(model, {.curve = {.static_ratio = 0.5}}); }),
            "JointImpulseSolver: static_ratio is 0.5, expected >= 1 and finite");
  EXPECT_EQ(message([&] { JointImpulseSolver(model, {.restitution = 1.5}); }),
            "JointImpulseSolver: restitution is 1.5, expected 0 to 1");
}

}  // namespace
}  // namespace limb
