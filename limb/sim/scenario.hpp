#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "limb/model/load.hpp"
#include "limb/sim/controllers.hpp"
#include "limb/sim/sensors.hpp"
#include "limb/sim/wall_law.hpp"
#include "limb/sim/wrench_laws.hpp"

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
  FrameId frame;                    ///< of accelerometer, gyroscope, contact and force
  std::vector<std::string> joints;  ///< of position and velocity; empty: all
  SensorErrors errors;
};

/// Whether it measures what controllers want to know: positions or velocities.
bool feeds_back(const SensorSetup& sensor);

struct SpringSetup {
  std::string joint;
  JointSpring::Parameters parameters;
};

/// What differs from run to run of a batch, besides the seed: relative standard deviations, and
/// that of the initial coordinates.
struct Spread {
  double mass = 0;      ///< of each link, its inertia with it
  double friction = 0;  ///< of each joint, damping with it
  double initial = 0;   ///< rad or m, of each coordinate's tangent
};

/// A whole run, ready to go: robot, state, forces, controller, sensors, log. From a TOML file
/// (docs/simulation.md), or of a model alone.
struct Scenario {
  std::string model_path;
  Base base = Base::described;
  Description<double> description;
  Model<double> model;

  double duration = 5;       ///< s
  double log_period = 0.01;  ///< s
  std::uint64_t seed = 1;
  SimulationOptions simulation;
  WorldOptions world;
  VectorX<double> q, v;
  ControllerSetup controller;
  /// The controller sees what sensors of positions and velocities read; for what none of them
  /// measures, such as a free base, what sensors of the truth read, with their errors; and the
  /// truth itself for what no sensor measures or has read yet. Else it sees the truth.
  bool measured_feedback = false;
  std::optional<std::vector<Actuator>> actuators;
  std::vector<SpringSetup> springs;
  std::vector<WrenchSchedule::Push> pushes;
  std::vector<WallLaw::Parameters> walls;
  std::vector<RandomWrench::Parameters> disturbances;
  std::vector<SensorSetup> sensors;
  std::optional<ContactSetup> contact;
  Spread spread;
};

/// The robot at rest in its neutral configuration, motors idle. @throws Error as load_model.
Scenario scenario_of(const std::string& model_path, Base base = Base::described,
                     const ReadOptions& options = {});

/// @throws Error "call: file:line: ..." for the first mistake: an unknown key, joint or frame with
/// the nearest known one, a number that is none, has the wrong unit or the wrong sign.
Scenario read_scenario(const std::string& call, const std::string& path);
/// The same of a text; the path is for messages, and models are named from where it is.
Scenario parse_scenario(const std::string& call, const std::string& text, const std::string& path);

/// Gives the controller of a kind its usual gains and the scenario's state as target, where nothing
/// is given.
void set_controller_kind(const std::string& call, const std::string& kind, Scenario& scenario);

}  // namespace limb
