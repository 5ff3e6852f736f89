// Walking performance of a legged robot on its own state estimate, and time per control step: trots
// at 0.5 m/s for 20 s with 20 seeds, on flat ground and over blocks of +-2 cm, with the estimator
// in the loop. Prints tables; exits 1 if a robot fell or its speed error exceeded 15 %.
//
//   legged_bench [--seeds N] [--first N] [--seconds S] [--speed V] [--each]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "limb/legged/legged_run.hpp"
#include "limb/legged/legged_summary.hpp"
#include "limb/model/testing/shared.hpp"

namespace limb {
namespace {

struct Sweep {
  int first = 1, seeds = 20;
  double seconds = 20, speed = 0.5;
  bool each = false;
};

constexpr double kTrotStart = 1.5, kSettling = 1.0;  // s; the speed is measured after settling

/// Times of all steps, us.
class Times {
 public:
  void add(double us) { all_.push_back(us); }
  void print(const char* what) {
    if (all_.empty()) return;
    std::sort(all_.begin(), all_.end());
    double mean = 0;
    for (const double x : all_) mean += x / static_cast<double>(all_.size());
    std::printf("  %-28s mean %7.1f   99 %% %7.1f   99.9 %% %7.1f   max %8.1f us\n", what, mean,
                at(0.99), at(0.999), all_.back());
  }

 private:
  double at(double share) const {
    const auto n = static_cast<double>(all_.size());
    return all_[std::min(all_.size() - 1, static_cast<std::size_t>(share * n))];
  }
  std::vector<double> all_;
};

bool measure_trot(const LeggedRobot& robot, const Sweep& sweep, bool blocks) {
  Times cpu, total, estimator, mpc, whole;
  int fell = 0;
  long steps = 0, fell_back = 0, unsolved = 0;
  double worst = 0, mean_error = 0, drift = 0, worst_drift = 0, yaw = 0, tilt = 0, beyond = 0,
         velocity = 0;
  for (int seed = sweep.first; seed < sweep.first + sweep.seeds; ++seed) {
    LeggedRunOptions options;
    options.seed = static_cast<std::uint64_t>(seed);
    NoiseGenerator noise(derived_seed(options.seed, 2000));
    const ContactSurface surface{0.8 * (1 + 0.2 * (2 * noise.uniform() - 1)), 0};
    BlockField field;
    field.length = sweep.speed * sweep.seconds + 2;
    options.ground = blocks ? block_ground(field, options.seed, surface) : Ground::plane(surface);
    options.plan = {{kTrotStart, Gait::trot(), {sweep.speed, 0, 0}}};
    LeggedRun run(robot, options);
    const double end = kTrotStart + sweep.seconds;
    run.run_until(end);
    const LeggedSummary r = summarize(run, kTrotStart + kSettling);
    const double error = r.mean_velocity.x() / sweep.speed - 1;
    if (sweep.each) {
      std::printf(
          "  seed %2d: %s at %5.2f s, speed %+5.1f %%, sideways %+.3f m/s, drift %.3f of %.2f m, "
          "yaw %.3f, tilt %.3f, v rms %.3f, >3s %.1f %%, slips %lu refused %lu\n",
          seed, r.fell ? "FELL" : "ok", run.time(), 100 * error, r.mean_velocity.y(),
          r.position_error, r.distance, r.yaw_error, r.largest_tilt, r.velocity_error,
          100 * r.beyond_three_sigma,
          static_cast<unsigned long>(run.controller().estimator().diagnostics().slips),
          static_cast<unsigned long>(run.controller().estimator().diagnostics().feet_rejected));
      std::fflush(stdout);
    }
    for (const LeggedStep& s : run.steps()) {
      if (s.t < kTrotStart) continue;
      cpu.add(s.cpu_us);
      total.add(s.times.total);
      estimator.add(s.times.estimator);
      if (s.times.mpc > 0) mpc.add(s.times.mpc);
      whole.add(s.times.whole_body);
    }
    fell += r.fell ? 1 : 0;
    steps += r.steps;
    fell_back += r.fell_back;
    unsolved += r.unsolved;
    worst = std::max(worst, std::abs(error));
    mean_error += error / sweep.seeds;
    const double share = r.distance > 0 ? r.position_error / r.distance : 0;
    drift += share / sweep.seeds;
    worst_drift = std::max(worst_drift, share);
    yaw = std::max(yaw, r.yaw_error);
    tilt = std::max(tilt, r.largest_tilt);
    velocity = std::max(velocity, r.velocity_error);
    beyond += r.beyond_three_sigma / sweep.seeds;
  }
  std::printf("%s, trot at %.2f m/s, %d seeds of %.0f s%s\n", robot.model.name().c_str(),
              sweep.speed, sweep.seeds, sweep.seconds, blocks ? ", blocks of +-2 cm" : "");
  std::printf("  fell %d, error of the true velocity: mean %+.1f %%, largest %.1f %%\n", fell,
              100 * mean_error, 100 * worst);
  std::printf("  largest tilt %.3f rad; %ld steps: fallback in %ld, %ld QPs not solved\n", tilt,
              steps, fell_back, unsolved);
  std::printf(
      "  estimate: drift %.2f %% of the distance, largest %.2f %%, yaw %.3f rad, velocity %.3f m/s "
      "rms, %.2f %% beyond 3 sigma\n",
      100 * drift, 100 * worst_drift, yaw, velocity, 100 * beyond);
  cpu.print("control step, CPU time");
  total.print("control step");
  estimator.print("estimator");
  mpc.print("forces over the horizon");
  whole.print("whole-body program");
  return fell == 0 && worst < 0.15;
}

}  // namespace
}  // namespace limb

int main(int argc, char** argv) {
  using namespace limb;
  Sweep sweep;
  for (int i = 1; i < argc; ++i) {
    const auto number = [&] { return i + 1 < argc ? std::atof(argv[++i]) : 0; };
    if (std::strcmp(argv[i], "--seeds") == 0) sweep.seeds = static_cast<int>(number());
    if (std::strcmp(argv[i], "--first") == 0) sweep.first = static_cast<int>(number());
    if (std::strcmp(argv[i], "--seconds") == 0) sweep.seconds = number();
    if (std::strcmp(argv[i], "--speed") == 0) sweep.speed = number();
    if (std::strcmp(argv[i], "--each") == 0) sweep.each = true;
    if (std::strcmp(argv[i], "--help") == 0) {
      std::printf(
          "legged_bench [--seeds N] [--first N] [--seconds S] [--speed M_PER_S] [--each]\n"
          "Trots on the state estimate, on flat ground and over blocks; --each: one line per "
          "seed. Exits with 1 after a fall or a speed error of more than 15 %%.\n");
      return 0;
    }
  }
  if (!Qp::available()) {
    std::printf("limb was built without a solver of quadratic programs\n");
    return 0;
  }
  bool good = true;
  const LeggedRobot quadruped = load_quadruped("builtin:quadruped");
  for (const bool blocks : {false, true}) good = measure_trot(quadruped, sweep, blocks) && good;
  const auto shared = testing::shared_folder();
  if (shared.empty()) return good ? 0 : 1;
  sweep.seeds = std::min(sweep.seeds, 3);
  for (const char* name : {"go2", "anymal_b", "hyq"}) {
    const LeggedRobot robot = load_quadruped((shared / "robots" / name).string() + ".urdf");
    for (const bool blocks : {false, true}) good = measure_trot(robot, sweep, blocks) && good;
  }
  return good ? 0 : 1;
}
