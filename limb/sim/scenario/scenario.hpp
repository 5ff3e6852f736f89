#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "limb/model/core/load.hpp"
#include "limb/model/recipe/toml.hpp"
#include "limb/sim/forces/medium_law.hpp"
#include "limb/sim/forces/tendon_law.hpp"
#include "limb/sim/forces/wall_law.hpp"
#include "limb/sim/forces/wrench_laws.hpp"
#include "limb/sim/world/controllers.hpp"
#include "limb/sim/world/sensors.hpp"

namespace limb {

struct SensorSetup {
  enum class Kind {
    accelerometer,
    gyroscope,
    position,
    velocity,
    torque,
    truth,
    contact,
    force,
  };
  std::string name;
  Kind kind = Kind::truth;
  FrameId frame;                    ///< for accelerometer, gyroscope, contact and force
  std::vector<std::string> joints;  ///< for position and velocity; empty: all
  SensorErrors errors;
};

/// Whether it measures positions or velocities, the inputs of controllers.
bool feeds_back(const SensorSetup& sensor);

struct SpringSetup {
  std::string joint;
  JointSpring::Parameters parameters;
};

/// A servo of the model file. It acts only without a controller.
struct ServoSetup {
  TendonLaw::Item item;
  std::size_t control = 0;  ///< index in StateDescription::control
};

/// Variation between the runs of a batch, besides the seed: relative standard deviations, and that
/// of the initial coordinates.
struct ScenarioSpread {
  double mass = 0;      ///< of each link, with its inertia
  double friction = 0;  ///< of each joint, with its damping
  double initial = 0;   ///< rad or m, of each tangent coordinate
};

/// Complete description of a run: robot, state, forces, controller, sensors, log. From a TOML file
/// (docs/simulation.md), or from a model only.
struct Scenario {
  std::string model_path;
  ReadOptions read_options;  ///< with which the model file was read
  Base base = Base::described;
  Description<double> description;
  Model<double> model;

  double duration = 5;       ///< s
  double log_period = 0.01;  ///< s
  bool log_budget = false;   ///< whether the log has the torque budget, see BudgetLog
  std::uint64_t seed = 1;
  SimulationOptions simulation;
  WorldOptions world;
  VectorX<double> q, v;
  ControllerSetup controller;
  /// The controller uses the readings of position and velocity sensors; for coordinates that these
  /// do not measure, such as a free base, those of truth sensors, with their errors; and true
  /// values where there is no reading. If false, it uses true values.
  bool measured_feedback = false;
  std::optional<std::vector<Actuator>> actuators;
  std::vector<SpringSetup> springs;
  std::vector<TendonLaw::Item> tendons;
  std::vector<ServoSetup> servos;
  std::vector<GravityCompensation::Link> held;  ///< links with gravity compensation
  MediumDescription medium;
  std::vector<WrenchSchedule::Push> pushes;
  std::vector<WallLaw::Parameters> walls;
  std::vector<RandomWrench::Parameters> disturbances;
  std::vector<SensorSetup> sensors;
  std::optional<ContactSetup> contact;
  ScenarioSpread spread;
  /// What the model file asks for and limb does not simulate, and what was corrected.
  std::vector<std::string> remarks;
  std::shared_ptr<const TomlValue> document;  ///< of a scenario file; null: from a model only
  std::string path;                           ///< of that file
};

/// The robot without controller, with all that its file says about simulations (apply_scene): for
/// a URDF or recipe, at rest in its neutral configuration. @throws Error as load_model.
Scenario scenario_of(const std::string& model_path, Base base = Base::described,
                     const ReadOptions& options = {});

/// @throws Error "call: file:line: ..." for the first error: an unknown key, joint or frame (with
/// the nearest known one), or a number that is invalid or has the wrong unit or sign.
Scenario read_scenario(const std::string& call, const std::string& path,
                       const ReadOptions& options = {});
/// The same from a text; the path is for messages, and model paths are relative to its folder.
Scenario parse_scenario(const std::string& call, const std::string& text, const std::string& path,
                        const ReadOptions& options = {});

/// Reads a parsed scenario into one that has its robot (scenario_of). @throws as read_scenario.
void read_document(const std::string& call, const TomlValue& document, const std::string& path,
                   Scenario& scenario);

/// Sets the initial state from TOML text with a table [initial], as that of a scenario.
/// @throws Error with the reason.
void set_initial(const std::string& call, const std::string& toml, Scenario& scenario);

/// Selects a kind of controller; where nothing is given, with default gains and the initial state
/// as target.
void set_controller_kind(const std::string& call, const std::string& kind, Scenario& scenario);

}  // namespace limb
