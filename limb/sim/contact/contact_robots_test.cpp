// Contact on robots: a quadruped that stands, and robots dropped in random poses.
#include <gtest/gtest.h>

#include <numeric>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/kinematics/center_of_mass.hpp"
#include "limb/dynamics/testing/allocations.hpp"
#include "limb/math/testing/max_abs.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/sim/testing/drops.hpp"

namespace limb {
namespace {

using Vector = VectorX<double>;

/// The quadruped on its four feet under PD, dropped from 5 cm.
struct Standing {
  explicit Standing(WorldOptions options = {}) : world(load_model("builtin:quadruped"), options) {
    ContactSetup setup{Ground::plane(), {}, {}};
    const Model<double>& model = world.model();
    for (const char* foot : {"FL_foot", "FR_foot", "RL_foot", "RR_foot"}) {
      setup.shapes.push_back(make_foot(model, model.find_frame(foot), 0.022));
    }
    world.set_contact(std::move(setup));
    simulation = std::make_unique<Simulation>(world, SimulationOptions{.step = 1e-3});
    Vector q = make_state(model).q;
    for (int leg = 0; leg < 4; ++leg) {
      q[7 + 3 * leg + 1] = 0.8;
      q[7 + 3 * leg + 2] = -1.6;
    }
    q[2] = 2 * 0.21 * std::cos(0.8) + 0.022 + 0.05;
    simulation->set_state(0, q, Vector::Zero(18));
    target = q;
    simulation->set_controller([this](const ControlInput& now, Vector& tau) {
      tau.tail(12) = 120 * (target.tail(12) - now.q.tail(12)) - 3 * now.v.tail(12);
    });
  }
  World world;
  std::unique_ptr<Simulation> simulation;
  Vector target;
};

TEST(StandingQuadruped, ForcesBalanceItsWeightAndItDoesNotCreep) {
  Standing robot;
  // The slowest mode of the legs under PD has a time constant of 0.4 s.
  robot.simulation->run_until(8);
  const Vector settled = robot.simulation->state().q;
  const Contacts& contacts = *robot.world.contacts();
  const double weight = robot.world.model().total_mass() * 9.81;
  Worst worst, residual;
  for (int i = 0; i < 100; ++i) {
    robot.simulation->run_until(8 + 0.1 * (i + 1));
    double sum = 0;
    for (const ContactPoint& c : contacts.points()) sum += c.force_W[2];
    worst.add(std::abs(sum / weight - 1));
    residual.add(contacts.report().residual);
    EXPECT_EQ(contacts.report().touching, 4);
    EXPECT_LT(contacts.report().penetration, 1e-4);
  }
  const double creep = max_abs(robot.simulation->state().q - settled);
  std::printf("sum of normal forces / weight - 1: %.1e, creep in 10 s %.1e, residual %.1e m/s\n",
              worst.value(), creep, residual.value());
  EXPECT_LT(worst.value(), 1e-6);
  EXPECT_LT(creep, 1e-8);  // m and rad; required: 1e-4 m
  // The centre of pressure is below the centre of mass.
  Kinematics<double> kinematics(robot.world.model());
  forward_kinematics(robot.world.model(), robot.simulation->state().q, kinematics);
  const Vector3<double> com = center_of_mass(robot.world.model(), kinematics);
  EXPECT_LT((contacts.center_of_pressure() - com).head<2>().norm(), 1e-6);
}

TEST(StandingQuadruped, SameBitsAndNoAllocation) {
  Standing a, b;
  a.simulation->run_until(1);
  b.simulation->run_until(1);
  EXPECT_EQ(a.simulation->state().q, b.simulation->state().q);
  EXPECT_EQ(a.simulation->state().v, b.simulation->state().v);
  // After set_state() the run does not depend on what happened before.
  b.simulation->set_state(0, b.target, Vector::Zero(18));
  b.simulation->run_until(1);
  EXPECT_EQ(a.simulation->state().q, b.simulation->state().q);
  if (!testing::kCountsAllocations) GTEST_SKIP() << "sanitizers replace the allocator";
  EXPECT_EQ(testing::allocations([&] { a.simulation->run_until(1.5); }), 0);
}

// Compiled forward dynamics, hard stops and exact friction of joints in the same problem.
TEST(StandingQuadruped, StandsTheSameCompiledAndWithHardStops) {
  WorldOptions options;
  options.dynamics = WorldOptions::Dynamics::compiled;
  options.stops = WorldOptions::Stops::hard;
  Standing plain, other(options);
  plain.simulation->run_until(3);
  other.simulation->run_until(3);
  EXPECT_LT((plain.simulation->state().q - other.simulation->state().q).norm(), 1e-6);
}

/// No joint friction, and hard stops: links reach high velocities.
WorldOptions frictionless() {
  WorldOptions options;
  options.friction = WorldOptions::Friction::none;
  options.stops = WorldOptions::Stops::hard;
  return options;
}

/// Links of one robot do not come closer because all of it moves: a falling robot has no more
/// candidates for self-contact than one at rest, and its joints move the same way.
TEST(SelfContact, DoesNotDependOnTheVelocityOfTheWholeRobot) {
  testing::DropRobot robot("builtin:humanoid");
  robot.setup.ground = {};
  robot.setup.parameters.self_contact = true;
  const auto [q, v] = testing::drop_state(robot, 3);
  const int base = 6, joints = robot.model.nv() - base;
  std::vector<std::vector<int>> candidates;
  std::vector<Vector> velocities;
  for (const double speed : {0., 100.}) {  // m/s, of the base in its axes
    World world(robot.model, frictionless());
    world.set_contact(robot.setup);
    Simulation simulation(world, {.step = 1e-3});
    Vector start = v;
    start.head(base).setZero();
    start[2] = speed;
    simulation.set_state(0, q, start);
    auto& counts = candidates.emplace_back();
    for (int i = 1; i <= 100; ++i) {
      simulation.run_until(1e-3 * i);
      counts.push_back(world.contacts()->report().contacts);
    }
    velocities.push_back(simulation.state().v.tail(joints));
  }
  EXPECT_GT(std::accumulate(candidates[0].begin(), candidates[0].end(), 0), 0);
  EXPECT_EQ(candidates[0], candidates[1]);
  // Rounding at positions of 10 m, and accelerations of free flight at 100 m/s.
  EXPECT_LT(max_abs(velocities[0] - velocities[1]), 1e-6);
}

class RandomDrops : public ::testing::TestWithParam<const char*> {};

TEST_P(RandomDrops, StayFiniteAboveGroundAndGainNoEnergy) {
  const testing::DropRobot robot(GetParam());
  testing::Drop worst;
  Worst growth, deepest, gain;
  for (unsigned seed = 0; seed < 20; ++seed) {
    const testing::Drop d = testing::drop(robot, seed, 1, 1e-3, frictionless());
    EXPECT_TRUE(d.finite) << "seed " << seed;
    EXPECT_LT(d.penetration, 5e-4) << "seed " << seed;  // documented: 1e-3
    // The impulses of a step, up to 100 N s here, never add energy.
    EXPECT_LT(d.energy_gain, 1e-14) << "seed " << seed;
    // The lightest links of the humanoid are fast after they hit a stop.
    EXPECT_LT(d.fastest, 300) << "seed " << seed;
    // Steps whose problem did not converge: worst measured 2e-5 m/s.
    EXPECT_LT(d.residual, 1e-4) << "seed " << seed;
    deepest.add(d.penetration);
    growth.add(d.energy_growth);
    gain.add(d.energy_gain);
    worst.not_converged += d.not_converged;
    worst.steps += d.steps;
    worst.contacts = std::max<int>(worst.contacts, d.contacts);
    worst.fastest = worse(worst.fastest, d.fastest);
  }
  EXPECT_LE(worst.not_converged, worst.steps / 4000);  // above 1e-6 m/s
  // Error of the integrator between contacts: motions with 60 J, measured 1.8e-3 J.
  EXPECT_LT(growth.value(), 5e-3);
  std::printf(
      "%s: deepest %.1e m, impulses add %.1e J, growth %.1e J, not converged %ld of %ld, contacts "
      "%d, fastest %.0f\n",
      GetParam(), deepest.value(), gain.value(), growth.value(), worst.not_converged, worst.steps,
      worst.contacts, worst.fastest);
}
INSTANTIATE_TEST_SUITE_P(Robots, RandomDrops,
                         ::testing::Values("builtin:arm7", "builtin:quadruped",
                                           "builtin:humanoid"));

// Where the energy grows most, it grows only by the error of the integrator, which is of order 2,
// as without ground. Without center_velocity() the worst of these gained 3.1 J, and half of it at
// half the step.
TEST(Drops, EnergyGrowsOnlyByTheErrorOfTheIntegrator) {
  const testing::DropRobot robot("builtin:arm7");
  for (const unsigned seed : {121u, 397u, 473u, 786u, 1097u}) {
    const double whole = testing::drop(robot, seed, 1, 1e-3, frictionless()).energy_growth;
    const double half = testing::drop(robot, seed, 1, 5e-4, frictionless()).energy_growth;
    EXPECT_LT(whole, 0.02) << "seed " << seed;
    EXPECT_LT(half, std::max(whole / 3, 1e-4)) << "seed " << seed;
  }
}

// Wrists at 200 to 600 rad/s, whose paths curve by millimetres in a step: without subdivided steps
// the first two penetrated by 1.9 mm and 1.1 mm.
TEST(Drops, FastLinksStayAboveGround) {
  const testing::DropRobot robot("builtin:humanoid");
  Worst fastest;
  for (const unsigned seed : {1291u, 746u, 2555u, 2948u}) {
    const testing::Drop d = testing::drop(robot, seed, 1, 1e-3, frictionless());
    EXPECT_LT(d.penetration, 5e-4) << "seed " << seed;
    EXPECT_GT(d.steps, 1000) << "seed " << seed;  // some were subdivided
    fastest.add(d.fastest);
  }
  EXPECT_GT(fastest.value(), 200);
}

// A fast body may touch what is far away, a slow one only what is near: the search of contacts has
// a margin per body. With one margin for all, a few fast links of a robot of a hundred shapes made
// thousands of candidates.
TEST(Contacts, FastBodiesDoNotWidenTheSearchOfOthers) {
  RobotBuilder<double> balls("balls");
  const Matrix3<double> I = 1e-3 * Matrix3<double>::Identity();
  balls.link("slow", 1, {0, 0, 0}, I).link("fast", 1, {0, 0, 0}, I);
  balls.joint("slow_joint", Joint<double>::free(), "world", "slow");
  balls.joint("fast_joint", Joint<double>::free(), "world", "fast");
  World world(balls.build());
  const Model<double>& model = world.model();
  ContactSetup setup{Ground::plane(), {}, {}};
  for (const char* link : {"slow", "fast"}) {
    setup.shapes.push_back(make_foot(model, model.find_frame(link), 0.1));
  }
  world.set_contact(std::move(setup));
  Simulation simulation(world, {.step = 1e-3});
  Vector q = make_state(model).q, v = Vector::Zero(12);
  q[2] = 0.11;  // 1 cm above the ground
  q[9] = 0.15;  // 5 cm above it, and that far in a step
  v[8] = -45;
  simulation.set_state(0, q, v);
  simulation.run_until(1e-3);
  EXPECT_EQ(world.contacts()->report().contacts, 1);
  EXPECT_EQ(world.contacts()->points()[0].shape, 1);
  simulation.run_until(2e-3);  // it lands, and the other one not yet
  EXPECT_GT(world.contacts()->points()[0].force_W[2], 0);
  EXPECT_LT(world.contacts()->report().penetration, 1e-5);
  simulation.run_until(0.2);
  EXPECT_EQ(world.contacts()->report().contacts, 2);  // both rest
}

}  // namespace
}  // namespace limb
