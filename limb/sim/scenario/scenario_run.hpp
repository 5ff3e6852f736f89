#pragma once

#include <functional>

#include "limb/sim/log/log_writer.hpp"
#include "limb/sim/scenario/scenario.hpp"

namespace limb {

/// Result of a run.
struct RunSummary {
  double t = 0;         ///< s, time reached
  std::string failure;  ///< why it ended early; empty: it did not
  long steps = 0;
  VectorX<double> q, v;         ///< at the end
  VectorX<double> peak_torque;  ///< largest absolute torque of each motor
  double energy_start = 0, energy_end = 0, largest_energy_change = 0;  ///< J
  World::Energy start, end;                                            ///< J, their parts
  EnergyBalance balance;                                               ///< where the energy went
  double dissipated = 0;                                               ///< J, by contacts
  double penetration = 0;      ///< m, deepest overlap of contacts
  long unsolved_contacts = 0;  ///< steps whose contact problem was not solved to its tolerance
  /// Distance to the controller's target at the end (rad and m); NaN without target.
  double target_error = 0;
  /// Periods of a controller with feedback, and those with a motor at its limit.
  long control_periods = 0, saturated_periods = 0;
  /// Quadratic programs of balance and locomotion; else null.
  std::shared_ptr<const QpStatistics> programs;
};

/// The quantity measured by a sensor. @throws Error for unknown joints.
std::unique_ptr<MeasuredQuantity> quantity_of(const Model<double>& model,
                                              const SensorSetup& sensor);

/// Topics of the log of a scenario: state, torque, energy with the work of all forces
/// (EnergyLedger) and the error of integration, momentum, one topic per sensor, and, where present,
/// contacts (ContactLog) and quadratic programs (QpLog); last, those for viewers (ViewLog).
std::vector<LogTopic> log_topics(const Scenario& scenario);
/// Metadata of the log: model, integrator, step, seed.
std::map<std::string, std::string> log_metadata(const Scenario& scenario);
/// Files in MCAP logs: the robot as robot.urdf, for viewers. Nothing if it cannot be written as
/// URDF.
std::vector<LogAttachment> log_attachments(const Scenario& scenario);

/// @throws Error for a duration, step or log period that is not a positive number (a duration may
/// be zero), and for more than 1e12 steps.
void check_times(const std::string& call, const Scenario& scenario);

/// The forces of a scenario that its integrator takes implicitly: "damping, stops", "all forces" or
/// "nothing".
std::string implicit_text(const Scenario& scenario);
/// One line if the integrator takes forces explicitly that are too stiff for the step, or, if it
/// adapts its steps, make them very short: the joint, the largest stable step, and what to use
/// instead. Else empty.
std::string stiffness_warning(const Scenario& scenario);

/// Runs to the end, or until the computation fails: a torque that is not finite, an unstable
/// motion, a full disk, an Error of `progress` of the kind computation_failed. The log then ends
/// there, closed.
/// @param log       may be null.
/// @param progress  called with the time at intervals; may be empty.
/// @throws Error for a scenario that contradicts itself.
RunSummary run_scenario(const Scenario& scenario, LogWriter* log,
                        const std::function<void(double t)>& progress = {});

/// Run number `index` of a batch: its own seed, and masses, friction and initial state drawn from
/// the spread.
Scenario spread_scenario(const Scenario& scenario, int index);

/// Memory of the summaries of a batch.
double batch_bytes(const Scenario& scenario, int runs);

/// Runs a batch in parallel; results are in order and do not depend on the number of threads.
/// @throws Error also if the summaries of all runs do not fit into memory.
/// @param threads   0: one per core.
/// @param progress  called with the number of finished runs, from one thread at a time, also at
///                  intervals within a run; its exceptions end the batch.
std::vector<RunSummary> run_batch(const Scenario& scenario, int runs, int threads = 0,
                                  const std::function<void(int done)>& progress = {});

}  // namespace limb
