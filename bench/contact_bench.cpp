// A quadruped standing on four feet: steps per second of limb compared with MuJoCo's mj_step, same
// robot, feet, PD control and step, in one process and on one core; and the accuracy of both. Then
// a thousand quadrupeds of both on all cores, and with an argument N, N random drops each of arm,
// quadruped and humanoid with soft stops; with a second argument, with hard ones.
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include <mujoco/mujoco.h>

#include "bench/side_by_side.hpp"
#include "limb/model/convert/convert_mujoco.hpp"
#include "limb/model/testing/write_mjcf.hpp"
#include "limb/sim/testing/drops.hpp"

namespace limb::bench {
namespace {

using Vector = VectorX<double>;

constexpr double kStep = 1e-3, kRadius = 0.022, kFriction = 0.8, kP = 120, kD = 3;
constexpr const char* kFeet[] = {"FL_foot", "FR_foot", "RL_foot", "RR_foot"};

/// The robot with joint damping and without limits, which it does not reach: the same in both.
Model<double> quadruped() {
  Description<double> description = load_description("builtin:quadruped");
  for (auto& joint : description.joints) {
    joint.limits.clear();
    if (joint.type == JointType::revolute) joint.type = JointType::continuous;
  }
  return build_model(description);
}

Vector standing(const Model<double>& model) {
  Vector q = make_state(model).q;
  for (int leg = 0; leg < 4; ++leg) {
    q[8 + 3 * leg] = 0.8;
    q[9 + 3 * leg] = -1.6;
  }
  q[2] = 2 * 0.21 * std::cos(0.8) + kRadius;
  return q;
}

struct Limb {
  explicit Limb(const Model<double>& model, WorldOptions::Dynamics dynamics)
      : world(model, {.dynamics = dynamics}) {
    ContactSetup setup{Ground::plane({kFriction, 0}), {}, {}};
    for (const char* foot : kFeet) {
      setup.shapes.push_back(make_foot(model, model.find_frame(foot), kRadius));
    }
    world.set_contact(std::move(setup));
    simulation = std::make_unique<Simulation>(world, SimulationOptions{.step = kStep});
    target = standing(model);
    simulation->set_state(0, target, Vector::Zero(18));
    simulation->set_controller([this](const ControlInput& now, Vector& tau) {
      tau.tail(12) = kP * (target.tail(12) - now.q.tail(12)) - kD * now.v.tail(12);
    });
  }
  void step() { simulation->run_until(kStep * static_cast<double>(++count)); }
  void restart(double lift) {
    start = target;
    start[2] += lift;
    simulation->set_state(0, start, rest);
    count = 0;
  }
  double height() const { return simulation->state().q[2]; }
  double normal_force() const {
    double sum = 0;
    for (const ContactPoint& c : world.contacts()->points()) sum += c.force_W[2];
    return sum;
  }

  World world;
  std::unique_ptr<Simulation> simulation;
  Vector target, start, rest = Vector::Zero(18);
  long count = 0;
};

struct Mujoco {
  explicit Mujoco(const Model<double>& limb_model) : convention(limb_model) {
    const auto inside = [&](int body) {
      char text[300] = "";
      if (body == 0) {
        std::snprintf(text, sizeof text,
                      "<geom type='plane' size='9 9 1' condim='3' friction='%g 0 0'/>", kFriction);
      }
      for (const char* foot : kFeet) {
        const Frame<double>& f = limb_model.frame(limb_model.find_frame(foot));
        if (f.body.value() != body) continue;
        std::snprintf(text, sizeof text,
                      "<geom type='sphere' size='%g' pos='%g %g %g' mass='0' condim='3' "
                      "friction='%g 0 0'/>",
                      kRadius, f.X_BF.p[0], f.X_BF.p[1], f.X_BF.p[2], kFriction);
      }
      return std::string(text);
    };
    const auto file = std::filesystem::temp_directory_path() /
                      ("limb_contact_bench_" + std::to_string(getpid()) + ".xml");
    std::ofstream(file) << testing::write_mjcf(limb_model, testing::Drives::written, inside);
    char error[500] = "";
    m = mj_loadXML(file.string().c_str(), nullptr, error, sizeof error);
    std::filesystem::remove(file);
    if (m == nullptr) {
      std::printf("MuJoCo cannot load it: %s\n", error);
      std::exit(1);
    }
    m->opt.timestep = kStep;
    m->opt.integrator = mjINT_EULER;
    m->opt.cone = mjCONE_ELLIPTIC;
    d = mj_makeData(m);
    target = convention.q_to(standing(limb_model));
    std::copy(target.begin(), target.end(), d->qpos);
  }
  ~Mujoco() {
    mj_deleteData(d);
    mj_deleteModel(m);
  }
  void step() {
    for (int i = 0; i < 12; ++i) {
      d->qfrc_applied[6 + i] = kP * (target[7 + i] - d->qpos[7 + i]) - kD * d->qvel[6 + i];
    }
    mj_step(m, d);
  }
  void restart(double lift) {
    mj_resetData(m, d);
    std::copy(target.begin(), target.end(), d->qpos);
    d->qpos[2] += lift;
  }
  double height() const { return d->qpos[2]; }
  double normal_force() const {
    double sum = 0;
    for (int i = 0; i < d->ncon; ++i) {
      mjtNum force[6];
      mj_contactForce(m, d, i, force);
      sum += force[0];
    }
    return sum;
  }
  double penetration() const {
    double deepest = 0;
    for (int i = 0; i < d->ncon; ++i) deepest = std::max(deepest, -d->contact[i].dist);
    return deepest;
  }

  MujocoConvention convention;
  mjModel* m = nullptr;
  mjData* d = nullptr;
  Vector target;
};

void measure_standing() {
  const Model<double> model = quadruped();
  Limb templates(model, WorldOptions::Dynamics::templates),
      compiled(model, WorldOptions::Dynamics::compiled);
  Mujoco mujoco(model);
  for (int i = 0; i < 8000; ++i) {
    templates.step();
    compiled.step();
    mujoco.step();
  }
  const double weight = model.total_mass() * 9.81;
  std::printf("standing after 8 s, step %g s: sum of normal forces / weight - 1, deepest overlap\n",
              kStep);
  std::printf("  limb    %9.1e %9.1e m, residual %.1e m/s\n", compiled.normal_force() / weight - 1,
              compiled.world.contacts()->report().penetration,
              compiled.world.contacts()->report().residual);
  std::printf("  MuJoCo  %9.1e %9.1e m, elliptic cone, Newton's solver, tolerance %g\n",
              mujoco.normal_force() / weight - 1, mujoco.penetration(), mujoco.m->opt.tolerance);
  const auto other = [&](int) { mujoco.step(); };
  print("quadruped on four feet, one core", "MuJoCo",
        {side_by_side(
             "step, templates", [&](int) { templates.step(); }, other),
         side_by_side(
             "step, compiled", [&](int) { compiled.step(); }, other)});
  mujoco.m->opt.cone = mjCONE_PYRAMIDAL;
  print("the same, MuJoCo with pyramidal cones", "MuJoCo",
        {side_by_side(
            "step, compiled", [&](int) { compiled.step(); }, other)});
}

/// A robot of the batch: how much higher than standing it starts.
double lift_of(int robot) {
  return 0.02 + 1e-4 * robot;
}

/// Steps per second of many robots, each for some steps, on some threads. Each thread has one side,
/// which simulates one robot after the other; `heights` are those of the bases at the end.
template <typename Side>
double batch_rate(std::vector<std::unique_ptr<Side>>& sides, std::vector<double>& heights,
                  int steps, std::size_t threads) {
  const tbb::global_control control(tbb::global_control::max_allowed_parallelism, threads);
  const auto start = Clock::now();
  tbb::parallel_for(0, static_cast<int>(heights.size()), [&](int i) {
    Side& side = *sides[static_cast<std::size_t>(tbb::this_task_arena::current_thread_index())];
    side.restart(lift_of(i));
    for (int k = 0; k < steps; ++k) side.step();
    heights[static_cast<std::size_t>(i)] = side.height();
  });
  return static_cast<double>(heights.size()) * steps / (milliseconds(start) / 1e3);
}

/// A thousand quadrupeds, each dropped from a few centimetres.
void measure_batch() {
  const Model<double> model = quadruped();
  constexpr int kRobots = 1000, kSteps = 200, kRounds = 15;
  std::printf(
      "%d quadrupeds, %d steps each, one world or mjData per thread, %d rounds, both in turn: "
      "fastest steps per second, median and range of the ratios\n",
      kRobots, kSteps, kRounds);
  const auto cores = static_cast<std::size_t>(std::thread::hardware_concurrency());
  std::vector<std::unique_ptr<Limb>> worlds;
  std::vector<std::unique_ptr<Mujoco>> others;
  for (std::size_t i = 0; i < cores; ++i) {
    worlds.push_back(std::make_unique<Limb>(model, WorldOptions::Dynamics::compiled));
    others.push_back(std::make_unique<Mujoco>(model));
  }
  std::vector<double> heights(kRobots), other_heights(kRobots);
  double one_thread = 0;
  for (std::size_t threads = 1; threads <= cores; threads *= 2) {
    double rate = 0, other = 0;
    std::vector<double> ratios;  // of rounds that follow each other: the clock of a core varies
    for (int round = 0; round < kRounds; ++round) {
      const double now = batch_rate(worlds, heights, kSteps, threads),
                   other_now = batch_rate(others, other_heights, kSteps, threads);
      rate = std::max(rate, now);
      other = std::max(other, other_now);
      ratios.push_back(now / other_now);
    }
    std::sort(ratios.begin(), ratios.end());
    if (threads == 1) one_thread = rate;
    std::printf(
        "  %zu threads: limb %.0f (%.2f times one thread), MuJoCo %.0f, ratio %.2fx (%.2f to "
        "%.2f)\n",
        threads, rate, rate / one_thread, other, ratios[kRounds / 2], ratios.front(),
        ratios.back());
  }
  const auto mean = [](const std::vector<double>& x) {
    return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
  };
  std::printf("  mean height of the bases at the end: limb %.4f m, MuJoCo %.4f m\n", mean(heights),
              mean(other_heights));
}

void measure_drops(int n, bool hard_stops) {
  WorldOptions options;
  options.friction = WorldOptions::Friction::none;
  options.stops = hard_stops ? WorldOptions::Stops::hard : WorldOptions::Stops::soft;
  std::printf("drops with %s stops\n", hard_stops ? "hard" : "soft");
  for (const char* name : {"builtin:arm7", "builtin:quadruped", "builtin:humanoid"}) {
    const testing::DropRobot robot(name);
    std::vector<testing::Drop> results(static_cast<std::size_t>(n));
    const auto start = Clock::now();
    tbb::parallel_for(0, n, [&](int i) {
      results[static_cast<std::size_t>(i)] =
          testing::drop(robot, static_cast<unsigned>(i), 1, kStep, options);
    });
    const double seconds = milliseconds(start) / 1e3;
    int failed = 0, over = 0;
    long steps = 0, hard = 0;
    double deepest = 0, fastest = 0, residual = 0, gain = 0, growth = 0;
    for (const testing::Drop& d : results) {
      failed += d.finite ? 0 : 1;
      over += d.penetration > 1e-3 ? 1 : 0;
      deepest = std::max(deepest, d.penetration);
      fastest = std::max(fastest, d.fastest);
      residual = std::max(residual, d.residual);
      gain = std::max(gain, d.energy_gain);
      growth = std::max(growth, d.energy_growth);
      steps += d.steps;
      hard += d.not_converged;
    }
    std::printf(
        "%s: %d drops of 1 s, %d not finite, %d deeper than 1 mm; deepest %.2e m, fastest %.0f, "
        "worst residual %.1e m/s, %ld of %ld steps above 1e-6 m/s; impulses of a step add at most "
        "%.1e J, energy grows by at most %.1e J; %.0f s\n",
        name, n, failed, over, deepest, fastest, residual, hard, steps, gain, growth, seconds);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace limb::bench

int main(int argc, char** argv) {
  limb::bench::measure_standing();
  limb::bench::measure_batch();
  if (argc > 1) limb::bench::measure_drops(std::atoi(argv[1]), argc > 2);
}
