#pragma once

#include <functional>
#include <span>

#include "limb/sim/event.hpp"
#include "limb/sim/world.hpp"

namespace limb {

/// What a controller knows when it is asked.
struct ControlInput {
  double t;                     ///< s
  const VectorX<double>&q, &v;  ///< the robot's own coordinates: true ones, or what encoders say
  /// What the environment exerts on frames, as in the last evaluation of the forces: what force
  /// sensors feel.
  std::span<const FrameWrench<double>> wrenches = {};
  /// What touched in the last step, for switches in feet; null without ground.
  const Contacts* contacts = nullptr;
};
/// Torques for the motors, on all of the robot's velocities; zero where there is no motor. Called
/// once a control period, and held in between. No allocation is asked of it, and none is made for
/// it.
using Controller = std::function<void(const ControlInput&, VectorX<double>& tau)>;

struct SimulationOptions {
  Method method = Method::semi_implicit_euler;
  double step = 1e-3;  ///< s; adaptive methods: the longest one
  double control_period =
      0;                    ///< s; 0: every step. A multiple of the step for methods of fixed step
  double tolerance = 1e-9;  ///< of adaptive methods, absolute and relative
};

/// A world in time: controller, motors, integrator.
class Simulation {
 public:
  /// The world stays the caller's and must live as long.
  /// @throws Error for options that contradict each other or the world.
  Simulation(World& world, const SimulationOptions& options);

  const State<double>& state() const { return state_; }
  /// @throws Error for wrong sizes, quaternions that are not unit, or loops that do not close.
  void set_state(double t, VectorIn<double>& q, VectorIn<double>& v);
  void set_controller(Controller controller) { controller_ = std::move(controller); }
  /// Instead of the true coordinates, the controller sees what this writes.
  void set_measurement(std::function<void(double t, VectorX<double>& q, VectorX<double>& v)> see) {
    see_ = std::move(see);
  }
  /// The run stops at these. @returns what run_until() says then.
  void set_events(std::vector<Event> events);

  /// Called at the begin of every control period, when the torques for it are known: state, command
  /// of the controller.
  using Observer = std::function<void(const State<double>&, const VectorX<double>& command)>;
  void set_observer(Observer observer) { observer_ = std::move(observer); }

  /// Runs to t_end or to the first event. Where t_end is no multiple of the step, the last one is
  /// shorter; where it is one but for rounding, the time is then that of the step.
  /// @returns the index of the event, or -1.
  /// @throws Error (computation failed, with the time) if the motion ends before; the state is then
  /// the last good one.
  int run_until(double t_end);

  /// The world's rates at the present state: accelerations, and what it says of motors and forces.
  const VectorX<double>& acceleration();
  double control_period() const { return period_; }
  long steps() const { return steps_; }

 private:
  void begin_period();

  World& world_;
  SimulationOptions options_;
  double period_;
  std::unique_ptr<Integrator<double>> integrator_;
  State<double> state_;
  Controller controller_;
  std::function<void(double, VectorX<double>&, VectorX<double>&)> see_;
  Observer observer_;
  std::unique_ptr<EventFinder> events_;
  std::vector<FrameWrench<double>> wrenches_;  ///< that the controller sees
  VectorX<double> command_, last_command_, a_, dx_, q_seen_, v_seen_;
  double origin_ = 0;      ///< time of the first period
  long period_count_ = 0;  ///< periods that have begun
  double period_end_;      ///< of the present one
  bool settled_ = false;   ///< the loops have been closed
  long steps_ = 0;
};

}  // namespace limb
