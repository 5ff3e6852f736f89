// Times per control step and walking performance: whole-body QPs of standing robots, and trots at
// 0.5 m/s for 20 s with 20 seeds on compliant ground (tests/locomotion). Prints tables.
//
//   control_bench [--seeds N] [--seconds S]
//   control_bench --log trot.csv      a trot with a push, for limb plot; nothing is timed
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "limb/control/whole_body/balance.hpp"
#include "limb/model/testing/shared.hpp"
#include "limb/sim/log/log_writer.hpp"
#include "limb/sim/world/sensors.hpp"
#include "tests/locomotion/simulated_walk.hpp"

namespace limb {
namespace {

struct Times {
  double mean = 0, p99 = 0, p999 = 0, max = 0;
};

Times times(std::vector<double> us) {
  Times t;
  if (us.empty()) return t;
  std::sort(us.begin(), us.end());
  for (const double x : us) t.mean += x / static_cast<double>(us.size());
  const auto at = [&](double share) {
    return us[std::min(us.size() - 1, static_cast<std::size_t>(share * double(us.size())))];
  };
  t.p99 = at(0.99);
  t.p999 = at(0.999);
  t.max = us.back();
  return t;
}

void print(const char* what, const std::vector<double>& us) {
  const Times t = times(us);
  std::printf("  %-28s mean %7.1f   99 %% %7.1f   99.9 %% %7.1f   max %8.1f us\n", what, t.mean,
              t.p99, t.p999, t.max);
}

void append(std::vector<double>& all, const std::vector<double>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

void measure_trot(const char* name, const testing::LeggedRobot& robot, int seeds, double seconds,
                  double blocks) {
  std::vector<double> total, mpc, whole, cpu;
  int fell = 0, unsolved = 0, fall_backs = 0, steps = 0;
  double worst_error = 0, largest_tilt = 0, outside = 0;
  QpResiduals worst;
  const double scale = robot.model.total_mass() / 15;
  for (int seed = 1; seed <= seeds; ++seed) {
    testing::WalkSetup setup;
    setup.command.forward = 0.5;
    setup.until = seconds;
    setup.seed = seed;
    setup.ground.stiffness *= scale;
    setup.ground.damping *= scale;
    if (blocks > 0) {
      setup.ground.height = testing::blocks(0.25, blocks, static_cast<unsigned>(seed));
    }
    const testing::WalkResult r = testing::walk(robot, setup);
    append(total, r.total_us);
    append(cpu, r.cpu_us);
    append(mpc, r.mpc_us);
    append(whole, r.whole_body_us);
    fell += r.fell ? 1 : 0;
    unsolved += r.worst.unsolved + r.mpc_unsolved;
    fall_backs += r.worst.fall_backs;
    steps += r.worst.steps;
    worst_error = std::max(worst_error, std::abs(r.mean_velocity.x() / 0.5 - 1));
    largest_tilt = std::max(largest_tilt, r.largest_tilt);
    outside = std::max(outside, std::max(r.worst.outside_cone, r.worst.over_limit));
    worst.stationarity = std::max(worst.stationarity, r.worst.residuals.stationarity);
    worst.primal = std::max(worst.primal, r.worst.residuals.primal);
    worst.dual = std::max(worst.dual, r.worst.residuals.dual);
    worst.complementarity = std::max(worst.complementarity, r.worst.residuals.complementarity);
  }
  std::printf("%s, trot at 0.5 m/s, %d seeds of %.0f s%s\n", name, seeds, seconds,
              blocks > 0 ? ", blocks of +-2 cm" : "");
  std::printf("  fell %d, largest error of velocity %.1f %%, largest tilt %.3f rad\n", fell,
              100 * worst_error, largest_tilt);
  std::printf("  %d steps: fallback in %d, %d QPs not solved to tolerance\n", steps, fall_backs,
              unsolved);
  std::printf(
      "  residuals: stationarity %.1e, primal %.1e, dual %.1e, complementarity %.1e;"
      " outside cones and limits %.1e N\n",
      worst.stationarity, worst.primal, worst.dual, worst.complementarity, outside);
  print("control step", total);
  print("control step, CPU time", cpu);  // without interruptions by other processes
  print("forces over the horizon", mpc);
  print("whole-body program", whole);
}

void measure_standing(const char* name, const testing::LeggedRobot& robot,
                      const BalanceOptions& options) {
  testing::GroundRun run(robot, 1e-3);
  Balance balance(robot.model, robot.feet, options);
  const Balance::Reference reference = balance.reference_at(robot.q);
  std::vector<double> setup, solve, total, cpu;
  run.simulation().set_controller([&](const ControlInput& now, VectorX<double>& tau) {
    const auto start = std::chrono::steady_clock::now();
    const double cpu_start = testing::thread_time();
    tau = balance.step(now.q, now.v, reference);
    cpu.push_back(1e6 * (testing::thread_time() - cpu_start));
    total.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
            .count());
    setup.push_back(balance.whole_body().report().setup_us);
    solve.push_back(balance.whole_body().report().solve_us);
  });
  run.simulation().run_until(5);
  const bool strict = balance.whole_body().report().levels > 1;
  std::printf("%s, standing, 5 s%s\n", name, strict ? ", tasks in three levels of priority" : "");
  print("control step", total);
  print("control step, CPU time", cpu);
  print("setting up the QP", setup);
  print("solving the QP", solve);
}

/// Logs 4 s of the built-in quadruped: stand, trot at 0.5 m/s, push to the left at 2.5 s.
void log_trot(const char* path) {
  const testing::LeggedRobot robot = testing::quadruped();
  const Model<double>& model = robot.model;
  LogTopic state{"state", {}}, body{"body", {"forward", "desired", "left"}}, force{"force", {}},
      torque{"torque", {}};
  for (const auto& name : position_names(model)) state.fields.push_back("q." + name);
  for (const char* foot : {"FL", "FR", "RL", "RR"}) force.fields.push_back(foot);
  for (const char* joint : {"abduction", "flexion", "knee"}) torque.fields.push_back(joint);
  const auto log = open_log("control_bench", path, {state, body, force, torque},
                            {{"model", "builtin:quadruped"}, {"base", "described"}});
  testing::WalkSetup setup;
  setup.command.forward = 0.5;
  setup.until = 4;
  setup.pushes = {testing::push(model.find_frame("trunk"), 2.5, {0, 5, 0})};
  int step = 0;
  testing::walk(robot, setup,
                [&](double t, const Locomotion& walk, const VectorX<double>& q,
                    const VectorX<double>&, const VectorX<double>& tau) {
                  if (step++ % 5 != 0) return;
                  const WholeBody& whole = walk.whole_body();
                  const Vector3<double> v = whole.mass_center_velocity();
                  const double desired = 0.5 * std::clamp((t - 0.5) / 0.5, 0.0, 1.0);
                  VectorX<double> f(4);
                  for (int i = 0; i < 4; ++i) f[i] = whole.foot_force(i).z();
                  log->write(0, t, q);
                  log->write(1, t, Vector3<double>(v.x(), desired, v.y()));
                  log->write(2, t, f);
                  log->write(3, t, tau.segment<3>(6));
                  log->end_row(t);
                });
  log->finish();
}

}  // namespace
}  // namespace limb

int main(int argc, char** argv) {
  using namespace limb;
  int seeds = 20;
  double seconds = 20;
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "--seeds") == 0) seeds = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--seconds") == 0) seconds = std::atof(argv[i + 1]);
  }
  if (!Qp::available()) {
    std::printf("limb was built without a solver of quadratic programs\n");
    return 0;
  }
  if (argc == 3 && std::strcmp(argv[1], "--log") == 0) {
    log_trot(argv[2]);
    return 0;
  }
  BalanceOptions strict;
  strict.whole_body.priority = {.mass_center = 0, .turn = 1, .swing = 1, .posture = 2, .force = 2};
  for (const BalanceOptions& options : {BalanceOptions{}, strict}) {
    measure_standing("builtin:quadruped", testing::quadruped(), options);
    measure_standing("builtin:humanoid", testing::humanoid(), options);
  }
  measure_trot("builtin:quadruped", testing::quadruped(), seeds, seconds, 0);
  measure_trot("builtin:quadruped", testing::quadruped(), seeds, seconds, 0.02);
  const auto shared = testing::shared_folder();
  if (shared.empty()) return 0;
  const std::string folder = (shared / "robots").string();
  const int few = std::min(seeds, 3);
  measure_trot("go2", testing::go2(folder), few, seconds, 0);
  measure_trot("anymal_b", testing::anymal_b(folder), few, seconds, 0);
  measure_trot("hyq", testing::hyq(folder), few, seconds, 0);
}
