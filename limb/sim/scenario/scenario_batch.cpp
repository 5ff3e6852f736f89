#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include <mutex>
#include <thread>

#include "limb/base/memory.hpp"
#include "limb/dynamics/kinematics/manifold.hpp"
#include "limb/sim/scenario/scenario_run.hpp"

namespace limb {

Scenario spread_scenario(const Scenario& scenario, int index) {
  Scenario s = scenario;
  s.seed = derived_seed(scenario.seed, static_cast<std::uint64_t>(index));
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

double batch_bytes(const Scenario& scenario, int runs) {
  const auto numbers = static_cast<double>(scenario.q.size() + 2 * scenario.v.size());
  return runs * (sizeof(RunSummary) + numbers * sizeof(double));
}

std::vector<RunSummary> run_batch(const Scenario& scenario, int runs, int threads,
                                  const std::function<void(int done)>& progress) {
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
    if (progress) progress(done);
  };
  tbb::parallel_for(0, runs, [&](int i) {
    all[static_cast<std::size_t>(i)] =
        run_scenario(spread_scenario(scenario, i), nullptr, [&](double) { report(0); });
    report(1);
  });
  return all;
}

}  // namespace limb
