// Controllers: each follows its formula, and moves its robot to the target.
#include "limb/sim/world/controllers.hpp"

#include <gtest/gtest.h>

#include "limb/dynamics/testing/allocations.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

using testing::message;
using Kind = ControllerSetup::Kind;
using Vector = VectorX<double>;

ControllerSetup setup_for(const Model<double>& model, Kind kind) {
  ControllerSetup setup;
  setup.kind = kind;
  setup.target = Vector::Constant(model.nq(), 0.4);
  set_gains(model, setup.target, 2, 1, setup);
  return setup;
}

double error_after(double t, Kind kind) {
  World world(load_model("builtin:arm7"), {.stops = WorldOptions::Stops::none});
  Simulation simulation(world, {IntegrationMethod::runge_kutta_4, 1e-3});
  simulation.set_controller(make_controller(world.model(), setup_for(world.model(), kind)));
  simulation.run_until(t);
  return (simulation.state().q - Vector::Constant(7, 0.4)).norm();
}

TEST(Controllers, ReachTheirTarget) {
  EXPECT_LT(error_after(3, Kind::gravity), 1e-6);
  EXPECT_LT(error_after(3, Kind::computed_torque), 1e-6);
  EXPECT_GT(error_after(3, Kind::pd), 1e-3);  // steady-state error by gravity
}

// Critically damped and decoupled: e(t) = e0 (1 + w t) exp(-w t), for any arm.
TEST(Controllers, ComputedTorqueDecouplesTheJoints) {
  const double w = 4 * 3.14159265358979, t = 0.2, e = 0.4 * (1 + w * t) * std::exp(-w * t);
  // Torques are held for a millisecond: an error of order 1.
  EXPECT_NEAR(error_after(t, Kind::computed_torque), e * std::sqrt(7), 0.02);
}

TEST(Controllers, OpenLoopIsASine) {
  const Model<double> model = load_model("builtin:2r");
  ControllerSetup setup;
  setup.kind = Kind::open_loop;
  setup.torque = Eigen::Vector2d(1, 0);
  setup.amplitude = Eigen::Vector2d(2, 3);
  setup.frequency = Eigen::Vector2d(0.25, 0);
  const Controller controller = make_controller(model, setup);
  Vector tau(2);
  const Vector zero = Vector::Zero(2);
  controller({1, zero, zero}, tau);
  EXPECT_NEAR(tau[0], 3, 1e-15);
  EXPECT_EQ(tau[1], 0);
}

TEST(Controllers, DriveOnlyVelocitiesWithMotors) {
  const Model<double> model = load_model("builtin:cartpole");
  const ControllerSetup setup = setup_for(model, Kind::gravity);
  Vector tau(2);
  const Vector q = Vector::Zero(2), v = Vector::Ones(2);
  make_controller(model, setup)({0, q, v}, tau);
  EXPECT_NE(tau[0], 0);
  EXPECT_EQ(tau[1], 0);
  EXPECT_EQ(message([&] { make_controller(model, setup_for(model, Kind::computed_torque)); }),
            "make_controller: computed torque needs a motor for every velocity, and this robot has "
            "some without");
}

TEST(Controllers, DoNotAllocate) {
  if (!testing::kCountsAllocations) GTEST_SKIP() << "sanitizers replace the allocator";
  const Model<double> model = load_model("builtin:arm7");
  const Vector q = Vector::Zero(7), v = Vector::Ones(7);
  Vector tau(7);
  for (const Kind kind : {Kind::pd, Kind::gravity, Kind::computed_torque}) {
    const Controller controller = make_controller(model, setup_for(model, kind));
    EXPECT_EQ(testing::allocations([&] { controller({0, q, v}, tau); }), 0);
  }
}

}  // namespace
}  // namespace limb
