#include "limb/sim/scenario/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "limb/base/text_file.hpp"
#include "limb/base/without_call.hpp"
#include "limb/dynamics/kinematics/check_state.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/sim/forces/joint_laws.hpp"
#include "limb/sim/scenario/initial_clearance.hpp"
#include "limb/sim/scenario/scenario_contact.hpp"
#include "limb/sim/scenario/scenario_controller.hpp"
#include "limb/sim/scenario/scenario_legged.hpp"
#include "limb/sim/scenario/scenario_scene.hpp"
#include "limb/sim/scenario/scenario_values.hpp"
#include "limb/sim/world/loop_projection.hpp"

namespace limb {
namespace {

using Keys = RecipeFields::Keys;
using Sign = ScenarioValues::Sign;

const Keys kSensors = {"accelerometer", "gyroscope", "position", "velocity",
                       "torque",        "truth",     "contact",  "force"};

/// Seed index of a random initial configuration, after those of sensors.
constexpr std::uint64_t kInitialSeed = 2'000'000;

template <typename Enum>
Enum at(const Keys& names, const std::string& name) {
  return static_cast<Enum>(std::find(names.begin(), names.end(), name) - names.begin());
}

/// Reads the tables of a scenario, one function per table.
class ScenarioReader {
 public:
  ScenarioReader(Scenario& scenario, RecipeFields& fields)
      : s_(scenario), fields_(fields), values_(scenario.model, fields) {}

  void read(const TomlValue& document) {
    fields_.expect_keys(
        document, "scenario",
        {"model",       "base",        "keyframe",   "duration",   "step",         "integrator",
         "tolerance",   "seed",        "log_period", "friction",   "static_ratio", "stops",
         "restitution", "initial",     "controller", "log_budget", "actuator",     "spring",
         "push",        "disturbance", "sensor",     "batch",      "ground",       "contact",
         "wall",        "medium"});
    if (document.find("keyframe") != nullptr) {
      try {
        set_keyframe("scenario", fields_.required_text(document, "scenario", "keyframe"), s_);
      } catch (const Error& error) {
        fields_.error(*document.find("keyframe"), "scenario-bad-value", error.what());
      }
    }
    read_run(document);
    read_contact(document, fields_, values_, s_);
    read_initial(document);
    if (const TomlValue* medium = table(document, "medium", {"density", "viscosity", "wind"})) {
      values_.set(*medium, "medium", "density", "", Sign::not_negative, s_.medium.density);
      values_.set(*medium, "medium", "viscosity", "", Sign::not_negative, s_.medium.viscosity);
      if (medium->find("wind") != nullptr)
        s_.medium.wind = values_.vector(*medium, "medium", "wind");
    }
    read_controller(document);
    for (const TomlValue* row : fields_.rows(document, "actuator")) read_actuator(*row);
    for (const TomlValue* row : fields_.rows(document, "spring")) read_spring(*row);
    for (const TomlValue* row : fields_.rows(document, "push")) read_push(*row);
    for (const TomlValue* row : fields_.rows(document, "wall")) {
      read_wall(*row, fields_, values_, s_);
    }
    for (const TomlValue* row : fields_.rows(document, "disturbance")) read_disturbance(*row);
    for (const TomlValue* row : fields_.rows(document, "sensor")) read_sensor(*row);
    if (s_.measured_feedback && std::none_of(s_.sensors.begin(), s_.sensors.end(), feeds_back)) {
      fields_.error(*document.find("controller")->find("feedback"), "scenario-bad-value",
                    "controller: feedback is 'sensors', but no [[sensor]] has the type "
                    "position, velocity or truth");
    }
    if (const TomlValue* batch = table(document, "batch", {"mass", "friction", "initial"})) {
      values_.set(*batch, "batch", "mass", "", Sign::not_negative, s_.spread.mass);
      values_.set(*batch, "batch", "friction", "", Sign::not_negative, s_.spread.friction);
      values_.set(*batch, "batch", "initial", "rad,deg,m,mm,cm", Sign::not_negative,
                  s_.spread.initial);
    }
  }

  void read_initial(const TomlValue& document) {
    if (const TomlValue* initial = table(document, "initial", {"q", "v", "clearance"})) {
      read_initial_position(*initial);
      values_.velocities(*initial, "initial", "v", "rad/s,deg/s,m/s", Sign::any, s_.v);
      read_clearance(*initial);
    }
  }

 private:
  const TomlValue* table(const TomlValue& document, const char* key, const Keys& keys) {
    const TomlValue* value = document.find(key);
    if (value == nullptr || !fields_.expect_table(*value, "scenario", key)) return nullptr;
    fields_.expect_keys(*value, key, keys);
    return value;
  }
  /// A choice with a default: the first name.
  std::string optional_choice(const TomlValue& t, const std::string& owner, const char* key,
                              const Keys& names) {
    return t.find(key) == nullptr ? names.front() : fields_.choice(t, owner, key, names);
  }

  void read_run(const TomlValue& t) {
    const std::string owner = "scenario";
    values_.set(t, owner, "duration", "s,ms,min", Sign::positive, s_.duration);
    values_.set(t, owner, "step", "s,ms,us", Sign::positive, s_.simulation.step);
    values_.set(t, owner, "log_period", "s,ms", Sign::positive, s_.log_period);
    values_.set(t, owner, "tolerance", "", Sign::positive, s_.simulation.tolerance);
    values_.set(t, owner, "restitution", "", Sign::not_negative, s_.world.restitution);
    values_.set(t, owner, "static_ratio", "", Sign::positive, s_.world.curve.static_ratio);
    values_.set_seed(t, owner, s_.seed);
    if (const TomlValue* budget = t.find("log_budget")) {
      if (budget->kind != TomlValue::Kind::boolean) {
        fields_.wrong_type(*budget, owner, "log_budget", "true or false");
      }
      s_.log_budget = budget->boolean;
    }
    s_.simulation.method = method_from_text(
        owner, optional_choice(t, owner, "integrator",
                               {"semi-implicit-euler", "explicit-euler", "runge-kutta-4",
                                "implicit-midpoint", "dormand-prince", "cvode"}));
    const std::string friction = optional_choice(t, owner, "friction", {"smooth", "none", "exact"});
    s_.world.friction = friction == "none"    ? WorldOptions::Friction::none
                        : friction == "exact" ? WorldOptions::Friction::exact
                                              : WorldOptions::Friction::smooth;
    const std::string stops = optional_choice(t, owner, "stops", {"soft", "none", "hard"});
    s_.world.stops = stops == "none"   ? WorldOptions::Stops::none
                     : stops == "hard" ? WorldOptions::Stops::hard
                                       : WorldOptions::Stops::soft;
  }

  /// Coordinates, or "random": within the limits of the joints, by the seed, and such that loops
  /// can be closed.
  void read_initial_position(const TomlValue& initial) {
    const TomlValue* q = initial.find("q");
    if (q == nullptr || q->kind != TomlValue::Kind::text) {
      values_.configuration(initial, "initial", "q", s_.q);
      return;
    }
    if (q->text != "random") {
      fields_.wrong_type(*q, "initial", "q", "numbers, joints by name, or \"random\"");
      return;
    }
    std::mt19937_64 engine(derived_seed(s_.seed, kInitialSeed));
    try {
      random_configuration<double>(s_.model, engine, s_.q);
      if (!s_.model.loops().empty()) close_loops_within_limits(engine);
    } catch (const Error& error) {
      fields_.error(*q, "scenario-bad-value", error.what());
    }
  }

  /// Closing the loops of a random configuration moves joints, also beyond their limits: the draw
  /// that ends least beyond them is taken. Where no draw can be closed, the run says which loop is
  /// open.
  void close_loops_within_limits(std::mt19937_64& engine) {
    constexpr int kDraws = 20;
    constexpr double kNegligible = 1e-6;  // rad or m
    LoopProjection projection(s_.model);
    RobotState<double> state = make_state(s_.model);
    state.q = s_.q;
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kDraws && least > kNegligible; ++i) {
      if (i > 0) random_configuration<double>(s_.model, engine, state.q);
      state.v.setZero();
      try {
        projection.close(s_.model, state);
      } catch (const Error&) {
        continue;
      }
      const double beyond = beyond_limits(state.q);
      if (beyond >= least) continue;
      least = beyond;
      s_.q = state.q;
    }
  }

  /// How far the farthest joint is beyond its limits, rad or m.
  double beyond_limits(const VectorX<double>& q) const {
    const Coupling<double>& coupling = s_.model.coupling();
    VectorX<double> joints = q;
    if (!coupling.is_identity()) {
      joints.resize(s_.model.uncoupled_nq());
      coupling.expand_position(q.data(), joints.data());
    }
    double farthest = 0;
    for (const JointCoordinate& c : scalar_coordinates(s_.model)) {
      farthest = std::max({farthest, lower_limit(s_.model, c) - joints[c.q],
                           joints[c.q] - upper_limit(s_.model, c)});
    }
    return farthest;
  }

  void read_clearance(const TomlValue& initial) {
    const auto clearance =
        values_.number(initial, "initial", "clearance", "m,mm,cm", Sign::not_negative);
    if (!clearance) return;
    try {
      set_clearance("initial", *clearance, s_);
    } catch (const Error& error) {
      fields_.error(*initial.find("clearance"), "scenario-bad-value", error.what());
    }
  }

  void read_controller(const TomlValue& document) {
    const TomlValue* t = document.find("controller");
    if (t == nullptr || !fields_.expect_table(*t, "scenario", "controller")) return;
    const std::string owner = "controller";
    ControllerSetup& c = s_.controller;
    c.kind = at<ControllerSetup::Kind>(controller_names(),
                                       fields_.choice(*t, owner, "type", controller_names()));
    fields_.expect_keys(*t, owner, is_legged(c.kind) ? legged_keys(c.kind) : controller_keys());
    if (c.kind == ControllerSetup::Kind::computed_torque &&
        ideal_actuators(s_.model).size() < static_cast<std::size_t>(s_.v.size())) {
      fields_.error(*t->find("type"), "scenario-bad-value",
                    "controller: computed-torque needs a motor for every velocity, and this robot "
                    "has some without");
    }
    values_.set(*t, owner, "period", "s,ms", Sign::positive, s_.simulation.control_period);
    s_.measured_feedback =
        optional_choice(*t, owner, "feedback", {"truth", "sensors"}) == "sensors";
    c.target = s_.q;
    values_.configuration(*t, owner, "target", c.target);
    if (is_legged(c.kind)) return read_legged(*t, fields_, values_, s_);
    if (c.kind == ControllerSetup::Kind::open_loop) {
      c.torque = c.amplitude = c.frequency = VectorX<double>::Zero(s_.v.size());
      values_.velocities(*t, owner, "torque", "N m,N", Sign::any, c.torque);
      values_.velocities(*t, owner, "amplitude", "N m,N", Sign::any, c.amplitude);
      values_.velocities(*t, owner, "frequency", "Hz", Sign::not_negative, c.frequency);
      return;
    }
    double frequency = 2, damping_ratio = 1;
    values_.set(*t, owner, "frequency", "Hz", Sign::positive, frequency);
    values_.set(*t, owner, "damping_ratio", "", Sign::not_negative, damping_ratio);
    set_gains(s_.model, s_.q, frequency, damping_ratio, c);
    values_.velocities(*t, owner, "kp", "", Sign::not_negative, c.kp);
    values_.velocities(*t, owner, "kd", "", Sign::not_negative, c.kd);
    read_feedback(*t, fields_, values_, s_);
  }

  void read_actuator(const TomlValue& t) {
    fields_.expect_keys(t, "[[actuator]]",
                        {"joint", "torque_limit", "gear", "stall_torque", "no_load_speed",
                         "time_constant", "delay"});
    const auto joint = values_.joint(t, "[[actuator]]");
    if (!joint) return;
    const std::string owner = fmt::format("actuator of '{}'", *joint);
    const auto y = values_.velocity_of(*t.find("joint"), owner, *joint);
    if (!y) return;
    Actuator a;
    a.velocity = *y;
    values_.set(t, owner, "torque_limit", "N m,N", Sign::positive, a.torque_limit);
    values_.set(t, owner, "gear", "", Sign::positive, a.gear);
    values_.set(t, owner, "stall_torque", "N m,N", Sign::positive, a.stall_torque);
    values_.set(t, owner, "no_load_speed", "rad/s,deg/s,m/s", Sign::positive, a.no_load_speed);
    values_.set(t, owner, "time_constant", "s,ms", Sign::not_negative, a.time_constant);
    values_.set(t, owner, "delay", "s,ms", Sign::not_negative, a.delay);
    // Joints without a table keep their ideal actuator.
    if (!s_.actuators) s_.actuators = ideal_actuators(s_.model);
    for (Actuator& other : *s_.actuators) {
      if (other.velocity == a.velocity) {
        other = a;
        return;
      }
    }
    s_.actuators->push_back(a);
  }

  void read_spring(const TomlValue& t) {
    fields_.expect_keys(t, "[[spring]]", {"joint", "stiffness", "rest", "damping"});
    const auto joint = values_.joint(t, "[[spring]]");
    if (!joint) return;
    const std::string owner = fmt::format("spring of '{}'", *joint);
    SpringSetup spring{*joint, {}};
    values_.set(t, owner, "stiffness", "", Sign::not_negative, spring.parameters.stiffness);
    values_.set(t, owner, "rest", "rad,deg,m,mm,cm", Sign::any, spring.parameters.rest);
    values_.set(t, owner, "damping", "", Sign::not_negative, spring.parameters.damping);
    s_.springs.push_back(spring);
  }

  WrenchAxes read_axes(const TomlValue& t, const std::string& owner) {
    return optional_choice(t, owner, "axes", {"world", "frame"}) == "world" ? WrenchAxes::world
                                                                            : WrenchAxes::frame;
  }

  void read_push(const TomlValue& t) {
    const std::string owner = "[[push]]";
    fields_.expect_keys(t, owner, {"frame", "begin", "end", "force", "moment", "axes"});
    const auto frame = values_.frame(t, owner);
    WrenchSchedule::Push push;
    values_.set(t, owner, "begin", "s,ms", Sign::not_negative, push.begin);
    push.end = s_.duration;
    values_.set(t, owner, "end", "s,ms", Sign::positive, push.end);
    push.F = {values_.vector(t, owner, "force"), values_.vector(t, owner, "moment")};
    push.axes = read_axes(t, owner);
    if (push.end <= push.begin) {
      fields_.error(t, "scenario-bad-value",
                    fmt::format("{}: end is {}, expected > {}, its 'begin'", owner,
                                to_text(push.end), to_text(push.begin)));
    }
    if (!frame) return;
    push.frame = *frame;
    s_.pushes.push_back(push);
  }

  void read_disturbance(const TomlValue& t) {
    const std::string owner = "[[disturbance]]";
    fields_.expect_keys(t, owner,
                        {"frame", "force_deviation", "moment_deviation", "period", "axes"});
    const auto frame = values_.frame(t, owner);
    RandomWrench::Parameters p;
    values_.set(t, owner, "force_deviation", "N", Sign::not_negative, p.force_deviation);
    values_.set(t, owner, "moment_deviation", "N m", Sign::not_negative, p.moment_deviation);
    values_.set(t, owner, "period", "s,ms", Sign::positive, p.period);
    p.axes = read_axes(t, owner);
    if (!frame) return;
    p.frame = *frame;
    s_.disturbances.push_back(p);
  }

  void read_sensor(const TomlValue& t) {
    fields_.expect_keys(t, "[[sensor]]",
                        {"name", "type", "frame", "joints", "noise", "bias", "bias_walk",
                         "resolution", "range", "rate", "delay"});
    SensorSetup sensor;
    sensor.name = fields_.required_text(t, "[[sensor]]", "name");
    const std::string owner = fmt::format("sensor '{}'", sensor.name);
    for (const SensorSetup& other : s_.sensors) {
      if (other.name == sensor.name) {
        fields_.error(t, "scenario-bad-value",
                      fmt::format("two sensors are named '{}'", other.name));
      }
    }
    sensor.kind = at<SensorSetup::Kind>(kSensors, fields_.choice(t, owner, "type", kSensors));
    const bool on_contact =
        sensor.kind == SensorSetup::Kind::contact || sensor.kind == SensorSetup::Kind::force;
    const bool on_frame = on_contact || sensor.kind == SensorSetup::Kind::accelerometer ||
                          sensor.kind == SensorSetup::Kind::gyroscope;
    if (on_contact && !s_.contact) {
      fields_.error(t, "scenario-bad-value",
                    fmt::format("{}: a contact or force sensor needs a [ground]", owner));
    }
    if (on_frame) {
      if (const auto frame = values_.frame(t, owner)) sensor.frame = *frame;
    }
    sensor.joints = fields_.texts(t, owner, "joints");
    for (const std::string& joint : sensor.joints)
      values_.is_joint(*t.find("joints"), owner, joint);
    SensorErrors& e = sensor.errors;
    values_.set(t, owner, "noise", "", Sign::not_negative, e.noise);
    values_.set(t, owner, "bias", "", Sign::any, e.bias);
    values_.set(t, owner, "bias_walk", "", Sign::not_negative, e.bias_walk);
    values_.set(t, owner, "resolution", "rad,deg,m,mm", Sign::not_negative, e.resolution);
    values_.set(t, owner, "range", "", Sign::positive, e.range);
    values_.set(t, owner, "delay", "s,ms", Sign::not_negative, e.delay);
    if (const auto rate = values_.number(t, owner, "rate", "Hz,kHz", Sign::positive)) {
      e.period = 1 / *rate;
    } else if (e.delay > 0 && t.find("rate") == nullptr) {
      fields_.missing(t, owner, "rate", "the sampling rate of a sensor with a delay, Hz");
    }
    s_.sensors.push_back(std::move(sensor));
  }

  Scenario& s_;
  RecipeFields& fields_;
  ScenarioValues values_;
};

}  // namespace

bool feeds_back(const SensorSetup& sensor) {
  return sensor.kind == SensorSetup::Kind::position || sensor.kind == SensorSetup::Kind::velocity ||
         sensor.kind == SensorSetup::Kind::truth;
}

namespace {

/// Quaternions of files are rounded. A remark where one is off by more than single precision; zero
/// is left to check_configuration.
void normalize_quaternions(const char* what, VectorX<double>& q, Scenario& s) {
  const auto& rows = s.model.coupling().rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Body<double>& body = s.model.bodies()[i + 1];
    const int offset = quaternion_offset(body.joint.type());
    if (offset < 0 || rows[i].yq < 0) continue;
    auto quaternion = q.segment<4>(rows[i].yq + offset);
    const double norm = quaternion.stableNorm();
    // Much smaller ones have no direction to speak of.
    constexpr double kLeast = 1e-3;
    if (norm == 1 || !(norm > kLeast) || !std::isfinite(norm)) continue;
    quaternion /= norm;
    if (std::abs(norm - 1) <= kQuaternionTolerance) continue;
    s.remarks.push_back(fmt::format("{}: the quaternion of joint '{}' has length {}, normalized",
                                    what, body.name, to_text(norm)));
  }
}

/// Whether the base is free without another joint: the root, a link without mass, has only floating
/// joints, as in files that describe the floating base themselves. A second free joint would make
/// the mass matrix singular.
bool floats_as_described(const Description<double>& description) {
  bool floats = false;
  for (const LinkDescription<double>& link : description.links) {
    const auto is_child = [&](const auto& joint) { return joint.child == link.name; };
    if (std::any_of(description.joints.begin(), description.joints.end(), is_child)) continue;
    if (link.inertial) return false;
    for (const auto& joint : description.joints) {
      if (joint.parent != link.name) continue;
      if (joint.type != JointType::free) return false;
      floats = true;
    }
  }
  return floats;
}

}  // namespace

Scenario scenario_of(const std::string& model_path, Base base, const ReadOptions& options) {
  Scenario s;
  s.model_path = model_path;
  s.read_options = options;
  s.description = load_description(model_path, options);
  s.base = base == Base::free && floats_as_described(s.description) ? Base::described : base;
  s.model = build_model(s.description, s.base);
  apply_scene(s);
  return s;
}

Scenario read_scenario(const std::string& call, const std::string& path,
                       const ReadOptions& options) {
  return parse_scenario(call, read_text_file(call, path), path, options);
}

Scenario parse_scenario(const std::string& call, const std::string& text, const std::string& path,
                        const ReadOptions& options) {
  const TomlValue document = parse_toml(call, text, path);
  Diagnostics diagnostics;
  RecipeFields fields(path, {}, diagnostics);
  const std::string model = fields.required_text(document, "scenario", "model");
  const Keys bases = {"described", "fixed", "free"};
  const std::string base = document.find("base") == nullptr
                               ? bases[0]
                               : fields.choice(document, "scenario", "base", bases);
  throw_first_error(call, diagnostics);
  // Paths are relative to the folder of the scenario.
  const bool builtin = model.starts_with("builtin:");
  const std::string model_path =
      builtin ? model : (std::filesystem::path(path).parent_path() / model).string();
  Scenario scenario;
  try {
    scenario = scenario_of(model_path, at<Base>(bases, base), options);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}: {}", call, fields.source(*document.find("model")).text(),
                            without_call(error.what())));
  }
  read_document(call, document, path, scenario);
  return scenario;
}

void read_document(const std::string& call, const TomlValue& document, const std::string& path,
                   Scenario& scenario) {
  Diagnostics diagnostics;
  RecipeFields fields(path, {}, diagnostics);
  ScenarioReader(scenario, fields).read(document);
  throw_first_error(call, diagnostics);
  normalize_quaternions("initial q", scenario.q, scenario);
  check_configuration(call.c_str(), "initial q", scenario.model, scenario.q);
  VectorX<double>& target = scenario.controller.target;
  if (target.size() == scenario.q.size()) normalize_quaternions("target", target, scenario);
  scenario.document = std::make_shared<const TomlValue>(document);
  scenario.path = path;
}

void set_initial(const std::string& call, const std::string& toml, Scenario& scenario) {
  const TomlValue document = parse_toml(call, toml, "TOML");
  Diagnostics diagnostics;
  RecipeFields fields("", {}, diagnostics);
  ScenarioReader(scenario, fields).read_initial(document);
  for (Diagnostic& d : diagnostics) d.source = {};  // no file
  throw_first_error(call, diagnostics);
  normalize_quaternions("initial q", scenario.q, scenario);
  check_configuration(call.c_str(), "initial q", scenario.model, scenario.q);
  if (scenario.contact)
    scenario.contact->configuration.assign(scenario.q.begin(), scenario.q.end());
}

void set_controller_kind(const std::string& call, const std::string& kind, Scenario& scenario) {
  const Keys& names = controller_names();
  if (std::find(names.begin(), names.end(), kind) == names.end()) {
    fail(call, "controller", fmt::format("'{}'", kind),
         fmt::format("one of {}", fmt::join(names, ", ")));
  }
  ControllerSetup& c = scenario.controller;
  c.kind = at<ControllerSetup::Kind>(names, kind);
  if (controls_frame(c.kind) && c.task.frame.value() < 0) {
    throw Error(fmt::format("{}: controller '{}' needs a frame: write a scenario", call, kind));
  }
  const VectorX<double> zero = VectorX<double>::Zero(scenario.v.size());
  if (c.torque.size() == 0) c.torque = c.amplitude = c.frequency = zero;
  if (c.target.size() == 0) c.target = scenario.q;
  if (is_legged(c.kind)) return set_legged_defaults(call, scenario);
  if (c.kind != ControllerSetup::Kind::none && c.kind != ControllerSetup::Kind::open_loop) {
    set_gains(scenario.model, scenario.q, 2, 1, c);
    set_controller_defaults(scenario);
  }
}

}  // namespace limb
