// Motors against closed forms: torque-speed line, lag and delay.
#include "limb/sim/forces/actuators.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "limb/math/testing/compare.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/model/core/load.hpp"
#include "limb/sim/world/simulation.hpp"

namespace limb {
namespace {

using testing::message;
using Vector = VectorX<double>;

constexpr double kInertia = 0.4;

Model<double> wheel() {
  RobotBuilder<double> robot("wheel");
  robot.link("w", 1, {0, 0, 0}, Eigen::Vector3d(1, 1, kInertia).asDiagonal());
  return robot.joint("axle", Joint<double>::continuous({0, 0, 1}), "world", "w").build();
}

RobotState<double> run(const Actuator& actuator, double torque, double t, IntegrationMethod method,
                       double period = 0) {
  World world(wheel());
  world.set_actuators({actuator});
  Simulation simulation(world, {method, 1e-3, period});
  simulation.set_controller([=](const ControlInput&, Vector& tau) { tau[0] = torque; });
  simulation.run_until(t);
  return simulation.state();
}

TEST(Actuators, TorqueIsLimited) {
  EXPECT_NEAR(run({.torque_limit = 0.5}, 3, 1, IntegrationMethod::runge_kutta_4).v[0],
              0.5 / kInertia, 1e-12);
  EXPECT_NEAR(run({.torque_limit = 0.5}, -3, 1, IntegrationMethod::runge_kutta_4).v[0],
              -0.5 / kInertia, 1e-12);
}

// I dw/dt = n T (1 - n w / w0): w = w0/n (1 - exp(-n^2 T t / (I w0))).
TEST(Actuators, SpeedFollowsTheTorqueSpeedLine) {
  const double n = 5, stall = 0.2, w0 = 60;
  const RobotState<double> end = run({.gear = n, .stall_torque = stall, .no_load_speed = w0}, 100,
                                     2, IntegrationMethod::runge_kutta_4);
  EXPECT_NEAR(end.v[0], w0 / n * (1 - std::exp(-n * n * stall * 2 / (kInertia * w0))), 1e-11);
}

/// The torque for a command at a joint speed.
double torque_at(const Actuator& actuator, double command, double speed) {
  const Model<double> model = wheel();
  Actuators actuators(model, {actuator});
  actuators.command(0, Vector::Constant(1, command));
  actuators.begin_step(0);
  RobotState<double> s = make_state(model);
  s.v[0] = speed;
  Vector tau = Vector::Zero(1), dx(0);
  actuators.evaluate(s, tau, dx);
  return tau[0];
}

// Stall torque 8 N m and no-load speed 10 rad/s on the joint side, torque limit 6 N m: the limits
// are |tau| <= 6, tau <= 8 (1 - w / 10) and tau >= -8 (1 + w / 10).
TEST(Actuators, TorqueSpeedLineHoldsInAllFourQuadrants) {
  const Actuator motor = {.torque_limit = 6, .gear = 4, .stall_torque = 2, .no_load_speed = 40};
  struct Case {
    double command, speed, torque;
  };
  for (const Case& c : {Case{9, 0, 6},
                        {9, 2, 6},
                        {9, 5, 4},
                        {9, 9, 0.8},
                        {3, 5, 3},
                        {4.5, 5, 4},  // drives
                        {9, -5, 6},
                        {3, -5, 3},  // brakes a negative speed
                        {9, 12.5, -2},
                        {0, 12.5, -2},
                        {-1, 12.5, -2},
                        {-5, 12.5, -5},
                        {-9, 12.5, -6},
                        {9, 20, -8},
                        {0, 20, -8},
                        {-9, 20, -8}}) {  // the line counts more than the limit
    EXPECT_NEAR(torque_at(motor, c.command, c.speed), c.torque, 1e-14) << c.command << c.speed;
    // The motor is the same in both directions.
    EXPECT_NEAR(torque_at(motor, -c.command, -c.speed), -c.torque, 1e-14) << c.command << c.speed;
  }
  // Without a line, and with a stall torque alone, the limits do not depend on speed.
  for (const double speed : {-50., 0., 50.}) {
    EXPECT_EQ(torque_at({.torque_limit = 6}, -9, speed), -6);
    EXPECT_EQ(torque_at({.gear = 4, .stall_torque = 2}, -9, speed), -8);
    EXPECT_EQ(torque_at({.gear = 4, .stall_torque = 2}, 9, speed), 8);
    EXPECT_EQ(torque_at({}, -1e6, speed), -1e6);
  }
}

// I dw/dt = -n T (1 + n w / w0): the mirror image of a start in the positive direction.
TEST(Actuators, SpeedFollowsTheTorqueSpeedLineBackwards) {
  const double n = 5, stall = 0.2, w0 = 60;
  const RobotState<double> end = run({.gear = n, .stall_torque = stall, .no_load_speed = w0}, -100,
                                     2, IntegrationMethod::runge_kutta_4);
  // Rounding of 2000 steps.
  EXPECT_NEAR(end.v[0], -w0 / n * (1 - std::exp(-n * n * stall * 2 / (kInertia * w0))), 1e-13);
}

TEST(Actuators, LagIsOfFirstOrder) {
  const double T = 0.05, u = 0.8, t = 0.2;
  const RobotState<double> end =
      run({.time_constant = T}, u, t, IntegrationMethod::dormand_prince, 0.2);
  EXPECT_NEAR(end.x[0], u * (1 - std::exp(-t / T)), 1e-8);
  EXPECT_NEAR(end.v[0], u / kInertia * (t - T * (1 - std::exp(-t / T))), 1e-8);
}

TEST(Actuators, ANewStateStartsWithoutLag) {
  World world(wheel());
  world.set_actuators({{.time_constant = 0.05}});
  Simulation simulation(world, {IntegrationMethod::runge_kutta_4, 1e-3});
  simulation.set_controller([](const ControlInput&, Vector& tau) { tau[0] = 1; });
  simulation.run_until(0.1);
  const RobotState<double> first = simulation.state();
  EXPECT_GT(first.x[0], 0.8);
  simulation.set_state(0, Vector::Zero(1), Vector::Zero(1));
  EXPECT_EQ(simulation.state().x[0], 0);
  simulation.run_until(0.1);
  EXPECT_EQ(simulation.state().v, first.v);
}

TEST(Actuators, CommandsAreDelayed) {
  for (const IntegrationMethod method :
       {IntegrationMethod::semi_implicit_euler, IntegrationMethod::dormand_prince}) {
    const RobotState<double> end = run({.delay = 0.025}, 0.4, 0.1, method, 0.01);
    EXPECT_NEAR(end.v[0], 0.075, 1e-12) << to_text(method);
  }
}

TEST(Actuators, DelayedCommandsArriveInOrder) {
  World world(wheel());
  world.set_actuators({{.delay = 0.003}});
  Simulation simulation(world, {});
  simulation.set_controller(
      [](const ControlInput& now, Vector& tau) { tau[0] = now.t < 0.0055 ? 1 : -2; });
  std::vector<double> torques;
  for (int i = 1; i <= 12; ++i) {
    simulation.run_until(1e-3 * i);
    torques.push_back(world.motor_torque()[0]);
  }
  EXPECT_EQ(torques, (std::vector<double>{0, 0, 0, 1, 1, 1, 1, 1, 1, -2, -2, -2}));
}

/// Wheels on one axis, each with an inertia of 1 kg m^2.
Model<double> wheels(int count) {
  RobotBuilder<double> robot("wheels");
  for (int i = 0; i < count; ++i) {
    const std::string name = std::to_string(i);
    robot.link("w" + name, 1, {0, 0, 0}, Eigen::Matrix3d::Identity());
    robot.joint("j" + name, Joint<double>::continuous({0, 0, 1}), "world", "w" + name);
  }
  return robot.build();
}

// Actuator i has the torque commanded in the last period that began before t - delay[i], zero
// before the first one. Velocities are the sums of these torques.
TEST(Actuators, EachActuatorHasItsOwnDelay) {
  const std::array<double, 4> delays = {0.012, 0, 0.0045, 0.003};
  const double period = 2e-3, t_end = 0.03;
  const auto command = [](int i, int k) { return (i + 1) * (k + 1) % 7 - 2.5; };
  for (const IntegrationMethod method :
       {IntegrationMethod::runge_kutta_4, IntegrationMethod::dormand_prince}) {
    World world(wheels(4));
    std::vector<Actuator> motors;
    for (int i : {2, 0, 3, 1}) {  // in any order
      motors.push_back({.velocity = i, .delay = delays[static_cast<std::size_t>(i)]});
    }
    world.set_actuators(motors);
    Simulation simulation(world, {method, 5e-4, period});
    int periods = 0;
    simulation.set_controller([&](const ControlInput&, Vector& tau) {
      for (int i = 0; i < 4; ++i) tau[i] = command(i, periods);
      ++periods;
    });
    Vector expected = Vector::Zero(4);
    const double h = 5e-4;
    for (int n = 0; n < std::lround(t_end / h); ++n) {
      simulation.run_until((n + 1) * h);
      for (int i = 0; i < 4; ++i) {
        const double sent = n * h - delays[static_cast<std::size_t>(i)];
        const int k = static_cast<int>(std::floor(sent / period + 1e-6));
        const double tau = k < 0 ? 0 : command(i, k);
        expected[i] += h * tau;
        EXPECT_EQ(world.motor_torque()[i], tau) << to_text(method) << " " << i << " at " << n * h;
      }
    }
    EXPECT_EQ(periods, 15);
    EXPECT_LT((simulation.state().v - expected).norm(), 1e-15) << to_text(method);
  }
}

// The buffer is as long as the longest delay in the new period, and empty.
TEST(Actuators, ChangedCommandPeriodDiscardsCommands) {
  const Model<double> model = wheels(1);
  Actuators actuators(model, {{.delay = 0.01}});
  actuators.command(0, Vector::Constant(1, 3));
  EXPECT_EQ(actuators.next_jump(0), 0.01);
  EXPECT_EQ(actuators.next_jump(0.01), std::numeric_limits<double>::infinity());
  actuators.set_command_period(1e-4);
  EXPECT_EQ(actuators.next_jump(0), std::numeric_limits<double>::infinity());
  RobotState<double> s = make_state(model);
  Vector dx(0);
  for (int k = 0; k <= 300; ++k) {
    actuators.command(1e-4 * k, Vector::Constant(1, k + 1));
    actuators.begin_step(1e-4 * k);
    Vector tau = Vector::Zero(1);
    actuators.evaluate(s, tau, dx);
    EXPECT_EQ(tau[0], std::max(k - 99, 0)) << k;
  }
}

TEST(Actuators, IdealActuatorsHaveTheLimitsOfTheModel) {
  const Model<double> model = load_model("builtin:humanoid", Base::free);
  const std::vector<Actuator> all = ideal_actuators(model);
  EXPECT_EQ(static_cast<int>(all.size()), model.nv() - 6);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].velocity, static_cast<int>(i) + 6);
  }
}

TEST(Actuators, InvalidArgumentsAreRejected) {
  const Model<double> model = load_model("builtin:cartpole");
  Actuators ideal(model, ideal_actuators(model));
  EXPECT_EQ(
      message([&] { ideal.command(0.25, Vector::Ones(2)); }),
      "simulate: at t = 0.25 s a torque of 1 is commanded on joint 'hinge', which has no motor "
      "[computation failed]");
  EXPECT_EQ(message([&] { ideal.command(0, Vector::Ones(3)); }),
            "Actuators::command: tau has 3 entries, expected 2 (a free joint needs 7 numbers in q "
            "but 6 in v)");
  EXPECT_EQ(message([&] { Actuators(model, {{.velocity = 2}}); }),
            "Actuators: velocity is 2, expected 0 to 1");
  EXPECT_EQ(message([&] {
              Actuators(model, {{}, {}});
            }),
            "Actuators: joint 'rail' has two actuators");
  EXPECT_EQ(message([&] { Actuators(model, {{.delay = -1}}); }),
            "Actuators: delay is -1, expected >= 0 and finite");
  EXPECT_EQ(message([&] { Actuators(model, {{.gear = 0}}); }),
            "Actuators: gear is 0, expected > 0");
  EXPECT_EQ(message([&] { Actuators(model, {{.torque_limit = 0}}); }),
            "Actuators: torque_limit is 0, expected > 0");
  EXPECT_EQ(message([&] { Actuators(model, {{.stall_torque = -1}}); }),
            "Actuators: stall_torque is -1, expected > 0");
  EXPECT_EQ(message([&] { Actuators(model, {{.stall_torque = 1, .no_load_speed = 0}}); }),
            "Actuators: no_load_speed is 0, expected > 0");
  EXPECT_EQ(message([&] { Actuators(model, {{.no_load_speed = 1}}); }),
            "Actuators: stall_torque is missing, expected a number if no_load_speed is given");
  EXPECT_EQ(message([&] { Actuators(model, {{.time_constant = -1}}); }),
            "Actuators: time_constant is -1, expected >= 0 and finite");
  EXPECT_EQ(message([&] { Actuators(model, {{.velocity = -1}}); }),
            "Actuators: velocity is -1, expected 0 to 1");
  EXPECT_EQ(message([&] { ideal.set_command_period(0); }),
            "Actuators: period is 0, expected > 0 and finite");
  EXPECT_EQ(message([&] { ideal.command(0.5, Eigen::Vector2d(std::nan(""), 0)); }),
            "simulate: at t = 0.5 s the torque on joint 'rail' is nan [computation failed]");
}

}  // namespace
}  // namespace limb
