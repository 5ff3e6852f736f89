// A wall: statics, bounce and friction of a block against their closed forms.
#include "limb/sim/forces/wall_law.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "limb/math/testing/compare.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/sim/world/simulation.hpp"

namespace limb {
namespace {

using testing::message;
using Vector = VectorX<double>;

/// 2 kg on rails along x and y, without gravity.
Model<double> block() {
  RobotBuilder<double> robot("block");
  robot.gravity({0, 0, 0}).link("slide", 0.5, {0, 0, 0}, Matrix3<double>::Identity());
  robot.link("block", 1.5, {0, 0, 0}, Matrix3<double>::Identity());
  robot.joint("x", Joint<double>::prismatic({1, 0, 0}), "world", "slide");
  return robot.joint("y", Joint<double>::prismatic({0, 1, 0}), "slide", "block").build();
}

WallLaw::Parameters wall_of(const Model<double>& model) {
  WallLaw::Parameters p;
  p.frame = model.find_frame("block");
  p.point = {0.3, 7, 0};
  p.normal = {-1, 0, 0};
  p.stiffness = 800;
  return p;
}

// Half a period of the mass on the spring of the wall, then back with the same speed.
TEST(WallLaw, BouncesLikeASpring) {
  World world(block());
  world.add<WallLaw>(world.model(), wall_of(world.model()));
  Simulation simulation(world, {IntegrationMethod::runge_kutta_4, 1e-4});
  simulation.set_state(0, Eigen::Vector2d(0, 0), Eigen::Vector2d(1.5, 0));
  const double w = std::sqrt(800 / 2.0), contact = std::numbers::pi / w;
  simulation.run_until(0.2 + contact / 2);
  EXPECT_NEAR(simulation.state().q[0], 0.3 + 1.5 / w, 1e-7);
  EXPECT_NEAR(world.energy(simulation.state()).stored, 1.5 * 1.5, 1e-6);  // m v^2 / 2
  simulation.run_until(0.2 + contact + 0.1);
  EXPECT_NEAR(simulation.state().v[0], -1.5, 1e-5);
  EXPECT_NEAR(simulation.state().q[0], 0.3 - 0.15, 1e-5);
}

TEST(WallLaw, FrictionIsCoulombFriction) {
  World world(block());
  WallLaw::Parameters p = wall_of(world.model());
  p.friction = 0.4;
  p.damping = 200;
  world.add<WallLaw>(world.model(), p);
  Simulation simulation(world, {IntegrationMethod::runge_kutta_4, 1e-4});
  const double F = 10, depth = F / 800;
  simulation.set_state(0, Eigen::Vector2d(0.3 + depth, 0), Eigen::Vector2d(0, 0.5));
  simulation.set_controller([&](const ControlInput&, Vector& tau) { tau = Eigen::Vector2d(F, 0); });
  simulation.run_until(0.1);
  EXPECT_NEAR(simulation.state().q[0], 0.3 + depth, 1e-12);
  EXPECT_NEAR(simulation.state().v[1], 0.5 - 0.4 * F / 1.5 * 0.1, 1e-6);  // 1.5 kg slide along y
}

TEST(WallLaw, RejectsInvalidParameters) {
  const Model<double> model = block();
  WallLaw::Parameters p = wall_of(model);
  p.normal = {2, 0, 0};
  EXPECT_EQ(message([&] { WallLaw(model, p); }).substr(0, 18), "WallLaw: normal is");
  p = wall_of(model);
  p.frame = FrameId(50);
  EXPECT_EQ(message([&] { WallLaw(model, p); }).substr(0, 29), "WallLaw: frame is 50, expecte");
}

}  // namespace
}  // namespace limb
