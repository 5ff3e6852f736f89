// A step while contacts change: dm_control's humanoid, dropped from 1.6 m on a plane until it lies,
// limb compared with MuJoCo's mj_step, same file, friction and step, in one process and on one
// core; then the same humanoid lying at rest, and the time of limb's step by phase.
#include <mujoco/mujoco.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "bench/side_by_side.hpp"
#include "limb/sim/scenario/scenario_run.hpp"

namespace limb::bench {
namespace {

using Vector = VectorX<double>;

constexpr double kStep = 1e-3, kFriction = 0.7, kHeight = 1.6;
constexpr int kSteps = 3000, kLyingSteps = 2000, kChunk = 50;

struct Limb {
  Limb(const std::string& path, bool self_contact) : scenario(scenario_of(path)) {
    scenario.simulation.step = kStep;
    scenario.world.dynamics = WorldOptions::Dynamics::compiled;
    scenario.contact->parameters.self_contact = self_contact;
    for (auto& row : scenario.contact->friction) {
      for (double& friction : row) {
        if (friction > 0) friction = kFriction;
      }
    }
    world = std::make_unique<World>(scenario.model, scenario.world);
    for (const SpringSetup& spring : scenario.springs) {
      world->add<JointSpring>(world->model(), spring.joint, spring.parameters);
    }
    contacts = &world->set_contact(*scenario.contact);
    simulation = std::make_unique<Simulation>(*world, scenario.simulation);
    start = scenario.q;
    start[2] = kHeight;
    reset();
  }
  void reset() {
    simulation->set_state(0, start, Vector::Zero(world->model().nv()));
    count = 0;
  }
  void step() { simulation->run_until(kStep * static_cast<double>(++count)); }

  Scenario scenario;
  std::unique_ptr<World> world;
  Contacts* contacts = nullptr;
  std::unique_ptr<Simulation> simulation;
  Vector start;
  long count = 0;
};

struct Mujoco {
  Mujoco(const std::string& path, bool self_contact, int cone) {
    char error[500] = "";
    m = mj_loadXML(path.c_str(), nullptr, error, sizeof error);
    if (m == nullptr) {
      std::printf("MuJoCo cannot load it: %s\n", error);
      std::exit(1);
    }
    m->opt.timestep = kStep;
    m->opt.integrator = mjINT_EULER;
    m->opt.cone = cone;
    for (int i = 0; i < m->ngeom; ++i) {
      m->geom_friction[3 * i] = kFriction;
      if (self_contact) continue;
      const bool plane = m->geom_type[i] == mjGEOM_PLANE;
      m->geom_contype[i] = plane ? 1 : 2;
      m->geom_conaffinity[i] = plane ? 2 : 1;
    }
    d = mj_makeData(m);
    reset();
  }
  ~Mujoco() {
    mj_deleteData(d);
    mj_deleteModel(m);
  }
  Mujoco(const Mujoco&) = delete;
  Mujoco& operator=(const Mujoco&) = delete;
  void reset() {
    mj_resetData(m, d);
    d->qpos[2] = kHeight;
  }
  void step() { mj_step(m, d); }

  mjModel* m = nullptr;
  mjData* d = nullptr;
};

/// ns per step of the next `steps` steps from here, in chunks, each the fastest of all rounds: the
/// motions are the same in each round, so that other processes disturb few of the minima.
struct Chunks {
  std::vector<double> ns;
  template <typename Side>
  void measure(Side& side, int steps) {
    ns.resize(static_cast<std::size_t>(steps / kChunk), std::numeric_limits<double>::infinity());
    const auto step = [&](int) { side.step(); };
    for (double& best : ns) best = std::min(best, window_ns(step, kChunk));
  }
  double mean() const {
    double sum = 0;
    for (const double x : ns) sum += x;
    return sum / static_cast<double>(ns.size());
  }
};

/// Prints the mean time of the phases of a falling step, each the least of all rounds.
void print_phases(Limb& limb, int rounds) {
  constexpr double kMicro = 1e6 / kSteps;
  constexpr double kMost = std::numeric_limits<double>::infinity();
  ContactTimes least{kMost, kMost, kMost, kMost, kMost};
  for (int k = 0; k < rounds; ++k) {
    ContactTimes times;
    limb.contacts->measure(&times);
    limb.reset();
    for (int i = 0; i < kSteps; ++i) limb.step();
    for (double ContactTimes::*phase :
         {&ContactTimes::kinematics, &ContactTimes::collision, &ContactTimes::matrix,
          &ContactTimes::solver, &ContactTimes::rest}) {
      least.*phase = std::min(least.*phase, kMicro * times.*phase);
    }
  }
  limb.contacts->measure(nullptr);
  std::printf(
      "  phases of contact, us: kinematics %.2f, collision %.2f, Delassus matrix %.2f, solver "
      "%.2f, "
      "rest %.2f\n",
      least.kinematics, least.collision, least.matrix, least.solver, least.rest);
}

void measure(const std::string& path, bool self_contact, int rounds) {
  Limb limb(path, self_contact);
  Mujoco pyramid(path, self_contact, mjCONE_PYRAMIDAL),
      elliptic(path, self_contact, mjCONE_ELLIPTIC);
  Chunks falling[3], lying[3];
  ContactTotals totals;
  long points = 0, sweeps = 0, newton = 0, worst_newton = 0;
  for (int k = 0; k < rounds; ++k) {
    limb.reset();
    falling[0].measure(limb, kSteps);
    totals = limb.world->contacts()->totals();
    pyramid.reset();
    falling[1].measure(pyramid, kSteps);
    elliptic.reset();
    falling[2].measure(elliptic, kSteps);
    // At rest: after three more seconds.
    for (int i = 0; i < kSteps; ++i) {
      limb.step();
      pyramid.step();
      elliptic.step();
    }
    lying[0].measure(limb, kLyingSteps);
    lying[1].measure(pyramid, kLyingSteps);
    lying[2].measure(elliptic, kLyingSteps);
  }
  limb.reset();
  for (int i = 0; i < kSteps; ++i) {
    limb.step();
    const ContactReport& report = limb.world->contacts()->report();
    points += report.touching;
    sweeps += report.sweeps;
    newton += report.newton_steps;
    worst_newton = std::max<long>(worst_newton, report.newton_steps);
  }
  const std::string with = self_contact ? ", self-contact" : "";
  const auto row = [&](const std::string& name, const Chunks* x, int other) {
    return Timing{name, x[0].mean(), x[other].mean()};
  };
  print("humanoid" + with, "MuJoCo",
        {row("falls for 3 s, MuJoCo with pyramids", falling, 1),
         row("falls for 3 s, MuJoCo with elliptic cones", falling, 2),
         row("lies, MuJoCo with pyramids", lying, 1),
         row("lies, MuJoCo with elliptic cones", lying, 2)});
  std::printf(
      "  falling: %ld steps, %.1f contacts with force, %.2f sweeps and %.2f Newton steps per step "
      "(most %ld); not converged %ld, residual %.1e m/s, deepest %.1e m, impulses add %.1e J\n",
      totals.steps, double(points) / kSteps, double(sweeps) / kSteps, double(newton) / kSteps,
      worst_newton, totals.not_converged, totals.residual, totals.penetration, totals.energy_gain);
  print_phases(limb, rounds);
}

}  // namespace
}  // namespace limb::bench

int main(int argc, char** argv) {
  const char* given = std::getenv("LIMB_ROBOTS");
  const std::filesystem::path file =
      std::filesystem::path(given != nullptr ? given : LIMB_ROBOTS_DEFAULT) /
      "dm_control/suite/humanoid.xml";
  if (!std::filesystem::exists(file)) {
    std::printf("%s is not there (CONTRIBUTING.md: public collections of robots)\n", file.c_str());
    return 0;
  }
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 8;
  for (const bool self_contact : {false, true}) {
    limb::bench::measure(file.string(), self_contact, rounds);
  }
}
