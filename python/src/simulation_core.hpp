#pragma once

#include <nanobind/stl/optional.h>

#include <algorithm>

#include "limb/dynamics/constraints/actuation.hpp"
#include "python/src/contact_results.hpp"
#include "python/src/native_controller.hpp"
#include "python/src/simulation.hpp"

namespace limb::python {

/// Rows of a recording; energy and momentum as in logs.
struct Rows {
  std::vector<double> t, q, v, command, motor, energy, momentum, work;
};

inline void append(const Numbers& row, std::vector<double>& to) {
  to.insert(to.end(), row.begin(), row.end());
}

/// A sensor and its readings in a recording.
struct RecordedSensor {
  Sensor sensor;
  std::vector<double> t, values;
};

/// A simulation of the Python package.
class SimulationCore {
 public:
  SimulationCore(nb::handle world_object, const std::string& integrator, double step,
                 double control_period, double tolerance)
      : world_object_(nb::borrow(world_object)),
        core_(nb::cast<WorldCore&>(world_object)),
        simulation_(core_.world,
                    {method_from_text("Simulation", integrator), step, control_period, tolerance}),
        kinematics_(core_.model()),
        last_command_(Numbers::Zero(core_.model().nv())) {
    ++core_.simulations;
    simulation_.set_observer([this](const RobotState<double>& s, const Numbers& command) {
      last_command_ = command;
      record_period(s, command);
    });
    const RobotState<double> initial = core_.world.initial_state();
    simulation_.set_state(0, initial.q, initial.v);
  }
  ~SimulationCore() { --core_.simulations; }
  SimulationCore(const SimulationCore&) = delete;
  SimulationCore& operator=(const SimulationCore&) = delete;

  void set_state(nb::handle q, nb::handle v, double t) {
    const BusyGuard busy("Simulation.set_state", core_.busy);
    const int nv = core_.model().nv();
    simulation_.set_state(
        t, vector_of("Simulation.set_state", "q", q, core_.model().nq()),
        v.is_none() ? Numbers(Numbers::Zero(nv)) : vector_of("Simulation.set_state", "v", v, nv));
  }

  void set_controller(nb::handle function) {
    const BusyGuard busy("Simulation.set_controller", core_.busy);
    if (NativeController * native; nb::try_cast(function, native) && native != nullptr) {
      if (native->period > 0 &&
          std::abs(native->period - simulation_.control_period()) > 1e-9 * native->period) {
        fail("Simulation.set_controller", "control_period",
             to_text(simulation_.control_period()) + " s",
             "that of the controller, " + to_text(native->period) + " s");
      }
      simulation_.set_controller(native->make(core_.world));
      controller_ = nb::borrow(function);
      return;
    }
    controller_ = nb::borrow(function);
    if (function.is_none()) {
      simulation_.set_controller({});
      return;
    }
    Dense S(motor_count(core_.model()), core_.model().nv());
    selection_matrix<double>(core_.model(), S);
    simulation_.set_controller(
        [call = StateCallback(function), S](const ControlInput& now, Numbers& tau) {
          const nb::gil_scoped_acquire acquired;
          const nb::object given = call(now.t, now.q, now.v);
          if (!given.is_none()) set_torques(given, S, tau);
        });
  }

  /// From the result of a controller: generalised forces, one per velocity, or torques of the
  /// motors only, one per actuated velocity (S). The number of entries tells which; both are the
  /// same if all velocities are actuated.
  static void set_torques(nb::handle given, const Dense& S, Numbers& tau) {
    constexpr const char* kCall = "Simulation";
    constexpr const char* kName = "result of the controller";
    const Dense found = read_matrix(kCall, kName, given);
    if (found.cols() == 1 && found.rows() == S.cols()) {
      tau = found.col(0);
    } else if (found.cols() == 1 && found.rows() == S.rows()) {
      tau.noalias() = S.transpose() * found.col(0);
    } else {
      std::string expected = "(" + std::to_string(S.cols()) + ",)";
      if (S.rows() != S.cols()) {
        expected +=
            ", generalised forces, or (" + std::to_string(S.rows()) + ",), torques of the motors";
      }
      const nb::object shape = nb::module_::import_("numpy").attr("shape")(given);
      throw Error(std::string(kCall) + ": " + kName + " has shape " +
                  nb::cast<std::string>(nb::str(shape)) + ", expected " + expected);
    }
  }

  void set_events(const std::vector<std::tuple<nb::object, std::string>>& events) {
    const BusyGuard busy("Simulation.set_events", core_.busy);
    std::vector<Event> all;
    nb::list functions;
    for (const auto& [function, direction] : events) {
      functions.append(function);
      const int which =
          choice_of("Simulation.set_events", "direction", direction, {"rising", "falling", "both"});
      all.push_back({[call = StateCallback(function)](const RobotState<double>& s) {
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
    const BusyGuard busy("Simulation.add_sensor", core_.busy);
    SensorSetup setup;
    setup.name = name;
    setup.kind = static_cast<SensorSetup::Kind>(
        choice_of("Simulation.add_sensor", "type", type,
                  {"accelerometer", "gyroscope", "position", "velocity", "torque", "truth",
                   "contact", "force"}));
    using Kind = SensorSetup::Kind;
    const bool needs_contacts = setup.kind == Kind::contact || setup.kind == Kind::force;
    const bool on_frame =
        needs_contacts || setup.kind == Kind::accelerometer || setup.kind == Kind::gyroscope;
    if (on_frame != frame.has_value()) {
      fail("Simulation.add_sensor", "frame", on_frame ? "missing" : "'" + *frame + "'",
           on_frame ? "a name" : "none for this type");
    }
    if (needs_contacts) contacts("Simulation.add_sensor");
    if (on_frame) setup.frame = core_.robot().frame("Simulation.add_sensor", *frame);
    setup.joints = std::move(joints);
    check_not_negative("Simulation.add_sensor", "rate", rate);
    setup.errors = {noise, bias, bias_walk, resolution, range, rate > 0 ? 1 / rate : 0, delay};
    if (std::any_of(sensors_.begin(), sensors_.end(),
                    [&](const RecordedSensor& w) { return w.sensor.name() == name; })) {
      fail("Simulation.add_sensor", "name", "'" + name + "'", "a unique name");
    }
    if (setup.errors.period > 0 &&
        setup.errors.period < simulation_.control_period() * (1 - 1e-6)) {
      fail(
          "Simulation.add_sensor", "rate", to_text(rate) + " Hz",
          "at most one sample per control period, " + to_text(simulation_.control_period()) + " s");
    }
    sensors_.push_back(
        {Sensor(core_.model(), name, quantity_of(core_.model(), setup), setup.errors, seed),
         {},
         {}});
  }

  const RecordedSensor& sensor(const char* call, const std::string& name) const {
    for (const RecordedSensor& w : sensors_) {
      if (w.sensor.name() == name) return w;
    }
    throw Error(std::string(call) + ": no sensor is named '" + name + "'");
  }
  nb::object reading(const std::string& name) const {
    return array_of(sensor("Simulation.reading", name).sensor.reading());
  }
  const std::vector<std::string>& channels(const std::string& name) const {
    return sensor("Simulation.channels", name).sensor.channels();
  }

  std::optional<int> run(double t_end) {
    const BusyGuard busy("Simulation.run", core_.busy);
    return run_now(t_end);
  }

  nb::dict record(double t_end, double period) {
    const BusyGuard busy("Simulation.record", core_.busy);
    check_positive("Simulation.record", "period", period);
    Rows rows;
    for (RecordedSensor& w : sensors_) w.t.clear(), w.values.clear();
    rows_ = &rows;
    row_period_ = period;
    contact_record_.reset();
    if (core_.world.contacts() != nullptr) contact_record_.emplace(*core_.world.contacts());
    next_row_ = simulation_.state().t;
    std::optional<int> event;
    try {
      event = run_now(t_end);
      const nb::gil_scoped_release released;
      record_period(simulation_.state(), last_command_);
    } catch (...) {
      rows_ = nullptr;
      throw;
    }
    rows_ = nullptr;
    const Eigen::Index nq = core_.model().nq(), nv = core_.model().nv();
    nb::dict all;
    all["t"] = array_of(rows.t, 0);
    all["q"] = array_of(rows.q, nq);
    all["v"] = array_of(rows.v, nv);
    all["command"] = array_of(rows.command, nv);
    all["motor"] = array_of(rows.motor, nv);
    all["energy"] = array_of(rows.energy, 4);
    all["momentum"] = array_of(rows.momentum, 6);
    nb::dict work;
    for (std::size_t i = 0; i <= kEnergyEntries; ++i) {
      std::vector<double> column;
      for (std::size_t k = i; k < rows.work.size(); k += kEnergyEntries + 1) {
        column.push_back(rows.work[k]);
      }
      const std::string name =
          i < kEnergyEntries ? std::string(to_text(static_cast<EnergyEntry>(i))) : "closure";
      work[name.c_str()] = array_of(column, 0);
    }
    all["work"] = work;
    nb::dict sensors;
    for (const RecordedSensor& w : sensors_) {
      nb::dict one;
      one["t"] = array_of(w.t, 0);
      one["values"] = array_of(w.values, w.sensor.reading().size());
      sensors[w.sensor.name().c_str()] = one;
    }
    all["sensors"] = sensors;
    if (contact_record_) all["contact"] = contact_record_->arrays();
    all["event"] = event ? nb::cast(*event) : nb::none();
    return all;
  }

  double t() const { return simulation_.state().t; }
  nb::object q() const { return array_of(simulation_.state().q); }
  nb::object v() const { return array_of(simulation_.state().v); }
  long steps() const { return simulation_.steps(); }
  nb::object acceleration() {
    const BusyGuard busy("Simulation.acceleration", core_.busy);
    return array_of(accelerate());
  }
  nb::object motor_torque() {
    const BusyGuard busy("Simulation.motor_torque", core_.busy);
    accelerate();
    return array_of(core_.world.motor_torque());
  }
  nb::object energy() {
    const BusyGuard busy("Simulation.energy", core_.busy);
    const World::Energy e = core_.world.energy(simulation_.state());
    return result_of("Energy", e.kinetic, e.potential, e.stored, e.total());
  }
  nb::object balance() {
    const BusyGuard busy("Simulation.balance", core_.busy);
    return balance_of(simulation_.balance());
  }
  nb::object momentum() {
    const BusyGuard busy("Simulation.momentum", core_.busy);
    return array_of(Numbers(core_.world.momentum(simulation_.state()).vector()));
  }

  // Contact results of the last step; functions called by a run may read them as well.
  nb::object points() const { return contact_points(contacts("Simulation.contact_points")); }
  nb::object report() const {
    return contact_report(contacts("Simulation.contact_report").report());
  }
  bool touches(const std::string& frame) const {
    constexpr const char* kCall = "Simulation.touches";
    return contacts(kCall).touches(core_.model(), core_.robot().frame(kCall, frame));
  }
  nb::object contact_force(const std::string& frame) {
    constexpr const char* kCall = "Simulation.contact_force";
    const Contacts& c = contacts(kCall);
    const FrameId id = core_.robot().frame(kCall, frame);
    forward_kinematics(core_.model(), simulation_.state().q, kinematics_);
    return array_of(Numbers(c.force_on(core_.model(), kinematics_, id).vector()));
  }
  nb::object center_of_pressure() const {
    return array_of(Numbers(contacts("Simulation.center_of_pressure").center_of_pressure()));
  }
  double dissipated() const { return contacts("Simulation.contact_dissipated").dissipated(); }

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
  const Contacts& contacts(const char* call) const {
    BusyGuard::check_readable(call, core_.busy);
    if (core_.world.contacts() != nullptr) return *core_.world.contacts();
    throw Error(std::string(call) + ": this world has no ground (World.set_contact)");
  }
  const Numbers& accelerate() {
    const nb::gil_scoped_release released;
    return simulation_.acceleration();
  }
  std::optional<int> run_now(double t_end) {
    const nb::gil_scoped_release released;
    const int event = simulation_.run_until(t_end);
    return event < 0 ? std::nullopt : std::optional(event);
  }

  /// Called at the start of each control period and at the end of a recording, without the GIL.
  void record_period(const RobotState<double>& s, const Numbers& command) {
    const bool row = rows_ != nullptr && s.t >= next_row_ - 1e-9;
    if (rows_ != nullptr && contact_record_) {
      row ? contact_record_->add_row(*core_.world.contacts())
          : contact_record_->update(*core_.world.contacts());
    }
    if (sensors_.empty() && !row) return;
    const Numbers& a = simulation_.acceleration();
    if (!sensors_.empty()) {
      forward_kinematics(core_.model(), s.q, s.v, a, kinematics_);
      const SensorInput input{core_.model(),         s, a, core_.world.motor_torque(), kinematics_,
                              core_.world.contacts()};
      for (RecordedSensor& w : sensors_) {
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
    const EnergyBalance b = core_.world.balance(s);
    rows_->work.insert(rows_->work.end(), b.entries.begin(), b.entries.end());
    rows_->work.push_back(b.closure);
  }

  nb::object world_object_;
  WorldCore& core_;
  Simulation simulation_;
  Kinematics<double> kinematics_;
  nb::object controller_, events_;
  std::vector<RecordedSensor> sensors_;
  Numbers last_command_;
  Rows* rows_ = nullptr;  ///< of the current recording
  std::optional<ContactRecord> contact_record_;
  double row_period_ = 0, next_row_ = 0;
};

}  // namespace limb::python
