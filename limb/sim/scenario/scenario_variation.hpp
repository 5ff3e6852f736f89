#pragma once

#include "limb/sim/scenario/scenario_run.hpp"

namespace limb {

/// Values of scenario keys that differ between the runs of a batch, one row per run.
///
/// A key is the path of a value in the scenario file, with dots: "initial.q.elbow",
/// "controller.kp", "ground.friction", "step". Entries of arrays and of [[tables]] have their
/// index: "push.0.begin", "initial.q.2". Keys that the file does not have are added.
struct ScenarioVariation {
  struct Cell {
    std::string key;
    TomlValue value;
  };
  struct Row {
    std::vector<Cell> cells;
    int line = 0;  ///< in the file; 0: none
  };
  std::string path;  ///< of the file, for messages
  std::vector<Row> rows;

  /// Whether a row has this key or one below or above it.
  bool has(std::string_view key) const;
};

/// From a .csv file (a line of keys, then one line per run; an empty cell leaves the key as it is)
/// or a .toml file (one [[run]] per run, with the tables of a scenario).
/// @throws Error "call: file:line: ...", with the column of a bad cell.
ScenarioVariation read_variation(const std::string& call, const std::string& path);
ScenarioVariation parse_variation(const std::string& call, const std::string& text,
                                  const std::string& path);

/// The scenario of a row. What was changed after reading the scenario file (duration, log period,
/// seed, integrator, step, initial state, kind of controller, no ground) stays, unless the row has
/// it. @throws Error that names the row and the key that is wrong.
Scenario varied_scenario(const std::string& call, const Scenario& scenario,
                         const ScenarioVariation& variation, std::size_t row);

struct ScenarioBatchOptions {
  enum class Keep { all, failed };
  std::string call = "run_batch";  ///< for messages
  int runs = 1;
  int threads = 0;                               ///< 0: one per core
  const ScenarioVariation* variation = nullptr;  ///< one row per run; null: only seed and spread
  std::function<std::string(int run)> log_path;  ///< log of a run (.csv, .mcap); empty: none
  Keep keep = Keep::all;                         ///< logs of which runs
  std::function<void(int done)> progress;        ///< as in run_batch() of scenario_run.hpp
  /// Called at the start of each run and at intervals within it, from several threads at a time:
  /// an Error of the kind computation_failed ends that run.
  std::function<void(double t)> check;
};
/// Runs a batch in parallel; results are in order and do not depend on the number of threads. Rows
/// of the variation are checked before the first run.
std::vector<RunSummary> run_batch(const Scenario& scenario, const ScenarioBatchOptions& options);

}  // namespace limb
