#pragma once

#include "limb/sim/log/log_writer.hpp"
#include "limb/sim/scenario/scenario_values.hpp"

/// Controllers of legged robots in a scenario: their keys, and the log of their quadratic programs.
namespace limb {

/// Keys of [controller] for a kind that is_legged().
const RecipeFields::Keys& legged_keys(ControllerSetup::Kind kind);

/// Reads them, after the ground, the initial state and the target.
void read_legged(const TomlValue& t, RecipeFields& fields, ScenarioValues& values, Scenario& s);

/// Finds the feet that stand in the target, if none are set. @throws Error without ground.
void set_legged_defaults(const std::string& call, Scenario& s);

/// Writes the quadratic programs of a run into a log: four topics.
///
///   program        count: iterations of the step, unsolved programs so far, fallback steps so far;
///                  residual: stationarity and constraints, in units of the robot's weight;
///                  violation: desired force outside its cone (N), torque beyond its limit (N m)
///   mass_center    desired and actual centre of mass, m
///   desired_force  of each foot, N: normal and tangential force, and its friction bound
///   effort         torque of each motor over its limit, -1 to 1
class QpLog {
 public:
  explicit QpLog(const Scenario& scenario);
  std::vector<LogTopic> topics() const;
  /// Writes the topics first to first + 3 of the log.
  void write(const QpStatistics& statistics, double t, std::size_t first, LogWriter& log);

 private:
  std::vector<std::string> feet_, motors_;
  std::vector<Eigen::Index> velocities_;  ///< of the motors
  VectorX<double> program_, center_, desired_force_, effort_;
};

}  // namespace limb
