// Steps per second of free motion: limb's simulation against MuJoCo's mj_step on the same robots,
// method (semi-implicit Euler) and step, contacts off, in one process.
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "bench/mujoco_model.hpp"
#include "bench/side_by_side.hpp"
#include "limb/model/convert_mujoco.hpp"
#include "limb/model/load.hpp"
#include "limb/sim/simulation.hpp"
#include "limb/sim/wrench_laws.hpp"

namespace limb::bench {
namespace {

constexpr double kStep = 1e-3;

/// The robot without what its drives add, limits and friction included: the same in both programs.
Model<double> rigid(const std::string& path, Base base) {
  Description<double> description = load_description(path);
  description.couplings.clear();
  for (auto& joint : description.joints) {
    joint.damping = joint.friction = joint.armature = 0;
    joint.limits.clear();
    if (joint.type == JointType::revolute) joint.type = JointType::continuous;
  }
  return build_model(description, base);
}

/// Five newtons on the last body, in world axes: what mj_step calls xfrc_applied.
const Vector3<double> kPush(3, -4, 0);

void measure(const char* name, const Model<double>& model) {
  mjModel* m = mujoco_model(name, model);
  if (m == nullptr) return;
  m->opt.timestep = kStep;
  m->opt.integrator = mjINT_EULER;
  m->opt.disableflags |= mjDSBL_CONTACT;
  mjData* d = mj_makeData(m);
  State<double> begin = make_state(model);
  const int n = model.velocity_size();
  begin.v.setLinSpaced(-0.3, 0.3);
  const MujocoConvention convention(model);
  // The last body, as both count: from its frame's origin here, from its mass centre there.
  const Body<double>& last = model.bodies().back();
  const WrenchSchedule::Push push = {model.find_frame(last.link), 0, 1e9, {kPush, {0, 0, 0}}};
  const VectorX<double> q = convention.q_to(begin.q), v = convention.v_to(begin.q, begin.v);

  // Each side begins anew every thousand steps, so that both move alike and neither runs away.
  const auto stepper = [&](WorldOptions::Dynamics dynamics, bool pushed) {
    const auto world = std::make_shared<World>(model, WorldOptions{.dynamics = dynamics});
    if (pushed) world->add<WrenchSchedule>(model, std::vector{push});
    const auto simulation =
        std::make_shared<Simulation>(*world, SimulationOptions{Method::semi_implicit_euler, kStep});
    return [world, simulation, &begin, steps = 0L](int) mutable {
      if (steps++ % 1000 == 0) simulation->set_state(0, begin.q, begin.v);
      simulation->run_until(simulation->state().t + kStep);
    };
  };
  const auto mujoco_step = [&](bool pushed) {
    return [&, pushed, steps = 0L](int) mutable {
      if (steps++ % 1000 == 0) {
        mj_resetData(m, d);
        std::copy(q.begin(), q.end(), d->qpos);
        std::copy(v.begin(), v.end(), d->qvel);
        if (pushed) std::copy(kPush.begin(), kPush.end(), d->xfrc_applied + 6 * (m->nbody - 1));
      }
      mj_step(m, d);
    };
  };
  std::printf("%s, %d degrees of freedom\n", name, n);
  using Dynamics = WorldOptions::Dynamics;
  std::vector<Timing> timings;
  for (const bool pushed : {false, true}) {
    for (const Dynamics dynamics : {Dynamics::templates, Dynamics::compiled}) {
      const std::string title = std::string(pushed ? "pushed step, " : "step, ") +
                                (dynamics == Dynamics::compiled ? "compiled" : "templates");
      timings.push_back(side_by_side(title, stepper(dynamics, pushed), mujoco_step(pushed)));
    }
  }
  print(name, "MuJoCo", timings);
  mj_deleteData(d);
  mj_deleteModel(m);
}

}  // namespace
}  // namespace limb::bench

int main() {
  using namespace limb;
  const char* given = std::getenv("LIMB_SHARED");
  const std::filesystem::path robots =
      std::filesystem::path(given != nullptr ? given : LIMB_SHARED_DEFAULT) / "robots";
  bench::measure("builtin:arm7", bench::rigid("builtin:arm7", Base::fixed));
  bench::measure("builtin:humanoid", bench::rigid("builtin:humanoid", Base::free));
  if (!std::filesystem::exists(robots)) return 0;
  bench::measure("iiwa14", bench::rigid((robots / "iiwa14.urdf").string(), Base::fixed));
  bench::measure("talos", bench::rigid((robots / "talos_reduced.urdf").string(), Base::free));
}
