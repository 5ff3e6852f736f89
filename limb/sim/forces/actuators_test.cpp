// Motors against closed forms: torque-speed line, lag and delay.
#include "limb/sim/forces/actuators.hpp"

#include <gtest/gtest.h>

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

TEST(Actuators, LagIsOfFirstOrder) {
  const double T = 0.05, u = 0.8, t = 0.2;
  const RobotState<double> end =
      run({.time_constant = T}, u, t, IntegrationMethod::dormand_prince, 0.2);
  EXPECT_NEAR(end.x[0], u * (1 - std::exp(-t / T)), 1e-8);
  EXPECT_NEAR(end.v[0], u / kInertia * (t - T * (1 - std::exp(-t / T))), 1e-8);
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

TEST(Actuators, IdealActuatorsHaveTheLimitsOfTheModel) {
  const Model<double> model = load_model("builtin:humanoid", Base::free);
  const std::vector<Actuator> all = ideal_actuators(model);
  EXPECT_EQ(static_cast<int>(all.size()), model.nv() - 6);
  EXPECT_EQ(all[0].velocity, 6);
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
}

}  // namespace
}  // namespace limb
