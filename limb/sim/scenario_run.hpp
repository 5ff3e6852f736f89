#pragma once

#include <functional>

#include "limb/sim/log_writer.hpp"
#include "limb/sim/scenario.hpp"

namespace limb {

/// What a run came to.
struct RunSummary {
  double t = 0;         ///< s, how far it got
  std::string failure;  ///< why it ended before its duration; empty: it did not
  long steps = 0;
  VectorX<double> q, v;         ///< at the end
  VectorX<double> peak_torque;  ///< of the motors, largest size of each
  double energy_begin = 0, energy_end = 0, largest_energy_change = 0;  ///< J
  double dissipated = 0;                                               ///< J, by contacts
  /// Distance to the controller's target at the end (rad and m alike); NaN where there is none.
  double target_error = 0;
  /// How often a controller with feedback was asked, and how often a motor was at its limit then.
  long control_periods = 0, saturated_periods = 0;
  /// Of balance and locomotion: what their quadratic programs came to; else null.
  std::shared_ptr<const ProgramWatch> programs;
};

/// What a sensor of this kind measures. @throws Error for joints that are not there.
std::unique_ptr<Quantity> quantity_of(const Model<double>& model, const SensorSetup& sensor);

/// What the log of a scenario holds: state, torque, energy, momentum, one topic for each
/// sensor, and where there are any contacts (ContactLog) and quadratic programs (ProgramLog).
std::vector<LogTopic> log_topics(const Scenario& scenario);
/// What else a reader of the log may want to know.
std::map<std::string, std::string> log_metadata(const Scenario& scenario);

/// Runs to the end, or to what ends the motion before: a torque that is not a number, a motion that
/// explodes. The log then holds all until there.
/// @param log       or null.
/// @param progress  is told the time now and then; may be empty.
/// @throws Error for a scenario that contradicts itself.
RunSummary run_scenario(const Scenario& scenario, LogWriter* log,
                        const std::function<void(double t)>& progress = {});

/// Run number `index` of a batch: other seeds, and masses, friction and initial state within the
/// spread.
Scenario spread_scenario(const Scenario& scenario, int index);

/// Many of them on all cores, in order; the same whatever the number of threads.
/// @param threads   0: as many as there are cores.
/// @param progress  is told how many are done, one thread at a time, also now and then inside a
/// run; what it throws ends the batch.
std::vector<RunSummary> run_batch(const Scenario& scenario, int runs, int threads = 0,
                                  const std::function<void(int done)>& progress = {});

}  // namespace limb
