#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "limb/base/testing/worst.hpp"
#include "limb/math/testing/max_abs.hpp"
#include "limb/math/testing/random.hpp"
#include "limb/model/core/load.hpp"
#include "limb/sim/world/simulation.hpp"

/// Drop tests: robots dropped in random poses.
namespace limb::testing {

/// A robot with all its shapes above a plane. An arm on a fixed base is mounted on the plane.
struct DropRobot {
  explicit DropRobot(const std::string& path)
      : description(load_description(path)), model(build_model(description)) {
    setup.shapes = shapes_of(description, model);
    // Shapes of the first link of a fixed robot would touch from the start.
    std::erase_if(setup.shapes, [&](const ContactShape& s) {
      return !has_base() && model.body(s.body).parent.value() == 0;
    });
    setup.ground = Ground::plane({0.7, 0}, has_base() ? 0 : -0.02);
  }
  bool has_base() const { return model.bodies()[1].joint.type() == JointType::free; }

  Description<double> description;
  Model<double> model;
  ContactSetup setup;
};

struct Drop {
  double penetration = 0;  ///< m, deepest
  double fastest = 0;      ///< largest velocity, rad/s or m/s
  /// J, largest increase over the initial energy. Velocities of the semi-implicit method are those
  /// of the middle of a step; here they are advanced to its end by the forces without contact.
  double energy_growth = 0;
  double energy_gain = 0;  ///< J, largest energy added by the impulses of a step
  double residual = 0;     ///< m/s, worst
  long not_converged = 0, steps = 0;
  int contacts = 0;
  bool finite = true;
};

/// Height of the lowest point of the robot's shapes.
inline double lowest(const DropRobot& robot, const VectorX<double>& q) {
  Kinematics<double> kinematics(robot.model);
  forward_kinematics(robot.model, q, kinematics);
  Least low;
  for (const ContactShape& s : robot.setup.shapes) {
    const Pose<double> X = kinematics.X_WB[static_cast<std::size_t>(s.body.value())] * s.X_BS;
    CollisionPoints points;
    collide(PlacedShape{s.kind, s.size, X, s.hull.get()}, Ground::HalfSpace{{0, 0, 1}, 0, {}}, 1e3,
            points);
    for (int i = 0; i < points.size(); ++i) low.add(points[i].gap);
  }
  return low.value();
}

/// State of drop number `seed`: any pose within the limits, up to 0.3 m above the ground, some
/// velocity.
inline std::pair<VectorX<double>, VectorX<double>> drop_state(const DropRobot& robot,
                                                              unsigned seed) {
  Random random(seed);
  std::mt19937_64 engine(seed);
  VectorX<double> q, v(robot.model.nv());
  for (int tries = 0; tries < 1000; ++tries) {
    q = robot.model.random_configuration(engine);
    if (robot.has_base()) {
      q[2] = 0;
      q.head<2>().setZero();
      q[2] = random.uniform(0.01, 0.3) - lowest(robot, q);
      break;
    }
    if (lowest(robot, q) > -0.02) break;  // an arm that does not start in the ground
  }
  for (auto& x : v) x = random.uniform(-1.5, 1.5);
  return {q, v};
}

/// Drop number `seed`.
inline Drop drop(const DropRobot& robot, unsigned seed, double duration, double step,
                 const WorldOptions& options) {
  World world(robot.model, options);
  world.set_contact(robot.setup);
  Simulation simulation(world, {.step = step});
  const auto [q, v] = drop_state(robot, seed);
  simulation.set_state(0, q, v);
  Drop result;
  RobotState<double> state = simulation.state();
  VectorX<double> a(robot.model.nv()), dx(0);
  const auto energy = [&] {
    state = simulation.state();
    world.rates(state, a, dx);
    state.v += step / 2 * a;
    return world.energy(state).total();
  };
  const double start = energy();
  const int steps = static_cast<int>(std::lround(duration / step));
  try {
    for (int i = 1; i <= steps; ++i) {
      simulation.run_until(i * step);
      const ContactReport& report = world.contacts()->report();
      result.contacts = std::max<int>(result.contacts, report.contacts);
      result.fastest = worse(result.fastest, max_abs(simulation.state().v));
      result.energy_growth = worse(result.energy_growth, energy() - start);
    }
  } catch (const Error&) {
    result.finite = false;
  }
  const ContactTotals& totals = world.contacts()->totals();
  result.penetration = totals.penetration;
  result.residual = totals.residual;
  result.energy_gain = totals.energy_gain;
  result.not_converged = totals.not_converged;
  result.steps = totals.steps;
  return result;
}

}  // namespace limb::testing
