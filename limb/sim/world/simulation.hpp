#pragma once

#include <functional>
#include <span>

#include "limb/sim/integrate/event.hpp"
#include "limb/sim/world/world.hpp"

namespace limb {

/// Input of a controller.
struct ControlInput {
  double t;                     ///< s
  const VectorX<double>&q, &v;  ///< true or measured coordinates of the robot
  /// Wrenches of the environment on frames in the last evaluation of the forces, as force sensors
  /// measure them.
  std::span<const FrameWrench<double>> wrenches = {};
  /// Contacts of the last step, for contact switches in feet; null without ground.
  const Contacts* contacts = nullptr;
};
/// Writes motor torques on all velocities of the robot; zero where there is no motor. Called once
/// per control period; the torques are held in between. It should not allocate.
using Controller = std::function<void(const ControlInput&, VectorX<double>& tau)>;

struct SimulationOptions {
  IntegrationMethod method = IntegrationMethod::semi_implicit_euler;
  double step = 1e-3;         ///< s; adaptive methods: the longest step
  double control_period = 0;  ///< s; 0: every step. For fixed-step methods a multiple of the step
  double tolerance = 1e-9;    ///< adaptive methods: absolute and relative
  /// A run ends with an Error when its energy ledger does not close (check_ledger). Never for
  /// explicit-euler, which gains energy by its nature.
  bool check_energy = true;
};

/// Simulates a world: controller, motors, integrator.
class Simulation {
 public:
  /// The world must outlive this.
  /// @throws Error for options that contradict each other or the world.
  Simulation(World& world, const SimulationOptions& options);

  const RobotState<double>& state() const { return state_; }
  /// @throws Error for wrong sizes, quaternions that are not unit, or loops that do not close.
  void set_state(double t, VectorIn<double>& q, VectorIn<double>& v);
  void set_controller(Controller controller) { controller_ = std::move(controller); }
  /// Replaces the true coordinates q and v by measured ones for the controller.
  void set_measurement(
      std::function<void(double t, VectorX<double>& q, VectorX<double>& v)> measure) {
    measure_ = std::move(measure);
  }
  /// Events at which run_until() stops.
  void set_events(std::vector<Event> events);

  /// Called at the start of every control period, after the controller: state, command of the
  /// controller.
  using Observer = std::function<void(const RobotState<double>&, const VectorX<double>& command)>;
  void set_observer(Observer observer) { observer_ = std::move(observer); }
  /// Called after every step, also where one control period takes many: it may throw to end a run.
  void set_progress(std::function<void(double t)> progress) { progress_ = std::move(progress); }

  /// Runs to t_end or to the first event. If t_end is not a multiple of the step, the last step is
  /// shorter; if it differs from a multiple only by rounding, the run ends at that multiple.
  /// @returns the index of the event, or -1.
  /// @throws Error (computation failed, with the time) if the motion cannot be continued; the state
  /// is then the last valid one.
  int run_until(double t_end);

  /// Where the energy went since the state was set.
  EnergyBalance balance() { return world_.balance(state_); }
  /// run_until() checks every few steps.
  /// @throws Error (computation failed, with the time, the largest entry and the joint with the
  /// largest kinetic energy) if the error of integration exceeds a fifth of all the energy
  /// that was exchanged.
  void check_ledger();

  /// Evaluates the world at the present state, including its motors and loads. @returns the
  /// accelerations, with contacts.
  const VectorX<double>& acceleration();
  double control_period() const { return period_; }
  long steps() const { return steps_; }

 private:
  void begin_period();
  void initialize();
  void begin_work();
  void add_work(double start);
  void count_parts(double h, bool divided);

  World& world_;
  SimulationOptions options_;
  double period_;
  std::unique_ptr<Integrator<double>> integrator_;
  RobotState<double> state_;
  Controller controller_;
  std::function<void(double, VectorX<double>&, VectorX<double>&)> measure_;
  Observer observer_;
  std::function<void(double)> progress_;
  std::unique_ptr<EventFinder> events_;
  std::vector<FrameWrench<double>> wrenches_;  ///< input of the controller
  VectorX<double> command_, last_command_, a_, dx_, q_measured_, v_measured_;
  VectorX<double> v_before_;   ///< at the start of the step
  RobotState<double> middle_;  ///< of the step
  EnergyEntries start_powers_ = {};
  double origin_ = 0;         ///< time of the first period
  long period_count_ = 0;     ///< periods started
  double period_end_;         ///< of the present one
  bool initialized_ = false;  ///< the loops have been closed
  long steps_ = 0;
  double parts_ = 0;  ///< divisions of steps beyond those that every step may have
};

}  // namespace limb
