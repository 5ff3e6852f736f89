// The energy ledger: closed forms of single forces, order of the error of integration over random
// robots, what contacts and stops take over random drops, and runs that end because it does not
// close.
#include "limb/sim/world/energy_ledger.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/testing/allocations.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/math/testing/max_abs.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/core/load.hpp"
#include "limb/sim/forces/tendon_law.hpp"
#include "limb/sim/forces/wall_law.hpp"
#include "limb/sim/forces/wrench_laws.hpp"
#include "limb/sim/testing/drops.hpp"
#include "limb/sim/testing/slider.hpp"
#include "limb/sim/world/simulation.hpp"

namespace limb {
namespace {

using testing::slider;
using Entry = EnergyEntry;
using Method = IntegrationMethod;
using Vector = VectorX<double>;

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr Method kMethods[] = {Method::semi_implicit_euler, Method::explicit_euler,
                               Method::runge_kutta_4, Method::implicit_midpoint,
                               Method::dormand_prince};

Vector number(double x) {
  return Vector::Constant(1, x);
}

/// change = sum of entries + closure, to rounding of the energies.
void expect_sum(const EnergyBalance& b) {
  double sum = b.closure;
  for (const double entry : b.entries) sum += entry;
  EXPECT_NEAR(sum, b.change(), 64 * kEps * (b.exchanged + std::abs(b.change())));
}

// A loss that oscillates around its mean: what is taken never decreases, and its sum is that of the
// work up to one oscillation. Cut off at zero in each step, it would grow by 1 per oscillation.
TEST(EnergyLedger, OscillatingLossesDoNotAccumulate) {
  EnergyLedger ledger;
  double taken = 0, work = 0;
  for (int i = 0; i < 1000; ++i) {
    const double step = (i % 2 == 0 ? -1.0 : 1.0) - 0.125;  // exact in binary
    const double loss = ledger.loss(Entry::contacts, step);
    EXPECT_LE(loss, 0);
    taken += loss;
    work += step;
    EXPECT_LE(taken, work);
    EXPECT_LE(work - taken, 1.0);
  }
  EXPECT_EQ(work, -125);
}

// A constant force on a block of 2 kg, over a second: its work is the kinetic energy, in every
// method, because the mass matrix is constant.
TEST(EnergyLedger, WorkOfAMotorIsTheKineticEnergy) {
  for (const Method method : kMethods) {
    World world(slider().build());
    Simulation simulation(world, {method, 1e-3});
    simulation.set_state(0, number(0.1), number(0.4));
    simulation.set_controller([](const ControlInput&, Vector& tau) { tau[0] = 3; });
    simulation.run_until(1);
    const double v = simulation.state().v[0], kinetic = v * v - 0.16;
    const EnergyBalance b = simulation.balance();
    // A thousand sums.
    EXPECT_NEAR(b[Entry::motors], kinetic, 1000 * kEps * kinetic) << to_text(method);
    EXPECT_NEAR(b.kinetic, kinetic, 1000 * kEps * kinetic) << to_text(method);
    EXPECT_NEAR(b.closure, 0, 2000 * kEps * kinetic) << to_text(method);
    EXPECT_NEAR(b.exchanged, 0.16 + kinetic, 1000 * kEps * kinetic) << to_text(method);
    expect_sum(b);
  }
}

// Free fall with v(0) = 0: the semi-implicit method loses m g^2 h / 2 per second, explicit Euler
// gains it, the others are exact.
TEST(EnergyLedger, TheErrorOfFreeFallHasItsClosedForm) {
  const double m = 2, g = 9.81, h = 1e-3, t = 0.7;
  for (const Method method : kMethods) {
    RobotBuilder<double> robot("stone");
    robot.link("stone", m, {0, 0, 0}, Eigen::Matrix3d::Identity());
    World world(robot.joint("z", Joint<double>::prismatic({0, 0, 1}), "world", "stone").build());
    Simulation simulation(world, {method, h});
    simulation.set_state(0, number(0), number(0));
    simulation.run_until(t);
    const EnergyBalance b = simulation.balance();
    const double expected = method == Method::semi_implicit_euler ? -m * g * g * h * t / 2
                            : method == Method::explicit_euler    ? m * g * g * h * t / 2
                                                                  : 0;
    // Sums of 700 steps; the tolerance of Dormand-Prince is 1e-9.
    const double tolerance = method == Method::dormand_prince ? 1e-7 : 4000 * kEps * 50;
    EXPECT_NEAR(b.closure, expected, tolerance) << to_text(method);
    EXPECT_NEAR(b.exchanged, std::abs(b.potential), 1e-12) << to_text(method);
  }
}

TEST(EnergyLedger, DampingTakesTheKineticEnergy) {
  for (const double d : {3.0, 3e3}) {
    RobotBuilder<double> robot = slider();
    World world(robot.drive(d, 0, 0).build());
    ASSERT_EQ(world.model().canonical().damping[0], d);
    Simulation simulation(world, {Method::semi_implicit_euler, 1e-3});
    simulation.set_state(0, number(0), number(1.5));
    simulation.run_until(0.5);
    const EnergyBalance b = simulation.balance();
    EXPECT_NEAR(b[Entry::damping], b.kinetic, 1000 * kEps * 2.25) << d;
    EXPECT_LT(b[Entry::damping], -0.5) << d;
    EXPECT_NEAR(b.closure, 0, 1000 * kEps * 2.25) << d;
  }
}

// Friction stops a block, a stop catches one, a spring takes one up, each alone: the entry is the
// loss of energy.
TEST(EnergyLedger, FrictionAndStopsTakeTheKineticEnergy) {
  for (const auto friction : {WorldOptions::Friction::smooth, WorldOptions::Friction::exact}) {
    RobotBuilder<double> robot = slider();
    World world(robot.drive(0, 3, 0).build(), {.friction = friction});
    Simulation simulation(world, {Method::semi_implicit_euler, 1e-3});
    simulation.set_state(0, number(0), number(1.2));
    simulation.run_until(3);
    const EnergyBalance b = simulation.balance();
    EXPECT_NEAR(b[Entry::friction], -1.44, 1e-5);
    EXPECT_NEAR(b.closure, 0, 3000 * kEps * 1.44);
  }
  for (const double restitution : {0.0, 0.6}) {
    RobotBuilder<double> robot = slider();
    World world(robot.limits({{-1.0, 0.5, {}, {}}}).build(),
                {.stops = WorldOptions::Stops::hard, .restitution = restitution});
    Simulation simulation(world, {Method::semi_implicit_euler, 1e-3});
    simulation.set_state(0, number(0), number(1));
    simulation.run_until(0.8);
    const EnergyBalance b = simulation.balance();
    EXPECT_NEAR(b[Entry::stops], restitution * restitution - 1, 1000 * kEps) << restitution;
    EXPECT_NEAR(b.closure, 0, 1000 * kEps) << restitution;
  }
}

// A block runs into a soft stop, critically damped and elastic, also one that is far too stiff for
// the step. The stop acts at the end of the step in which it is reached, so that it never adds
// energy, and the ledger is exact.
TEST(EnergyLedger, SoftStopsNeverAddEnergy) {
  for (const double frequency : {15.0, 150.0, 5000.0}) {
    for (const double ratio : {0.0, 1.0}) {
      for (const double h : {5e-3, 1e-3, 2.5e-4}) {
        RobotBuilder<double> robot = slider();
        World world(robot.limits({{-1.0, 0.5, {}, {}}}).build(),
                    {.soft_stops = {.frequency = frequency, .damping_ratio = ratio}});
        Simulation simulation(world, {Method::semi_implicit_euler, h});
        simulation.set_state(0, number(0), number(1));
        double last = 1;
        for (int i = 1; h * i < 2; ++i) {
          simulation.run_until(h * i);
          const double energy = world.energy(simulation.state()).total();
          EXPECT_LE(energy, last * (1 + 8 * kEps)) << frequency << " " << h;
          last = energy;
        }
        const EnergyBalance b = simulation.balance();
        expect_sum(b);
        // Sums of up to 8000 steps; the stop has the stiffness (h w)^2 relative to the inertia.
        const double stiffness = std::pow(2 * M_PI * frequency * h, 2);
        EXPECT_NEAR(b[Entry::stops], last - 1, (8000 + 4 * stiffness) * kEps) << frequency << h;
        EXPECT_NEAR(b.closure, 0, (8000 + 4 * stiffness) * kEps) << frequency << " " << h;
        EXPECT_LT(simulation.state().v[0], 0.01);  // it was caught, or turned back
      }
    }
  }
}

// A joint that starts far beyond its hard stop returns without a velocity, which would be energy.
TEST(EnergyLedger, HardStopsReturnJointsWithoutVelocity) {
  RobotBuilder<double> robot = slider();
  World world(robot.limits({{-1.0, 0.5, {}, {}}}).build(), {.stops = WorldOptions::Stops::hard});
  Simulation simulation(world, {Method::semi_implicit_euler, 1e-3});
  simulation.set_state(0, number(0.9), number(0));
  simulation.run_until(0.5);
  EXPECT_EQ(simulation.state().v[0], 0);
  EXPECT_NEAR(simulation.state().q[0], 0.5, 1e-12);  // 0.4 * 0.9^500
  const EnergyBalance b = simulation.balance();
  EXPECT_EQ(b.closure, 0);
  EXPECT_EQ(b.kinetic, 0);
}

// An undamped spring at the end of the step: its entry is the damping of the implicit step, of
// first order; with a damper both.
TEST(EnergyLedger, SpringsReportTheDampingOfTheStep) {
  const double m = 2, k = 50, x = 0.4, t = 1;
  double last = 0;
  for (const double h : {2e-3, 1e-3}) {
    World world(slider().build());
    world.add<JointSpring>(world.model(), "rail", JointSpring::Parameters{k, 0, 0});
    Simulation simulation(world, {Method::semi_implicit_euler, h});
    simulation.set_state(0, number(x), number(0));
    simulation.run_until(t);
    const EnergyBalance b = simulation.balance();
    EXPECT_NEAR(b.closure, 0, 1000 * kEps * k * x * x) << h;
    // Energy decays with h w^2.
    const double expected = -k * x * x / 2 * (1 - std::exp(-h * k / m * t));
    EXPECT_NEAR(b[Entry::springs], expected, 0.05 * std::abs(expected)) << h;
    if (last != 0) {
      EXPECT_NEAR(last / b[Entry::springs], 2, 0.1);
    }
    last = b[Entry::springs];
  }
}

TEST(EnergyLedger, WorkOfAPushIsForceTimesWay) {
  RobotBuilder<double> robot("brick");
  robot.gravity({0, 0, 0}).link("b", 1, {0, 0, 0}, Eigen::Vector3d(1, 2, 3).asDiagonal());
  const Model<double> model = robot.joint("f", Joint<double>::free(), "world", "b").build();
  for (const Method method : kMethods) {
    World world(model);
    const FrameId frame = model.find_frame("b");
    WrenchSchedule::Push push{frame, 0.1, 0.6, {{2, 0, 1}, {0, 0.5, 0}}, WrenchAxes::world};
    world.add<WrenchSchedule>(world.model(), std::vector{push});
    Simulation simulation(world, {method, 1e-3});
    Vector v = Vector::Zero(6);
    v.tail<3>() << 0.1, 0.2, -0.3;
    simulation.set_state(0, model.neutral(), v);
    simulation.run_until(1);
    const EnergyBalance b = simulation.balance();
    EXPECT_GT(b[Entry::external], 0.1) << to_text(method);
    // The force along a straight line of the mass centre, m v^2 / 2 = 5 * 0.25 / 2, and the moment.
    EXPECT_GT(b[Entry::external], 0.625) << to_text(method);
    const double tolerance = method == Method::explicit_euler        ? 2e-3
                             : method == Method::semi_implicit_euler ? 1e-5
                                                                     : 1e-7;
    EXPECT_NEAR(b.closure, 0, tolerance) << to_text(method);
  }
}

/// The error of integration of a robot with everything that acts smoothly.
double closure(const testing::Sample& sample, Method method, double h, double t) {
  World world(sample.model,
              {.friction = WorldOptions::Friction::none, .stops = WorldOptions::Stops::none});
  const auto frame = FrameId(static_cast<int>(sample.model.frames().size()) - 1);
  for (const Body<double>& body : world.model().bodies()) {
    if (body.joint.nv() != 1) continue;
    world.add<JointSpring>(world.model(), body.name, JointSpring::Parameters{5, 0.1, 0.3});
  }
  world.add<WrenchSchedule>(
      world.model(),
      std::vector{WrenchSchedule::Push{frame, 0, 10, {{1, 2, 0}, {0, 0, 0.3}}, WrenchAxes::world},
                  WrenchSchedule::Push{frame, 0, 10, {{0, 1, 1}, {0.2, 0, 0}}, WrenchAxes::frame}});
  Simulation simulation(world, {.method = method, .step = h, .control_period = 0.02});
  simulation.set_controller([&](const ControlInput& now, Vector& tau) {
    for (const Actuator& a : ideal_actuators(sample.model)) {
      tau[a.velocity] = std::sin(3 * now.t + a.velocity);
    }
  });
  simulation.set_state(0, sample.q, sample.v);
  simulation.run_until(t);
  const EnergyBalance b = simulation.balance();
  expect_sum(b);
  EXPECT_GT(b.exchanged, 0) << sample.name;
  return b.closure / b.exchanged;
}

// Trees of all joint types, fixed and free, with couplings: motors, springs, dampers and wrenches.
// Halving the step divides the error by 2^order.
TEST(EnergyLedger, ClosesWithTheOrderOfTheMethod) {
  struct Case {
    Method method;
    double h, order, slack, largest;
  };
  // Sums over robots, because the error of a single one may change its sign with the step.
  for (const Case& c : {Case{Method::semi_implicit_euler, 1e-3, 1, 0.1, 2e-2},
                        Case{Method::explicit_euler, 1e-3, 1, 0.1, 2e-2},
                        Case{Method::implicit_midpoint, 4e-3, 2, 0.1, 1e-3},
                        Case{Method::runge_kutta_4, 1e-2, 4, 0.5, 1e-4}}) {
    double coarse = 0, fine = 0;
    for (const testing::Sample& sample : testing::samples(4, 5)) {
      const double first = std::abs(closure(sample, c.method, c.h, 0.2));
      EXPECT_LT(first, c.largest) << to_text(c.method) << " " << sample.name;
      coarse += first;
      fine += std::abs(closure(sample, c.method, c.h / 2, 0.2));
    }
    EXPECT_NEAR(std::log2(coarse / fine), c.order, c.slack) << to_text(c.method);
  }
  for (const testing::Sample& sample : testing::samples(2, 5)) {
    EXPECT_LT(std::abs(closure(sample, Method::dormand_prince, 1e-2, 0.2)), 1e-7) << sample.name;
  }
}

// Robots dropped in random poses onto a plane, with soft and with hard stops: in every step
// contacts, friction, damping and stops take energy, and the ledger closes to a few percent.
TEST(EnergyLedger, ContactsAndStopsNeverAddEnergy) {
  for (const char* name : {"builtin:quadruped", "builtin:humanoid", "builtin:arm7"}) {
    const testing::DropRobot robot(name);
    for (const auto stops : {WorldOptions::Stops::soft, WorldOptions::Stops::hard}) {
      for (unsigned seed = 1; seed <= 6; ++seed) {
        World world(robot.model, {.stops = stops});
        world.set_contact(robot.setup);
        Simulation simulation(world, {.step = 1e-3});
        const auto [q, v] = testing::drop_state(robot, seed);
        simulation.set_state(0, q, v);
        EnergyBalance last;
        for (int i = 1; i <= 800; ++i) {
          simulation.run_until(1e-3 * i);
          const EnergyBalance b = simulation.balance();
          for (const Entry entry :
               {Entry::contacts, Entry::stops, Entry::friction, Entry::damping}) {
            // A sum of a thousand steps.
            EXPECT_LE(b[entry], last[entry] + 1000 * kEps * b.exchanged)
                << name << " " << seed << " " << to_text(entry) << " step " << i;
          }
          last = b;
        }
        expect_sum(last);
        EXPECT_LT(std::abs(last.closure), 0.1 * last.exchanged) << name << " " << seed;
        if (robot.has_base()) {
          EXPECT_LT(last[Entry::contacts], 0) << name << " " << seed;
        }
      }
    }
  }
}

// A bouncing ball: each impact takes 1 - e^2 of the kinetic energy.
TEST(EnergyLedger, ABounceTakesOneMinusRestitutionSquared) {
  const double e = 0.7, height = 0.5;
  RobotBuilder<double> robot("ball");
  robot.link("ball", 1.5, {0, 0, 0}, Eigen::Matrix3d::Identity());
  World world(robot.joint("f", Joint<double>::free(), "world", "ball").build());
  ContactSetup setup;
  setup.ground = Ground::plane({0.5, e});
  setup.shapes = {make_foot(world.model(), world.model().find_frame("ball"), 0.1)};
  world.set_contact(setup);
  Simulation simulation(world, {.step = 1e-4});
  Vector q = world.model().neutral();
  q[2] = 0.1 + height;
  simulation.set_state(0, q, Vector::Zero(6));
  simulation.run_until(0.5);  // between the first and the second impact
  const EnergyBalance b = simulation.balance();
  const double fall = 1.5 * 9.81 * height;
  EXPECT_NEAR(b[Entry::contacts], -(1 - e * e) * fall, 1e-3 * fall);
  EXPECT_LT(std::abs(b.closure), 1e-3 * fall);
}

// A body that starts in the ground is lifted: the potential energy is not an error of integration.
TEST(EnergyLedger, LiftingIsAnEntryOfItsOwn) {
  RobotBuilder<double> robot("ball");
  robot.link("ball", 1.5, {0, 0, 0}, Eigen::Matrix3d::Identity());
  World world(robot.joint("f", Joint<double>::free(), "world", "ball").build());
  ContactSetup setup;
  setup.ground = Ground::plane({0.5, 0});
  setup.shapes = {make_foot(world.model(), world.model().find_frame("ball"), 0.1)};
  world.set_contact(setup);
  Simulation simulation(world, {.step = 1e-3});
  Vector q = world.model().neutral();
  q[2] = 0.05;
  simulation.set_state(0, q, Vector::Zero(6));
  simulation.run_until(0.5);
  const EnergyBalance b = simulation.balance();
  const double lifted = 1.5 * 9.81 * (simulation.state().q[2] - 0.05);
  EXPECT_GT(lifted, 0.7);
  EXPECT_NEAR(b[Entry::correction], lifted, 1000 * kEps * lifted);
  EXPECT_NEAR(b.closure, 0, 1000 * kEps * lifted);
}

// Servos are motors, springs of tendons are not.
TEST(EnergyLedger, ServosAreMotorsAndTendonsAreNot) {
  TendonLaw::Item both;
  both.terms = {{"rail", 1}};
  both.stiffness = 20;
  both.damping = 8;
  both.motor = TendonLaw::Item::Motor{};
  both.motor->servo.gain = 1;
  both.motor->control = 3;
  std::vector<TendonLaw::Item> motors, others;
  TendonLaw::split({both}, motors, others);
  ASSERT_EQ(motors.size(), 1u);
  ASSERT_EQ(others.size(), 1u);
  World world(slider().build());
  world.add<TendonLaw>(world.model(), number(0), motors);
  world.add<TendonLaw>(world.model(), number(0), others);
  Simulation simulation(world, {.step = 1e-3});
  simulation.set_state(0, number(0), number(0));
  simulation.run_until(30);
  const EnergyBalance b = simulation.balance();
  const double x = 3. / 20;
  EXPECT_NEAR(simulation.state().q[0], x, 1e-6);
  EXPECT_NEAR(b[Entry::motors], 3 * x, 1e-5);
  EXPECT_NEAR(b.stored, 20 * x * x / 2, 1e-5);
  EXPECT_NEAR(b[Entry::tendons], -20 * x * x / 2, 1e-5);
  EXPECT_NEAR(b.closure, 0, 1e-12);
}

// Damping far beyond what Runge-Kutta can follow: the run ends with the reason, the entry and the
// joint, before the numbers overflow.
TEST(EnergyLedger, ARunThatDoesNotCloseEnds) {
  RobotBuilder<double> robot = slider();
  World world(robot.drive(7e3, 0, 0).build());
  Simulation simulation(world, {Method::runge_kutta_4, 1e-3});
  simulation.set_state(0, number(0), number(1e-3));
  try {
    simulation.run_until(10);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::computation_failed);
    const std::string text = error.what();
    EXPECT_NE(text.find("the energy ledger does not close"), std::string::npos) << text;
    EXPECT_NE(text.find("largest entry: damping"), std::string::npos) << text;
    EXPECT_NE(text.find("joint 'rail'"), std::string::npos) << text;
    EXPECT_NE(text.find("after t = "), std::string::npos) << text;
  }
  EXPECT_TRUE(std::isfinite(simulation.state().v[0]));
  EXPECT_LT(simulation.state().t, 1);
  Simulation unchecked(world,
                       {.method = Method::runge_kutta_4, .step = 1e-3, .check_energy = false});
  unchecked.set_state(0, number(0), number(1e-3));
  EXPECT_NO_THROW(unchecked.run_until(0.1));
}

TEST(EnergyLedger, StepsDoNotAllocate) {
  const Model<double> model = load_model("builtin:quadruped");
  for (const Method method : kMethods) {
    World world(model);
    const auto frame = FrameId(static_cast<int>(model.frames().size()) - 1);
    world.add<WrenchSchedule>(
        world.model(), std::vector{WrenchSchedule::Push{frame, 0, 1, {{1, 0, 0}, {0, 0, 0}}}});
    Simulation simulation(world, {method, 1e-3});
    simulation.set_state(0, model.neutral(), Vector::Constant(model.nv(), 0.1));
    simulation.run_until(0.1);
    EXPECT_EQ(testing::allocations([&] { simulation.run_until(0.2); }), 0) << to_text(method);
  }
}

// A body on three hinges whose axes intersect, without gravity, passes the configuration in which
// the first and the third axis coincide, at a small distance: their velocities, inversely
// proportional to it, grow to thousands of rad/s for a moment. Its energy is constant.
TEST(EnergyLedger, ClosesWhereAxesOfHingesCoincide) {
  RobotBuilder<double> robot("gimbal");
  robot.gravity({0, 0, 0});
  const Matrix3<double> small = 1e-10 * Matrix3<double>::Identity();
  robot.link("yaw", 0, {0, 0, 0}, small).link("roll", 0, {0, 0, 0}, small);
  robot.link("arm", 1, {0, 0, -0.3}, Eigen::Vector3d(0.02, 0.03, 0.01).asDiagonal());
  robot.joint("z", Joint<double>::revolute({0, 0, 1}), "world", "yaw");
  robot.joint("x", Joint<double>::revolute({1, 0, 0}), "yaw", "roll");
  robot.joint("y", Joint<double>::revolute({0, 1, 0}), "roll", "arm");
  const Model<double> model = robot.build();
  Worst worst, fastest;
  for (int run = 0; run < 100; ++run) {
    World world(model);
    Simulation simulation(world, {.step = 1e-3});
    const double distance = 0.02 + 1e-4 * run, spin = 5e-3 / (distance * distance);
    simulation.set_state(0, Eigen::Vector3d(0, std::numbers::pi / 2 - distance, 0),
                         Eigen::Vector3d(spin, 4, -spin));
    simulation.set_progress([&](double) { fastest.add(max_abs(simulation.state().v)); });
    simulation.run_until(0.05);
    const EnergyBalance b = world.balance(simulation.state());
    expect_sum(b);
    worst.add(std::abs(b.closure) / b.exchanged);
  }
  EXPECT_GT(fastest.value(), 1000);  // rad/s
  // The error is of first order in the change of velocity per step. Where only the rotation per
  // step was limited, it was 0.24.
  EXPECT_LT(worst.value(), 0.15);
}

}  // namespace
}  // namespace limb
