#pragma once

#include <functional>

#include "limb/control/testing/legged_robots.hpp"
#include "limb/sim/forces/wrench_laws.hpp"
#include "limb/sim/world/simulation.hpp"
#include "tests/locomotion/compliant_ground.hpp"

namespace limb::testing {

/// Simulation of a controlled legged robot on compliant ground, in steps of 0.1 ms.
class GroundRun {
 public:
  GroundRun(const LeggedRobot& robot, double control_period,
            std::vector<WrenchSchedule::Push> pushes = {},
            const CompliantGround::Parameters& ground = {})
      : world_(robot.model),
        ground_(world_.add<CompliantGround>(world_.model(), robot.feet, ground)) {
    world_.add<WrenchSchedule>(world_.model(), std::move(pushes));
    SimulationOptions options;
    options.step = 1e-4;
    options.control_period = control_period;
    simulation_ = std::make_unique<Simulation>(world_, options);
    simulation_->set_state(0, robot.q, VectorX<double>::Zero(robot.model.nv()));
  }

  Simulation& simulation() { return *simulation_; }
  const RobotState<double>& state() const { return simulation_->state(); }
  const CompliantGround& ground() const { return ground_; }

 private:
  World world_;
  CompliantGround& ground_;
  std::unique_ptr<Simulation> simulation_;
};

/// A constant force at a frame with this impulse in 0.1 s.
inline WrenchSchedule::Push push(FrameId frame, double start, const Vector3<double>& impulse) {
  constexpr double kDuration = 0.1;
  return {frame, start, start + kDuration, Force<double>{impulse / kDuration, {0, 0, 0}},
          WrenchAxes::world};
}

}  // namespace limb::testing
