#pragma once

#include "limb/control/testing/legged_robots.hpp"
#include "limb/sim/simulation.hpp"
#include "limb/sim/wrench_laws.hpp"

namespace limb::testing {

/// A legged robot on rigid, level ground under a controller, in steps of 1 ms: all points of its
/// feet can touch, and nothing else.
class RigidRun {
 public:
  RigidRun(const LeggedRobot& robot, double control_period,
           std::vector<WrenchSchedule::Push> pushes = {}, double friction = 0.8)
      : world_(robot.model) {
    ContactSetup setup{Ground::plane({.friction = friction}), {}, {}};
    for (const Foot& foot : robot.feet) {
      for (const Vector3<double>& p_FQ : foot.points) {
        ContactShape point = make_foot(world_.model(), foot.frame, 0);
        point.X_BS = point.X_BS * Pose<double>{Matrix3<double>::Identity(), p_FQ};
        setup.shapes.push_back(point);
      }
    }
    world_.set_contact(setup);
    world_.add<WrenchSchedule>(world_.model(), std::move(pushes));
    SimulationOptions options;
    options.step = 1e-3;
    options.control_period = control_period;
    simulation_ = std::make_unique<Simulation>(world_, options);
    simulation_->set_state(0, robot.q, VectorX<double>::Zero(robot.model.velocity_size()));
  }

  Simulation& simulation() { return *simulation_; }
  const State<double>& state() const { return simulation_->state(); }
  const Contacts& contacts() const { return *world_.contacts(); }

 private:
  World world_;
  std::unique_ptr<Simulation> simulation_;
};

}  // namespace limb::testing
