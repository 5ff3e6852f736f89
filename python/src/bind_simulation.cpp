#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>

#include "limb/sim/cvode.hpp"
#include "python/src/simulation.hpp"

namespace limb::python {
namespace {

using Vector = VectorX<double>;

/// Rows of a recording; energies and momenta as in logs.
struct Rows {
  std::vector<double> t, q, v, command, motor, energy, momentum;
};

void append(const Vector& row, std::vector<double>& to) {
  to.insert(to.end(), row.begin(), row.end());
}

/// A sensor, and its readings in a recording.
struct Watched {
  Sensor sensor;
  std::vector<double> t, values;
};

class SimulationCore {
 public:
  SimulationCore(nb::handle world_object, const std::string& integrator, double step,
                 double control_period, double tolerance)
      : world_object_(nb::borrow(world_object)),
        core_(nb::cast<WorldCore&>(world_object)),
        simulation_(core_.world,
                    {method_from_text("Simulation", integrator), step, control_period, tolerance}),
        kinematics_(core_.model()),
        last_command_(Vector::Zero(core_.model().velocity_size())) {
    ++core_.simulations;
    simulation_.set_observer([this](const State<double>& s, const Vector& command) {
      last_command_ = command;
      see(s, command);
    });
    const State<double> begin = core_.world.initial_state();
    simulation_.set_state(0, begin.q, begin.v);
  }
  ~SimulationCore() { --core_.simulations; }
  SimulationCore(const SimulationCore&) = delete;
  SimulationCore& operator=(const SimulationCore&) = delete;

  void set_state(nb::handle q, nb::handle v, double t) {
    const Busy busy("Simulation.set_state", core_.busy);
    const int nv = core_.model().velocity_size();
    simulation_.set_state(
        t, vector_of("Simulation.set_state", "q", q, core_.model().position_size()),
        v.is_none() ? Vector(Vector::Zero(nv)) : vector_of("Simulation.set_state", "v", v, nv));
  }

  void set_controller(nb::handle function) {
    const Busy busy("Simulation.set_controller", core_.busy);
    controller_ = nb::borrow(function);
    if (function.is_none()) {
      simulation_.set_controller({});
      return;
    }
    simulation_.set_controller([call = StateCall(function)](const ControlInput& now, Vector& tau) {
      const nb::gil_scoped_acquire acquired;
      const nb::object given = call(now.t, now.q, now.v);
      if (given.is_none()) return;
      tau = vector_of("Simulation", "result of the controller", given, tau.size());
    });
  }

  void set_events(const std::vector<std::tuple<nb::object, std::string>>& events) {
    const Busy busy("Simulation.set_events", core_.busy);
    std::vector<Event> all;
    nb::list functions;
    for (const auto& [function, direction] : events) {
      functions.append(function);
      const int which =
          choice_of("Simulation.set_events", "direction", direction, {"rising", "falling", "both"});
      all.push_back({[call = StateCall(function)](const State<double>& s) {
                       const nb::gil_scoped_acquire acquired;
                       return nb::cast<double>(call(s.t, s.q, s.v));
                     },
                     static_cast<Event::Direction>(which)});
    }
    events_ = functions;
    simulation_.set_events(std::move(all));
  }

  void add_sensor(const std::string& name, const std::string& type,
                  const std::optional<std::string>& frame, std::vector<std::string> joints,
                  double noise, double bias, double bias_walk, double resolution, double range,
                  double rate, double delay, std::uint64_t seed) {
    const Busy busy("Simulation.add_sensor", core_.busy);
    SensorSetup setup;
    setup.name = name;
    setup.kind = static_cast<SensorSetup::Kind>(
        choice_of("Simulation.add_sensor", "type", type,
                  {"accelerometer", "gyroscope", "position", "velocity", "torque", "truth"}));
    const bool imu = setup.kind == SensorSetup::Kind::accelerometer ||
                     setup.kind == SensorSetup::Kind::gyroscope;
    if (imu != frame.has_value()) {
      fail("Simulation.add_sensor", "frame", imu ? "missing" : "'" + *frame + "'",
           imu ? "a name" : "none for this type");
    }
    if (imu) setup.frame = core_.robot().frame("Simulation.add_sensor", *frame);
    setup.joints = std::move(joints);
    check_not_negative("Simulation.add_sensor", "rate", rate);
    setup.errors = {noise, bias, bias_walk, resolution, range, rate > 0 ? 1 / rate : 0, delay};
    if (std::any_of(watched_.begin(), watched_.end(),
                    [&](const Watched& w) { return w.sensor.name() == name; })) {
      fail("Simulation.add_sensor", "name", "'" + name + "'", "one that no other sensor has");
    }
    if (setup.errors.period > 0 &&
        setup.errors.period < simulation_.control_period() * (1 - 1e-6)) {
      fail("Simulation.add_sensor", "rate", to_text(rate) + " Hz",
           "at most one sample each control period, " + to_text(simulation_.control_period()) +
               " s");
    }
    watched_.push_back(
        {Sensor(core_.model(), name, quantity_of(core_.model(), setup), setup.errors, seed),
         {},
         {}});
  }

  const Watched& watched(const char* call, const std::string& name) const {
    for (const Watched& w : watched_) {
      if (w.sensor.name() == name) return w;
    }
    throw Error(std::string(call) + ": no sensor is named '" + name + "'");
  }
  nb::object reading(const std::string& name) const {
    return array_of(watched("Simulation.reading", name).sensor.reading());
  }
  const std::vector<std::string>& channels(const std::string& name) const {
    return watched("Simulation.channels", name).sensor.channels();
  }

  std::optional<int> run(double t_end) {
    const Busy busy("Simulation.run", core_.busy);
    return run_now(t_end);
  }

  nb::dict record(double t_end, double period) {
    const Busy busy("Simulation.record", core_.busy);
    check_positive("Simulation.record", "period", period);
    Rows rows;
    for (Watched& w : watched_) w.t.clear(), w.values.clear();
    rows_ = &rows;
    row_period_ = period;
    next_row_ = simulation_.state().t;
    std::optional<int> event;
    try {
      event = run_now(t_end);
      const nb::gil_scoped_release released;
      see(simulation_.state(), last_command_);
    } catch (...) {
      rows_ = nullptr;
      throw;
    }
    rows_ = nullptr;
    const Eigen::Index nq = core_.model().position_size(), nv = core_.model().velocity_size();
    nb::dict all;
    all["t"] = array_of(rows.t, 0);
    all["q"] = array_of(rows.q, nq);
    all["v"] = array_of(rows.v, nv);
    all["command"] = array_of(rows.command, nv);
    all["motor"] = array_of(rows.motor, nv);
    all["energy"] = array_of(rows.energy, 4);
    all["momentum"] = array_of(rows.momentum, 6);
    nb::dict sensors;
    for (const Watched& w : watched_) {
      nb::dict one;
      one["t"] = array_of(w.t, 0);
      one["values"] = array_of(w.values, w.sensor.reading().size());
      sensors[w.sensor.name().c_str()] = one;
    }
    all["sensors"] = sensors;
    all["event"] = event ? nb::cast(*event) : nb::none();
    return all;
  }

  double t() const { return simulation_.state().t; }
  nb::object q() const { return array_of(simulation_.state().q); }
  nb::object v() const { return array_of(simulation_.state().v); }
  long steps() const { return simulation_.steps(); }
  nb::object acceleration() {
    const Busy busy("Simulation.acceleration", core_.busy);
    return array_of(accelerate());
  }
  nb::object motor_torque() {
    const Busy busy("Simulation.motor_torque", core_.busy);
    accelerate();
    return array_of(core_.world.motor_torque());
  }
  nb::object energy() {
    const Busy busy("Simulation.energy", core_.busy);
    const World::Energy e = core_.world.energy(simulation_.state());
    return result_of("Energy", e.kinetic, e.potential, e.stored, e.total());
  }
  nb::object momentum() {
    const Busy busy("Simulation.momentum", core_.busy);
    return array_of(core_.world.momentum(simulation_.state()).vector());
  }

  int visit(visitproc visit, void* arg) const {
    Py_VISIT(controller_.ptr());
    Py_VISIT(events_.ptr());
    Py_VISIT(world_object_.ptr());
    return 0;
  }
  void clear() {
    simulation_.set_controller({});
    simulation_.set_events({});
    controller_ = nb::object();
    events_ = nb::object();
  }

 private:
  const Vector& accelerate() {
    const nb::gil_scoped_release released;
    return simulation_.acceleration();
  }
  std::optional<int> run_now(double t_end) {
    const nb::gil_scoped_release released;
    const int event = simulation_.run_until(t_end);
    return event < 0 ? std::nullopt : std::optional(event);
  }

  /// At the begin of a control period, and at the end of a recording; without the lock.
  void see(const State<double>& s, const Vector& command) {
    const bool row = rows_ != nullptr && s.t >= next_row_ - 1e-9;
    if (watched_.empty() && !row) return;
    const Vector& a = simulation_.acceleration();
    if (!watched_.empty()) {
      forward_kinematics(core_.model(), s.q, s.v, a, kinematics_);
      const SensorInput input{core_.model(), s, a, core_.world.motor_torque(), kinematics_};
      for (Watched& w : watched_) {
        if (!w.sensor.update(input) || rows_ == nullptr) continue;
        w.t.push_back(s.t);
        append(w.sensor.reading(), w.values);
      }
    }
    if (!row) return;
    next_row_ += row_period_ * std::floor((s.t - next_row_) / row_period_ + 1 + 1e-6);
    rows_->t.push_back(s.t);
    append(s.q, rows_->q);
    append(s.v, rows_->v);
    append(command, rows_->command);
    append(core_.world.motor_torque(), rows_->motor);
    const World::Energy e = core_.world.energy(s);
    append(Eigen::Vector4d(e.kinetic, e.potential, e.stored, e.total()), rows_->energy);
    append(core_.world.momentum(s).vector(), rows_->momentum);
  }

  nb::object world_object_;
  WorldCore& core_;
  Simulation simulation_;
  Kinematics<double> kinematics_;
  nb::object controller_, events_;
  std::vector<Watched> watched_;
  Vector last_command_;
  Rows* rows_ = nullptr;  ///< of the recording that runs
  double row_period_ = 0, next_row_ = 0;
};

int visit_simulation(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<SimulationCore>(self)->visit(visit, arg) : 0;
}
int clear_simulation(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<SimulationCore>(self)->clear();
  return 0;
}
PyType_Slot simulation_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(visit_simulation)},
                                  {Py_tp_clear, reinterpret_cast<void*>(clear_simulation)},
                                  {0, nullptr}};
}  // namespace

void bind_simulation(nb::module_& m) {
  m.def("has_cvode", &Cvode::is_available, "Whether the integrator cvode is there.");
  nb::class_<SimulationCore>(m, "Simulation", nb::type_slots(simulation_slots),
                             "A world in time: controller, motors, integrator, sensors.")
      .def(nb::init<nb::handle, const std::string&, double, double, double>(), "world"_a,
           nb::kw_only(), "integrator"_a = "semi-implicit-euler", "step"_a = 1e-3,
           "control_period"_a = 0.0, "tolerance"_a = 1e-9,
           nb::sig("def __init__(self, world: World, *, integrator: Integrator = "
                   "'semi-implicit-euler', step: float = 0.001, control_period: float = 0.0, "
                   "tolerance: float = 1e-09) -> None"),
           "At rest in the neutral configuration. step: s; of adaptive methods the longest. "
           "control_period: s; 0: every step.")
      .def("set_state", &SimulationCore::set_state, "q"_a, "v"_a = nb::none(), "t"_a = 0.0,
           nb::sig("def set_state(self, q: ArrayLike, v: ArrayLike | None = None, t: float = 0.0) "
                   "-> None"),
           "v = None: at rest.")
      .def("set_controller", &SimulationCore::set_controller, "function"_a.none(),
           nb::sig("def set_controller(self, function: StateFunction | None) -> None"),
           "Torques of the motors, asked once a control period: function(t, q, v) -> tau, nv "
           "numbers "
           "that are zero where there is no motor. None: motors are idle.")
      .def("set_events", &SimulationCore::set_events, "events"_a,
           nb::sig("def set_events(self, events: Sequence[tuple[Callable[[float, Array, Array], "
                   "float], str]]) -> None"),
           "Where a function(t, q, v) passes zero ('rising', 'falling' or 'both') a run ends.")
      .def("add_sensor", &SimulationCore::add_sensor, "name"_a, "type"_a, nb::kw_only(),
           "frame"_a = nb::none(), "joints"_a = std::vector<std::string>(), "noise"_a = 0.0,
           "bias"_a = 0.0, "bias_walk"_a = 0.0, "resolution"_a = 0.0,
           "range"_a = std::numeric_limits<double>::infinity(), "rate"_a = 0.0, "delay"_a = 0.0,
           "seed"_a = 1,
           nb::sig("def add_sensor(self, name: str, type: SensorType, *, frame: str | None = None, "
                   "joints: Sequence[str] = ..., noise: float = 0.0, bias: float = 0.0, bias_walk: "
                   "float = 0.0, resolution: float = 0.0, range: float = ..., rate: float = 0.0, "
                   "delay: float = 0.0, seed: int = 1) -> None"),
           "rate: Hz; 0: every control period. Others in the sensor's unit and s.")
      .def("reading", &SimulationCore::reading, "name"_a,
           nb::sig("def reading(self, name: str) -> Array"),
           "The newest reading of a sensor; NaN before the first.")
      .def("channels", &SimulationCore::channels, "name"_a, "What a sensor's numbers are.")
      .def(
          "run", &SimulationCore::run, "t_end"_a,
          "Runs to t_end, without Python's lock, or to the first event, whose index is returned. "
          "Ctrl-C ends it; so does an exception of a controller, force or event. The state is then "
          "the last good one.")
      .def("record", &SimulationCore::record, "t_end"_a, "period"_a = 0.01,
           nb::sig("def record(self, t_end: float, period: float = 0.01) -> dict[str, Any]"),
           "As run(); returns arrays with a row for each period: t, q, v, command, motor, energy "
           "(kinetic, potential, stored, total), momentum (linear, angular about the mass centre); "
           "sensors: name -> t, values; event: as run().")
      .def_prop_ro("t", &SimulationCore::t)
      .def_prop_ro("q", &SimulationCore::q, nb::sig("def q(self) -> Array"))
      .def_prop_ro("v", &SimulationCore::v, nb::sig("def v(self) -> Array"))
      .def_prop_ro("steps", &SimulationCore::steps)
      .def("acceleration", &SimulationCore::acceleration,
           nb::sig("def acceleration(self) -> Array"))
      .def("motor_torque", &SimulationCore::motor_torque,
           nb::sig("def motor_torque(self) -> Array"))
      .def("energy", &SimulationCore::energy, nb::sig("def energy(self) -> Energy"))
      .def("momentum", &SimulationCore::momentum, nb::sig("def momentum(self) -> Array"),
           "Linear, and angular about the mass centre, in world axes.");
}

}  // namespace limb::python
