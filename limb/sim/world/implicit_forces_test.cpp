// Damping, springs, stops, friction and servos of joints in a step of the semi-implicit method: the
// closed form of one step, stability for any damping and stiffness, order of convergence, and rest.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "limb/base/testing/worst.hpp"
#include "limb/dynamics/testing/allocations.hpp"
#include "limb/dynamics/testing/sample.hpp"
#include "limb/math/testing/max_abs.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/core/load.hpp"
#include "limb/sim/forces/tendon_law.hpp"
#include "limb/sim/testing/slider.hpp"
#include "limb/sim/world/simulation.hpp"

namespace limb {
namespace {

using testing::slider;
using Vector = VectorX<double>;
using Method = IntegrationMethod;

constexpr double kEps = std::numeric_limits<double>::epsilon();

/// A servo of one joint.
TendonLaw::Item servo(const std::string& joint, double stiffness, double damping, double control) {
  TendonLaw::Item item;
  item.terms = {{joint, 1}};
  item.motor = TendonLaw::Item::Motor{};
  item.motor->servo.gain = item.motor->servo.stiffness = stiffness;
  item.motor->servo.damping = damping;
  item.motor->control = control;
  return item;
}

TEST(ImplicitForces, OneStepOfASpringHasItsClosedForm) {
  const double m = 2, k = 3e5, c = 40, h = 0.01, x = 0.3, v = -1.5;
  World world(slider().build());
  world.add<JointSpring>(world.model(), "rail", JointSpring::Parameters{k, 0, c});
  Simulation simulation(world, {IntegrationMethod::semi_implicit_euler, h});
  simulation.set_state(0, Vector::Constant(1, x), Vector::Constant(1, v));
  simulation.run_until(h);
  // m (v1 - v) = -h k (x + h v1) - h c v1
  const double v1 = (m * v - h * k * x) / (m + h * c + h * h * k);
  EXPECT_NEAR(simulation.state().v[0], v1, 64 * kEps * h * k * x / m);
  EXPECT_NEAR(simulation.state().q[0], x + h * v1, 64 * kEps * h * h * k * x / m);
}

// The amplitude of a damped oscillation: halving the step halves the error.
TEST(ImplicitForces, ConvergesWithFirstOrder) {
  const double m = 2, k = 50, c = 3, t = 1.7, x0 = 0.4;
  const double d = c / (2 * m), w = std::sqrt(k / m - d * d);
  const double exact = std::exp(-d * t) * x0 * (std::cos(w * t) + d / w * std::sin(w * t));
  double last = 0;
  for (const double h : {4e-3, 2e-3, 1e-3, 5e-4}) {
    World world(slider().build());
    world.add<JointSpring>(world.model(), "rail", JointSpring::Parameters{k, 0, c});
    Simulation simulation(world, {IntegrationMethod::semi_implicit_euler, h});
    simulation.set_state(0, Vector::Constant(1, x0), Vector::Zero(1));
    simulation.run_until(t);
    const double error = std::abs(simulation.state().q[0] - exact);
    if (last > 0) {
      EXPECT_NEAR(last / error, 2, 0.2) << h;
    }
    last = error;
  }
}

// Robots of every joint type, with couplings and with loops: whatever the damping and stiffness,
// the energy without gravity never grows, at 1 and 5 ms.
TEST(ImplicitForces, AnyDampingAndStiffnessIsStable) {
  for (const auto& sample : testing::samples(4, 5)) {
    for (const double scale : {1e-3, 1.0, 1e4, 1e8}) {
      for (const double h : {1e-3, 5e-3}) {
        World world(sample.model,
                    {.friction = WorldOptions::Friction::none, .stops = WorldOptions::Stops::none});
        for (const Body<double>& body : world.model().bodies()) {
          if (body.joint.nv() != 1) continue;
          world.add<JointSpring>(world.model(), body.name,
                                 JointSpring::Parameters{50 * scale, 0.1, scale});
        }
        Simulation simulation(world, {IntegrationMethod::semi_implicit_euler, h});
        simulation.set_state(0, sample.q, sample.v);
        const double start = world.energy(simulation.state()).total();
        simulation.run_until(0.5);
        const double end = world.energy(simulation.state()).total();
        ASSERT_TRUE(std::isfinite(end)) << sample.name << " " << scale << " " << h;
        // Gravity is conservative up to the error of the method, of first order.
        EXPECT_LE(end, start + h * (1 + std::abs(start)))
            << sample.name << " " << scale << " " << h;
      }
    }
  }
}

// Friction of any size stops a block and never turns it around.
TEST(ImplicitForces, SmoothFrictionNeverReversesAMotion) {
  for (const double f : {0.1, 10.0, 1e4, 1e8}) {
    RobotBuilder<double> robot = slider();
    robot.drive(0, f, 0);
    World world(robot.build());
    Simulation simulation(world, {IntegrationMethod::semi_implicit_euler, 1e-3});
    simulation.set_state(0, Vector::Zero(1), Vector::Constant(1, 0.5));
    double last = 0.5;
    for (int i = 1; i <= 300; ++i) {
      simulation.run_until(1e-3 * i);
      const double v = simulation.state().v[0];
      EXPECT_GE(v, 0) << f;
      EXPECT_LE(v, last) << f;
      last = v;
    }
    // Deceleration f / m, until the smooth transition at 1 mm/s.
    if (f >= 10) {
      EXPECT_LT(last, 2e-3) << f;
    }
  }
}

// An arm that its servos hold against gravity at rest: the velocity stays zero, and the position is
// where k (u - q) balances gravity.
TEST(ImplicitForces, ServosHoldAnArmWhereTheyBalanceGravity) {
  const Model<double> arm = load_model("builtin:2r");
  World world(arm);
  std::vector<TendonLaw::Item> items;
  const Vector target = Vector::LinSpaced(2, 0.3, -0.5);
  const double k = 4e4;
  for (int i = 0; i < 2; ++i) {
    items.push_back(servo(arm.bodies()[static_cast<std::size_t>(i) + 1].name, k, 900, target[i]));
  }
  world.add<TendonLaw>(world.model(), target, items);
  Simulation simulation(world, {IntegrationMethod::semi_implicit_euler, 5e-3});
  simulation.set_state(0, target, Vector::Zero(2));
  simulation.run_until(10);
  const RobotState<double>& s = simulation.state();
  EXPECT_LT(max_abs(s.v), 1e-9);
  Vector a(2), dx(0);
  world.rates(s, a, dx);
  EXPECT_LT(max_abs(a), 1e-6);
  EXPECT_LT(max_abs(s.q - target), 0.01);
  EXPECT_GT(max_abs(s.q - target), 1e-6);
}

// A leg of two servos on the ground: contacts see the same mass matrix as the servos, so that a
// robot at rest stays at rest. With that of the model alone it would creep.
TEST(ImplicitForces, AServoHeldLegOnTheGroundComesToRest) {
  RobotBuilder<double> robot("leg");
  robot.link("trunk", 8, {0, 0, 0}, Eigen::Vector3d(0.1, 0.1, 0.1).asDiagonal());
  robot.link("thigh", 1, {0, 0, -0.15}, Eigen::Vector3d(0.01, 0.01, 0.002).asDiagonal());
  robot.link("shank", 0.4, {0, 0, -0.15}, Eigen::Vector3d(0.004, 0.004, 0.001).asDiagonal());
  robot.joint("height", Joint<double>::prismatic({0, 0, 1}), "world", "trunk");
  robot.joint("hip", Joint<double>::revolute({0, 1, 0}), "trunk", "thigh");
  robot.joint("knee", Joint<double>::revolute({0, 1, 0}), "thigh", "shank",
              Pose<double>{Eigen::Matrix3d::Identity(), {0, 0, -0.3}});
  robot.frame("foot", "shank", Pose<double>{Eigen::Matrix3d::Identity(), {0, 0, -0.3}});
  World world(robot.build());
  ContactSetup setup;
  setup.ground = Ground::plane({0.8, 0});
  setup.shapes = {make_foot(world.model(), world.model().find_frame("foot"), 0.02)};
  world.set_contact(setup);
  Vector q(3);
  q << 0.6, 0.4, -0.8;
  world.add<TendonLaw>(world.model(), q,
                       std::vector{servo("hip", 800, 30, 0.4), servo("knee", 800, 30, -0.8)});
  Simulation simulation(world, {IntegrationMethod::semi_implicit_euler, 2e-3});
  simulation.set_state(0, q, Vector::Zero(3));
  simulation.run_until(4);
  EXPECT_LT(max_abs(simulation.state().v), 1e-8);
  double normal = 0;
  for (const ContactPoint& point : world.contacts()->points()) normal += point.force_W[2];
  EXPECT_NEAR(normal, 9.4 * 9.81, 1e-6);
}

// A torque-free brick that turns about its unstable axis: the energy of the default step, for which
// taking gyroscopic forces at the start of a step loses a quarter.
TEST(ImplicitForces, ATumblingBrickKeepsItsEnergy) {
  RobotBuilder<double> robot("brick");
  robot.gravity({0, 0, 0}).link("b", 1, {0, 0, 0}, Eigen::Vector3d(1, 2, 3).asDiagonal());
  World world(robot.joint("f", Joint<double>::free(), "world", "b").build());
  Simulation simulation(world, {IntegrationMethod::semi_implicit_euler, 1e-3});
  Vector q = world.model().neutral(), v = Vector::Zero(6);
  v.tail<3>() << 0.01, 5, 0.01;
  simulation.set_state(0, q, v);
  const double start = world.energy(simulation.state()).total();
  Worst change;
  for (int i = 1; i <= 60; ++i) {
    simulation.run_until(i);
    change.add(std::abs(world.energy(simulation.state()).total() / start - 1));
  }
  EXPECT_LT(change.value(), 2e-5);
}

// The damper of a soft stop acts from one moment to the next. The implicit midpoint rule has no
// solution in such a step, and crosses it linearly implicitly.
TEST(ImplicitForces, ImplicitMidpointSurvivesSoftStops) {
  for (const char* name : {"builtin:arm7", "builtin:humanoid", "builtin:quadruped"}) {
    for (const double h : {1e-3, 5e-3}) {
      const Model<double> model = load_model(name);
      World world(model);
      Simulation simulation(world, {Method::implicit_midpoint, h});
      std::mt19937_64 engine(3);
      const Vector q = model.random_configuration(engine);
      simulation.set_state(0, q, Vector::Constant(model.nv(), 1.5));
      ASSERT_NO_THROW(simulation.run_until(2)) << name << " " << h;
      const EnergyBalance b = simulation.balance();
      EXPECT_LT(b[EnergyEntry::stops], -1e-3) << name << " " << h;  // they were reached
      EXPECT_LT(std::abs(b.closure), 0.1 * b.exchanged) << name << " " << h;
    }
  }
}

TEST(ImplicitForces, StepsDoNotAllocate) {
  const Model<double> arm = load_model("builtin:arm7");
  World world(arm);
  std::vector<TendonLaw::Item> items;
  for (const Body<double>& body : arm.bodies()) {
    if (body.joint.nv() == 1) items.push_back(servo(body.name, 1e3, 50, 0.2));
  }
  world.add<TendonLaw>(world.model(), arm.neutral(), items);
  Simulation simulation(world, {IntegrationMethod::semi_implicit_euler, 1e-3});
  simulation.set_state(0, arm.neutral(), Vector::Constant(arm.nv(), 0.1));
  simulation.run_until(0.01);
  EXPECT_EQ(testing::allocations([&] { simulation.run_until(0.1); }), 0);
}

}  // namespace
}  // namespace limb
