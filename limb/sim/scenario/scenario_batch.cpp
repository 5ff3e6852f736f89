#include <fmt/format.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <thread>

#include "limb/base/memory.hpp"
#include "limb/base/without_call.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/sim/scenario/scenario_variation.hpp"

namespace limb {

namespace {

/// Masses, friction and initial state drawn with the seed of the scenario.
Scenario spread_parameters(Scenario s) {
  NoiseGenerator noise(derived_seed(s.seed, 0));
  // Relative, and bounded so that masses stay positive.
  const auto factor = [&](double deviation) {
    return std::max(0.05, 1 + deviation * noise.normal());
  };
  if (s.spread.mass > 0 || s.spread.friction > 0) {
    for (auto& link : s.description.links) {
      if (!link.inertial) continue;
      const double f = factor(s.spread.mass);
      link.inertial->mass *= f;
      link.inertial->tensor *= f;
    }
    for (auto& joint : s.description.joints) {
      const double f = factor(s.spread.friction);
      joint.friction *= f;
      joint.damping *= f;
    }
    s.model = build_model(s.description, s.base);
  }
  if (s.spread.initial > 0) {
    VectorX<double> step(s.v.size());
    for (Eigen::Index i = 0; i < step.size(); ++i) step[i] = s.spread.initial * noise.normal();
    integrate(s.model, s.q, step, s.q);
  }
  return s;
}

/// Run number `index` of a batch with a variation: its row, and the seed of the row or, as in a
/// batch without, one of its own.
Scenario batch_scenario(const Scenario& scenario, const ScenarioBatchOptions& options, int index) {
  if (options.variation == nullptr) return spread_scenario(scenario, index);
  Scenario s =
      varied_scenario(options.call, scenario, *options.variation, static_cast<std::size_t>(index));
  const auto& cells = options.variation->rows[static_cast<std::size_t>(index)].cells;
  const bool own_seed =
      std::any_of(cells.begin(), cells.end(), [](const auto& cell) { return cell.key == "seed"; });
  return own_seed ? spread_parameters(std::move(s)) : spread_scenario(s, index);
}

/// Why a run must not start; empty: it may.
std::string refusal(const ScenarioBatchOptions& options) {
  if (!options.check) return {};
  try {
    options.check(0);
  } catch (const Error& error) {
    if (error.kind() != Error::Kind::computation_failed) throw;
    return error.what();
  }
  return {};
}

/// Errors of a run, with its row.
template <typename Run>
RunSummary with_row(const ScenarioBatchOptions& options, int index, const Run& run) {
  try {
    return run();
  } catch (const Error& error) {
    if (options.variation == nullptr || error.kind() != Error::Kind::bad_input) throw;
    throw Error(fmt::format("{}: run {}: {}", options.call, index + 1, without_call(error.what())));
  }
}

}  // namespace

Scenario spread_scenario(const Scenario& scenario, int index) {
  Scenario s = scenario;
  s.seed = derived_seed(scenario.seed, static_cast<std::uint64_t>(index));
  return spread_parameters(std::move(s));
}

double batch_bytes(const Scenario& scenario, int runs) {
  const auto numbers = static_cast<double>(scenario.q.size() + 2 * scenario.v.size());
  return runs * (sizeof(RunSummary) + numbers * sizeof(double));
}

std::vector<RunSummary> run_batch(const Scenario& scenario, int runs, int threads,
                                  const std::function<void(int done)>& progress) {
  ScenarioBatchOptions options;
  options.runs = runs;
  options.threads = threads;
  options.progress = progress;
  return run_batch(scenario, options);
}

std::vector<RunSummary> run_batch(const Scenario& scenario, const ScenarioBatchOptions& options) {
  const int runs = options.runs, threads = options.threads;
  if (options.variation != nullptr && std::ssize(options.variation->rows) != runs) {
    fail("run_batch", "runs", std::to_string(runs),
         fmt::format("{}, one per row of the variation", options.variation->rows.size()));
  }
  if (runs < 1) fail("run_batch", "runs", std::to_string(runs), "1 or more");
  if (threads < 0) fail("run_batch", "threads", std::to_string(threads), "0 or more");
  check_memory("run_batch", "runs", std::to_string(runs), batch_bytes(scenario, runs));
  const std::size_t limit = threads > 0 ? static_cast<std::size_t>(threads)
                                        : std::max(1u, std::thread::hardware_concurrency());
  const tbb::global_control control(tbb::global_control::max_allowed_parallelism, limit);
  std::vector<RunSummary> all(static_cast<std::size_t>(runs));
  std::mutex mutex;
  int done = 0;
  const auto report = [&](int more) {
    const std::lock_guard lock(mutex);
    done += more;
    if (options.progress) options.progress(done);
  };
  // Mistakes in the rows are found before the first run.
  if (options.variation != nullptr) {
    for (int i = 0; i < runs; ++i) batch_scenario(scenario, options, i);
  }
  tbb::parallel_for(0, runs, [&](int i) {
    RunSummary& summary = all[static_cast<std::size_t>(i)];
    summary.failure = refusal(options);
    if (!summary.failure.empty()) {
      report(1);
      return;
    }
    const Scenario s = batch_scenario(scenario, options, i);
    std::unique_ptr<LogWriter> log;
    const std::string path = options.log_path ? options.log_path(i) : std::string();
    if (!path.empty())
      log = open_log(options.call, path, log_topics(s), log_metadata(s), log_attachments(s));
    summary = with_row(options, i, [&] {
      return run_scenario(s, log.get(), [&](double t) {
        report(0);
        if (options.check) options.check(t);
      });
    });
    log.reset();
    const bool keep = options.keep == ScenarioBatchOptions::Keep::all || !summary.failure.empty();
    if (!path.empty() && !keep) std::filesystem::remove(path);
    report(1);
  });
  return all;
}

}  // namespace limb
