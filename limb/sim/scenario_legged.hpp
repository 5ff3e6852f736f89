#pragma once

#include "limb/sim/log_writer.hpp"
#include "limb/sim/scenario_values.hpp"

/// Controllers of robots on feet in a scenario: their keys, and what a log says of their programs.
namespace limb {

/// Keys of [controller] for a kind that is_legged().
const RecipeFields::Keys& legged_keys(ControllerSetup::Kind kind);

/// Reads them; the ground, the initial state and the target have been read.
void read_legged(const TomlValue& t, RecipeFields& fields, ScenarioValues& values, Scenario& s);

/// Feet that stand in the target, where none are set. @throws Error without ground.
void set_legged_defaults(const std::string& call, Scenario& s);

/// Writes the programs of a run into a log: four topics.
///
///   program      count: iterations of the step, and so far programs that were not solved and steps
///                that fell back; residual: stationarity and constraints, in weights; beyond: how
///                far a wanted force is outside its cone (N), a torque beyond its limit (N m)
///   mass_center  where it is wanted, and where it is, m
///   wanted       of each foot, N: normal and tangential part of its force, and friction's bound
///   effort       torque of each motor as a share of its limit, -1 to 1
class ProgramLog {
 public:
  explicit ProgramLog(const Scenario& scenario);
  std::vector<LogTopic> topics() const;
  /// Into the topics first to first + 3 of the log.
  void write(const ProgramWatch& watch, double t, std::size_t first, LogWriter& log);

 private:
  std::vector<std::string> feet_, motors_;
  std::vector<Eigen::Index> velocities_;  ///< of the motors
  VectorX<double> program_, center_, wanted_, effort_;
};

}  // namespace limb
