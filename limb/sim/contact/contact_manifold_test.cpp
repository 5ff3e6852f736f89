// Contact points from step to step: they keep their identity and therefore their impulses, and a
// motion in which they appear and disappear only loses energy.
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "limb/base/testing/worst.hpp"
#include "limb/model/core/builder.hpp"
#include "limb/sim/world/simulation.hpp"

namespace limb {
namespace {

using Vector = VectorX<double>;

/// A box of 1 kg, 0.2 x 0.12 x 0.1 m, on any ground.
struct Box {
  explicit Box(const Ground& ground, double step = 1e-3) : world(model()) {
    ContactShape shape;
    shape.name = "body";
    shape.body = BodyId(1);
    shape.kind = ContactShape::Kind::box;
    shape.size = {0.2, 0.12, 0.1};
    world.set_contact({ground, {shape}, {}});
    simulation = std::make_unique<Simulation>(world, SimulationOptions{.step = step});
  }
  static Model<double> model() {
    RobotBuilder<double> robot("body");
    const double x = 0.04 / 12, y = 0.0144 / 12, z = 0.01 / 12;
    robot.link("body", 1, {0, 0, 0}, Vector3<double>(y + z, x + z, x + y).asDiagonal());
    robot.joint("free", Joint<double>::free(), "world", "body");
    return robot.build();
  }
  void start(const Pose<double>& X, const Vector& v) {
    Vector q(7);
    q << X.p, quaternion_from_matrix(X.R).xyzw();
    simulation->set_state(0, q, v);
  }
  std::set<std::tuple<int, int, int>> identities() const {
    std::set<std::tuple<int, int, int>> result;
    for (const ContactPoint& c : world.contacts()->points()) {
      result.emplace(c.shape, c.other, c.feature);
    }
    return result;
  }
  World world;
  std::unique_ptr<Simulation> simulation;
};

TEST(ContactManifold, PointsOfASlidingBoxKeepTheirIdentityAndImpulses) {
  Ground box;
  box.add_box({Matrix3<double>::Identity(), {0, 0, -0.5}}, {4, 4, 1}, {0.2, 0});
  for (const Ground& ground : {Ground::plane({0.2, 0}), box}) {
    Box robot(ground);
    Vector v(6);
    v << 1.5, 0.4, 0, 0, 0, 0;
    robot.start({Matrix3<double>::Identity(), {-0.5, 0, 0.05}}, v);
    robot.simulation->run_until(0.01);
    const auto first = robot.identities();
    EXPECT_EQ(first.size(), 4u);
    // While it slides, and at rest: friction stops it after 1.55 / (0.2 g) = 0.79 s.
    for (int i = 11; i <= 1500; ++i) {
      robot.simulation->run_until(1e-3 * i);
      ASSERT_EQ(robot.identities(), first) << "step " << i;
      // Warm-started with the impulses of the last step, the solver needs few sweeps.
      if (i < 700 || i > 900) {
        EXPECT_LE(robot.world.contacts()->report().sweeps, 4) << "step " << i;
      }
    }
    EXPECT_LT(robot.simulation->state().v.norm(), 1e-9);
    const double distance =
        std::hypot(robot.simulation->state().q[0] + 0.5, robot.simulation->state().q[1]);
    EXPECT_NEAR(distance, (1.5 * 1.5 + 0.4 * 0.4) / (2 * 0.2 * 9.81),
                2e-3);  // first order in the step
  }
}

TEST(ContactManifold, BoxTumblesDownStairsAndOnlyLosesEnergy) {
  // The stairs ascend along +x; thrown from the landing towards -x it falls down all five steps.
  const Ground ground =
      Ground::stairs({.count = 5, .rise = 0.15, .run = 0.3, .width = 2, .begin = 0}, {0.5, 0});
  Box robot(ground);
  Vector v(6);
  v << -1.5, 0, 0, 0, -12, 0;
  robot.start({axis_rotation(1, 0.3), {1.3, 0, 1.0}}, v);
  double energy = robot.world.energy(robot.simulation->state()).total();
  Worst rise;
  std::set<int> steps;
  for (int i = 1; i <= 4000; ++i) {
    robot.simulation->run_until(1e-3 * i);
    const double now = robot.world.energy(robot.simulation->state()).total();
    rise.add(now - energy);
    energy = now;
    for (const ContactPoint& c : robot.world.contacts()->points()) {
      if (c.force_W.norm() > 0) steps.insert(c.other);
    }
  }
  EXPECT_GE(steps.size(), 4u);  // solids of the ground that it touched
  EXPECT_LT(robot.simulation->state().q[2], 0.2);
  EXPECT_LT(robot.simulation->state().v.norm(), 1e-6);
  const ContactTotals& totals = robot.world.contacts()->totals();
  EXPECT_LT(totals.penetration, 1e-3);
  EXPECT_LT(totals.residual, 1e-6);
  EXPECT_LT(totals.energy_gain, 1e-15);
  // Velocities are those of the middle of a step: the energy varies by at most m g v h.
  EXPECT_LT(rise.value(), 1 * 9.81 * 4 * 1e-3);
}

}  // namespace
}  // namespace limb
