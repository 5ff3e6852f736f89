#include "limb/sim/scenario/scenario_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "limb/control/controlled_robot.hpp"
#include "limb/dynamics/factor/mass_factor.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/model/canonical/canonical.hpp"
#include "limb/model/urdf/write_urdf.hpp"
#include "limb/sim/scenario/budget_log.hpp"
#include "limb/sim/scenario/contact_geometry.hpp"
#include "limb/sim/scenario/control_log.hpp"
#include "limb/sim/scenario/scenario_contact.hpp"
#include "limb/sim/scenario/scenario_legged.hpp"
#include "limb/sim/scenario/view_log.hpp"
#include "limb/sim/world/coordinate_units.hpp"

namespace limb {
namespace {

using Vector = VectorX<double>;
using Clock = std::chrono::steady_clock;

/// Topics before those of the sensors, see log_topics().
constexpr std::size_t kOwnTopics = 4;
/// First seed index of sensors, after those of disturbances.
constexpr std::uint64_t kSensorSeeds = 1'000'000;

void append(const char* group, const std::vector<std::string>& names,
            const std::vector<std::string>& units, LogTopic& topic) {
  for (const std::string& name : names) {
    topic.fields.push_back(std::string(group).append(".").append(name));
  }
  topic.units.insert(topic.units.end(), units.begin(), units.end());
}

/// Units of the channels of a sensor.
std::vector<std::string> sensor_units(const Scenario& s, const SensorSetup& sensor,
                                      const std::vector<std::string>& channels) {
  using Kind = SensorSetup::Kind;
  switch (sensor.kind) {
    case Kind::accelerometer:
      return {3, "m/s^2"};
    case Kind::gyroscope:
      return {3, "rad/s"};
    case Kind::contact:
      return {"1"};
    case Kind::force:
      return {"N", "N", "N", "N m", "N m", "N m"};
    case Kind::torque:
      return force_units(s.model);
    case Kind::truth: {
      std::vector<std::string> units = position_units(s.model);
      for (const char* suffix : {"/s", "/s^2"}) {
        const auto more = velocity_units(s.model, suffix);
        units.insert(units.end(), more.begin(), more.end());
      }
      return units;
    }
    case Kind::position:
    case Kind::velocity:
      break;
  }
  // Encoders also read joints that follow others.
  std::vector<std::string> units;
  for (const std::string& joint : channels) {
    const Body<double>& body = s.model.body(s.model.find_body(joint));
    units.push_back(std::string(body.joint.type() == JointType::prismatic ? "m" : "rad") +
                    (sensor.kind == Kind::velocity ? "/s" : ""));
  }
  return units;
}

Sensor make_sensor(const Scenario& s, std::size_t i) {
  return {s.model, s.sensors[i].name, quantity_of(s.model, s.sensors[i]), s.sensors[i].errors,
          derived_seed(s.seed, kSensorSeeds + i)};
}

void add_forces(const Scenario& s, World& world) {
  for (const SpringSetup& spring : s.springs) {
    world.add<JointSpring>(world.model(), spring.joint, spring.parameters);
  }
  std::vector<TendonLaw::Item> tendons = s.tendons;
  if (s.controller.kind == ControllerSetup::Kind::none) {
    for (const ServoSetup& servo : s.servos) {
      const auto& motor = *servo.item.motor;
      if (motor.control != 0 || motor.servo.has_feedback()) tendons.push_back(servo.item);
    }
  }
  std::vector<TendonLaw::Item> motors, others;
  TendonLaw::split(tendons, motors, others);
  if (!others.empty()) world.add<TendonLaw>(world.model(), s.q, others);
  if (!motors.empty()) world.add<TendonLaw>(world.model(), s.q, motors);
  if (!s.held.empty()) world.add<GravityCompensation>(s.held);
  if (s.medium.acts()) {
    world.add<MediumLaw>(world.model(), s.medium,
                         MediumLaw::links_of(world.model(), s.description));
  }
  if (!s.pushes.empty()) world.add<WrenchSchedule>(world.model(), s.pushes);
  for (const WallLaw::Parameters& wall : s.walls) world.add<WallLaw>(world.model(), wall);
  for (std::size_t i = 0; i < s.disturbances.size(); ++i) {
    world.add<RandomWrench>(world.model(), s.disturbances[i], derived_seed(s.seed, i));
  }
  if (s.actuators) world.set_actuators(*s.actuators);
  if (s.contact) world.set_contact(*s.contact);
}

/// The controller with its period and the torque limits of the actuators.
ControllerSetup controller_of(const Scenario& s, double period) {
  ControllerSetup c = s.controller;
  c.period = period;
  if (s.actuators) {
    c.torque_limit = Vector::Zero(s.v.size());
    for (const Actuator& a : *s.actuators) c.torque_limit[a.velocity] = a.torque_limit;
  }
  return c;
}

/// Records a run: sensors, log, and summary.
class Recorder {
 public:
  Recorder(const Scenario& s, World& world, Simulation& simulation,
           const ControllerStatistics& statistics, LogWriter* log,
           const std::function<void(double)>& progress)
      : scenario_(s),
        world_(world),
        simulation_(simulation),
        statistics_(statistics),
        log_(log),
        progress_(progress),
        kinematics_(world.model()),
        state_(world.model().nq() + world.model().nv()),
        torque_(2 * world.model().nv()),
        energy_(4 + kEnergyEntries + 1),
        momentum_(6) {
    for (std::size_t i = 0; i < s.sensors.size(); ++i) {
      sensors_.push_back(make_sensor(s, i));
      const double period = s.sensors[i].errors.period;
      if (period > 0 && period < simulation.control_period() * (1 - 1e-6)) {
        fail("run_scenario", fmt::format("rate of sensor '{}'", s.sensors[i].name),
             fmt::format("{} Hz", to_text(1 / period)),
             fmt::format("at most one sample per control period, {} s",
                         to_text(simulation.control_period())));
      }
    }
    summary.peak_torque = Vector::Zero(world.model().nv());
    if (s.measured_feedback) find_measured();
    if (s.contact) contact_log_ = std::make_unique<ContactLog>(*s.contact);
    if (statistics.programs != nullptr) program_log_ = std::make_unique<QpLog>(s);
    if (log != nullptr) {
      view_log_ = std::make_unique<ViewLog>(s);
      control_log_ = std::make_unique<ControlLog>(s);
      if (s.log_budget) budget_log_ = std::make_unique<BudgetLog>(s);
      first_view_topic_ = log_topics(s).size() - ViewLog::topics(s).size();
      first_control_topic_ = first_view_topic_ - control_log_->topics().size();
    }
  }

  /// Replaces true q and v by sensor readings at the start of a control period.
  void measure(double t, Vector& q, Vector& v) {
    // Accelerations by the previous torques; the new ones depend on the controller.
    const Vector& a = reads_truth_ ? simulation_.acceleration() : v;
    forward_kinematics(world_.model(), q, v, kinematics_);
    const SensorInput input{world_.model(), simulation_.state(), a, world_.motor_torque(),
                            kinematics_};
    for (std::size_t i = 0; i < sensors_.size(); ++i) {
      if (feeds_back(scenario_.sensors[i])) update(i, input);
    }
    measured_at_ = t;
    for (const Measured& m : measured_) {
      const double reading = sensors_[m.sensor].reading()[m.channel];
      if (std::isfinite(reading)) (m.position ? q : v)[m.coordinate] = reading;
    }
    if (reads_truth_) normalize<double>(world_.model(), q);  // quaternions with errors
  }

  /// To be called at the start of each control period, and at the end of the run.
  void record(const RobotState<double>& s, const Vector& command) {
    const bool logs = s.t >= next_log_ - 1e-9;
    if (!sensors_.empty()) {
      read_sensors(s);
    } else if (logs) {
      simulation_.acceleration();  // updates the motor torques
    }
    const Vector& motors = world_.motor_torque();
    summary.peak_torque = summary.peak_torque.cwiseMax(motors.cwiseAbs());
    if (!logs) return;
    const World::Energy energy = record_energy(s);
    next_log_ = (std::floor(s.t / scenario_.log_period + 1e-6) + 1) * scenario_.log_period;
    if (log_ != nullptr) {
      state_ << s.q, s.v;
      torque_ << command, motors;
      energy_.head<4>() << energy.kinetic, energy.potential, energy.stored, energy.total();
      for (std::size_t i = 0; i < kEnergyEntries; ++i) {
        energy_[4 + static_cast<Eigen::Index>(i)] = summary.balance.entries[i];
      }
      energy_.tail<1>()[0] = summary.balance.closure;
      log_->write(0, s.t, state_);
      log_->write(1, s.t, torque_);
      log_->write(2, s.t, energy_);
      momentum_ = world_.momentum(s).vector();
      log_->write(3, s.t, momentum_);
      if (contact_log_ != nullptr) {
        contact_log_->write(*world_.contacts(), s.t, kOwnTopics + sensors_.size(), *log_);
      }
      if (program_log_ != nullptr) {
        program_log_->write(*statistics_.programs, s.t,
                            kOwnTopics + sensors_.size() + ContactLog::kTopics, *log_);
      }
      if (budget_log_ != nullptr) {
        budget_log_->write(s, simulation_.acceleration(), motors, first_control_topic_ - 1, *log_);
      }
      control_log_->write(statistics_, s.t, first_control_topic_, *log_);
      view_log_->write(world_, s, first_view_topic_, *log_);
      log_->end_row(s.t);
    }
  }

  /// Energies of the summary, up to this state.
  World::Energy record_energy(const RobotState<double>& s) {
    if (const Contacts* contacts = world_.contacts()) summary.dissipated = contacts->dissipated();
    summary.balance = world_.balance(s);
    const EnergyState& now = summary.balance.now;
    summary.end = {now.kinetic, now.potential, now.stored};
    if (next_log_ == 0) {
      summary.start = summary.end;
      summary.energy_start = summary.end.total();
    }
    summary.energy_end = summary.end.total();
    summary.largest_energy_change = std::max(summary.largest_energy_change,
                                             std::abs(summary.energy_end - summary.energy_start));
    return summary.end;
  }

  /// Flushes the log and reports progress, at intervals. Called in every step: a control period may
  /// take long.
  void report(double t) {
    const auto now = Clock::now();
    if (now - last_ < std::chrono::milliseconds(200)) return;
    last_ = now;
    if (log_ != nullptr) log_->flush();
    if (progress_) progress_(t);
  }

  RunSummary summary;

 private:
  void read_sensors(const RobotState<double>& s) {
    const Vector& a = simulation_.acceleration();
    forward_kinematics(world_.model(), s.q, s.v, a, kinematics_);
    const SensorInput input{world_.model(),        s,           a,
                            world_.motor_torque(), kinematics_, world_.contacts()};
    for (std::size_t i = 0; i < sensors_.size(); ++i) {
      if (s.t == measured_at_ && feeds_back(scenario_.sensors[i])) continue;
      update(i, input);
    }
  }

  void update(std::size_t i, const SensorInput& input) {
    if (sensors_[i].update(input) && log_ != nullptr) {
      log_->write(kOwnTopics + i, input.state.t, sensors_[i].reading());
    }
  }

  /// A coordinate of the robot that a sensor reads; not for followers.
  struct Measured {
    std::size_t sensor;
    Eigen::Index channel;
    bool position;
    Eigen::Index coordinate;
  };
  /// Truth sensors first: encoders override them.
  void find_measured() {
    using Kind = SensorSetup::Kind;
    const auto positions = position_names(world_.model()),
               velocities = velocity_names(world_.model());
    for (std::size_t i = 0; i < sensors_.size(); ++i) {
      if (scenario_.sensors[i].kind != Kind::truth) continue;
      reads_truth_ = true;
      const auto nq = static_cast<Eigen::Index>(positions.size()),
                 nv = static_cast<Eigen::Index>(velocities.size());
      for (Eigen::Index k = 0; k < nq; ++k) measured_.push_back({i, k, true, k});
      for (Eigen::Index k = 0; k < nv; ++k) measured_.push_back({i, nq + k, false, k});
    }
    for (std::size_t i = 0; i < sensors_.size(); ++i) {
      const Kind kind = scenario_.sensors[i].kind;
      if (kind != Kind::position && kind != Kind::velocity) continue;
      const auto& names = kind == Kind::position ? positions : velocities;
      const auto& joints = sensors_[i].channels();
      for (std::size_t k = 0; k < joints.size(); ++k) {
        const auto found = std::find(names.begin(), names.end(), joints[k]);
        if (found == names.end()) continue;
        measured_.push_back(
            {i, static_cast<Eigen::Index>(k), kind == Kind::position, found - names.begin()});
      }
    }
  }

  const Scenario& scenario_;
  World& world_;
  Simulation& simulation_;
  const ControllerStatistics& statistics_;
  LogWriter* log_;
  const std::function<void(double)>& progress_;
  Kinematics<double> kinematics_;
  std::vector<Sensor> sensors_;
  std::vector<Measured> measured_;
  std::unique_ptr<ContactLog> contact_log_;
  std::unique_ptr<QpLog> program_log_;
  std::unique_ptr<ViewLog> view_log_;
  std::unique_ptr<ControlLog> control_log_;
  std::unique_ptr<BudgetLog> budget_log_;
  std::size_t first_control_topic_ = 0, first_view_topic_ = 0;
  double measured_at_ = -1;   ///< time of the last update for the controller
  bool reads_truth_ = false;  ///< the controller uses a truth sensor
  Vector state_, torque_, energy_, momentum_;
  double next_log_ = 0;
  Clock::time_point last_ = Clock::now();
};

}  // namespace

std::unique_ptr<MeasuredQuantity> quantity_of(const Model<double>& model,
                                              const SensorSetup& sensor) {
  using Kind = SensorSetup::Kind;
  switch (sensor.kind) {
    case Kind::accelerometer:
      return std::make_unique<Imu>(sensor.frame, Imu::Part::accelerometer);
    case Kind::gyroscope:
      return std::make_unique<Imu>(sensor.frame, Imu::Part::gyroscope);
    case Kind::position:
      return std::make_unique<Encoder>(model, Encoder::Part::position, sensor.joints);
    case Kind::velocity:
      return std::make_unique<Encoder>(model, Encoder::Part::velocity, sensor.joints);
    case Kind::torque:
      return std::make_unique<TorqueSensor>();
    case Kind::contact:
      return std::make_unique<ContactSwitch>(sensor.frame);
    case Kind::force:
      return std::make_unique<ForceSensor>(sensor.frame);
    default:
      return std::make_unique<GroundTruth>();
  }
}

std::vector<LogTopic> log_topics(const Scenario& s) {
  std::vector<LogTopic> topics = {
      {"state", {}},
      {"torque", {}},
      {"energy", {"kinetic", "potential", "stored", "total"}},
      {"momentum", {"linear.x", "linear.y", "linear.z", "angular.x", "angular.y", "angular.z"}}};
  const auto positions = position_names(s.model), velocities = velocity_names(s.model);
  append("q", positions, position_units(s.model), topics[0]);
  append("v", velocities, velocity_units(s.model), topics[0]);
  append("command", velocities, force_units(s.model), topics[1]);
  append("motor", velocities, force_units(s.model), topics[1]);
  for (std::size_t i = 0; i < kEnergyEntries; ++i) {
    topics[2].fields.push_back(fmt::format("work.{}", to_text(static_cast<EnergyEntry>(i))));
  }
  topics[2].fields.push_back("work.closure");
  topics[2].units.assign(topics[2].fields.size(), "J");
  topics[3].units = {"N s", "N s", "N s", "N m s", "N m s", "N m s"};
  for (std::size_t i = 0; i < s.sensors.size(); ++i) {
    LogTopic topic{s.sensors[i].name, make_sensor(s, i).channels()};
    topic.units = sensor_units(s, s.sensors[i], topic.fields);
    topics.push_back(std::move(topic));
  }
  if (s.contact) {
    for (LogTopic& topic : ContactLog(*s.contact).topics()) topics.push_back(std::move(topic));
  }
  if (is_legged(s.controller.kind)) {
    for (LogTopic& topic : QpLog(s).topics()) topics.push_back(std::move(topic));
  }
  for (LogTopic& topic : BudgetLog(s).topics()) topics.push_back(std::move(topic));
  for (LogTopic& topic : ControlLog(s).topics()) topics.push_back(std::move(topic));
  for (LogTopic& topic : ViewLog::topics(s)) topics.push_back(std::move(topic));
  return topics;
}

std::map<std::string, std::string> log_metadata(const Scenario& s) {
  const char* bases[] = {"described", "fixed", "free"};
  std::map<std::string, std::string> all = {
      {"model", s.model_path},
      {"base", bases[static_cast<std::size_t>(s.base)]},
      {"robot", s.model.name()},
      {"integrator", std::string(to_text(s.simulation.method))},
      {"step", to_text(s.simulation.step)},
      {"seed", std::to_string(s.seed)}};
  if (s.contact) all["contact"] = contact_geometry_json(*s.contact, s.model);
  return all;
}

std::vector<LogAttachment> log_attachments(const Scenario& scenario) {
  try {
    Diagnostics diagnostics;
    return {{"robot.urdf", "application/xml", write_urdf(scenario.description, diagnostics)}};
  } catch (const Error&) {  // a number that is not finite
    return {};
  }
}

void check_times(const std::string& call, const Scenario& s) {
  check_not_negative(call, "duration", s.duration);
  check_positive(call, "step", s.simulation.step);
  check_positive(call, "log_period", s.log_period);
  // Beyond that, the rounding of the time is no longer small compared to a step.
  constexpr double kMaxSteps = 1e12;
  if (s.duration / s.simulation.step > kMaxSteps) {
    fail(call, "duration", to_text(s.duration) + " s",
         fmt::format("at most {} steps of {} s", to_text(kMaxSteps), to_text(s.simulation.step)));
  }
}

std::string implicit_text(const Scenario& s) {
  using Method = IntegrationMethod;
  if (s.simulation.method == Method::implicit_midpoint || s.simulation.method == Method::cvode) {
    return "all forces";
  }
  if (s.simulation.method != Method::semi_implicit_euler) return "nothing";
  std::vector<const char*> names;
  const auto name_if = [&](bool acts, const char* name) {
    if (acts) names.push_back(name);
  };
  bool limits = false;
  for (const JointCoordinate& c : scalar_coordinates(s.model)) {
    limits |= std::isfinite(lower_limit(s.model, c)) || std::isfinite(upper_limit(s.model, c));
  }
  name_if(!s.model.canonical().damping.isZero(0), "damping");
  name_if(s.model.canonical().has_friction && s.world.friction != WorldOptions::Friction::none,
          "friction");
  name_if(limits && s.world.stops != WorldOptions::Stops::none, "stops");
  name_if(!s.springs.empty(), "springs");
  name_if(!s.tendons.empty(), "tendons");
  name_if(!s.servos.empty() && s.controller.kind == ControllerSetup::Kind::none, "servos");
  name_if(s.medium.acts(), "drag");
  name_if(s.contact.has_value(), "contacts");
  return names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "));
}

std::string stiffness_warning(const Scenario& s) {
  using Method = IntegrationMethod;
  const Method method = s.simulation.method;
  const bool adapts = method == Method::dormand_prince;
  if (method != Method::explicit_euler && method != Method::runge_kutta_4 && !adapts) return {};
  WorldOptions options = s.world;
  options.dynamics = WorldOptions::Dynamics::templates;
  World world(s.model, options);
  add_forces(s, world);
  RobotState<double> state = make_state(s.model, world.extra_size());
  state.q = s.q;
  state.v = s.v;
  const JointStiffness& joints = world.stiffness(state);
  // The inertia against each velocity with all others free, 1 / (M^-1)_ii.
  MatrixX<double> inverse(s.model.nv(), s.model.nv());
  Workspace<double> work(s.model, Loops::open);
  MassFactor<double> factor(s.model);
  if (!mass_inverse<double>(s.model, work, state.q, factor, inverse, {true, false, false}).ok()) {
    return {};
  }
  // Limits of stability of x' = -a x and x'' = -w^2 x: explicit Euler h a < 2, Runge-Kutta h a <
  // 2.785 and h w < 2.83, Dormand-Prince h a < 3.31; its h w < 1 is what accuracy allows at most.
  // Explicit Euler lets any undamped oscillation grow: h w < 2 is where it is useless within a
  // period. [Hairer 1993, stability domains]
  const bool euler = method == Method::explicit_euler;
  const double largest_decay = euler    ? 2
                               : adapts ? 3.31
                                        : 2.785,
               largest_frequency = euler    ? 2
                                   : adapts ? 1
                                            : 2.83;
  VectorX<double> unit = VectorX<double>::Zero(s.model.nv()), moved(s.model.uncoupled_nv());
  // An adaptive method shortens its steps by itself; that is worth a word where it is slow.
  constexpr double kSlow = 1e-3;  // s
  double shortest = adapts ? std::min(s.simulation.step, kSlow) : s.simulation.step;
  int worst = -1;
  bool by_damping = false;
  for (int y = 0; y < s.model.nv(); ++y) {
    unit.setZero();
    unit[y] = 1;
    s.model.coupling().expand_velocity(unit.data(), moved.data());
    const double decay = joints.damping.dot(moved.cwiseAbs2()) * inverse(y, y);
    const double frequency = std::sqrt(joints.stiffness.dot(moved.cwiseAbs2()) * inverse(y, y));
    const double by_decay = largest_decay / decay, by_frequency = largest_frequency / frequency;
    if (std::min(by_decay, by_frequency) >= shortest) continue;
    shortest = std::min(by_decay, by_frequency);
    by_damping = by_decay < by_frequency;
    worst = y;
  }
  if (worst < 0) return {};
  const char* const what = by_damping ? "damping or friction" : "springs or servos";
  if (adapts) {
    return fmt::format(
        "{} takes the {} of {} explicitly and shortens its steps below {:.2g} s: use "
        "semi-implicit-euler, implicit-midpoint or cvode, which take them implicitly",
        to_text(method), what, velocity_text(s.model, worst), shortest);
  }
  return fmt::format(
      "{} takes the {} of {} explicitly, which needs steps below {:.2g} s instead of {} s: use "
      "semi-implicit-euler, implicit-midpoint or shorter steps",
      to_text(method), what, velocity_text(s.model, worst), shortest, to_text(s.simulation.step));
}

RunSummary run_scenario(const Scenario& s, LogWriter* log,
                        const std::function<void(double)>& progress) {
  World world(s.model, s.world);
  add_forces(s, world);
  Simulation simulation(world, s.simulation);
  check_times("run_scenario", s);
  const auto statistics = std::make_shared<ControllerStatistics>();
  simulation.set_controller(
      make_controller(world.model(), controller_of(s, simulation.control_period()), statistics));
  Recorder recorder(s, world, simulation, *statistics, log, progress);
  if (s.measured_feedback) {
    simulation.set_measurement([&](double t, Vector& q, Vector& v) { recorder.measure(t, q, v); });
  }
  Vector last_command = Vector::Zero(s.v.size());
  simulation.set_observer([&](const RobotState<double>& state, const Vector& command) {
    last_command = command;
    recorder.record(state, command);
  });
  simulation.set_progress([&](double t) { recorder.report(t); });
  RunSummary& summary = recorder.summary;
  simulation.set_state(0, s.q, s.v);
  const auto attempt = [&](const auto& part) {
    try {
      part();
    } catch (const Error& error) {
      if (error.kind() != Error::Kind::computation_failed) throw;
      if (summary.failure.empty()) summary.failure = error.what();
    }
  };
  attempt([&] {
    simulation.run_until(s.duration);
    recorder.record(simulation.state(), last_command);
    simulation.check_ledger();
  });
  // Up to the last valid state, which need not be one of the log.
  recorder.record_energy(simulation.state());
  attempt([&] {
    if (log != nullptr) log->finish();
  });
  if (const Contacts* contacts = world.contacts()) {
    summary.penetration = contacts->totals().penetration;
    summary.unsolved_contacts = contacts->totals().not_converged;
  }
  const RobotState<double>& end = simulation.state();
  summary.t = end.t;
  summary.steps = simulation.steps();
  summary.control_periods = statistics->periods;
  summary.saturated_periods = statistics->saturated;
  summary.programs = statistics->programs;
  summary.q = end.q;
  summary.v = end.v;
  // Controllers of a frame and of legged robots have no target configuration.
  const bool has_target = s.controller.target.size() > 0 && !controls_frame(s.controller.kind) &&
                          !is_legged(s.controller.kind);
  summary.target_error = has_target ? distance(s.model, end.q, s.controller.target) : std::nan("");
  return summary;
}

}  // namespace limb
