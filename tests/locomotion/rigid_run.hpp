#pragma once

#include "limb/control/testing/legged_robots.hpp"
#include "limb/sim/forces/wrench_laws.hpp"
#include "limb/sim/world/simulation.hpp"

namespace limb::testing {

/// Simulation of a controlled legged robot on rigid, level ground, in steps of 1 ms. Only the
/// points of its feet collide.
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
    simulation_->set_state(0, robot.q, VectorX<double>::Zero(robot.model.nv()));
  }

  Simulation& simulation() { return *simulation_; }
  const RobotState<double>& state() const { return simulation_->state(); }
  const Contacts& contacts() const { return *world_.contacts(); }

 private:
  World world_;
  std::unique_ptr<Simulation> simulation_;
};

}  // namespace limb::testing
