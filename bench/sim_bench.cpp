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
  const VectorX<double> q = convention.q_to(begin.q), v = convention.v_to(begin.q, begin.v);

  // Each side begins anew every thousand steps, so that both move alike and neither runs away.
  const auto stepper = [&](WorldOptions::Dynamics dynamics) {
    const auto world = std::make_shared<World>(model, WorldOptions{.dynamics = dynamics});
    const auto simulation =
        std::make_shared<Simulation>(*world, SimulationOptions{Method::semi_implicit_euler, kStep});
    return [world, simulation, &begin, steps = 0L](int) mutable {
      if (steps++ % 1000 == 0) simulation->set_state(0, begin.q, begin.v);
      simulation->run_until(simulation->state().t + kStep);
    };
  };
  long other = 0;
  const auto mujoco_step = [&](int) {
    if (other++ % 1000 == 0) {
      mj_resetData(m, d);
      std::copy(q.begin(), q.end(), d->qpos);
      std::copy(v.begin(), v.end(), d->qvel);
    }
    mj_step(m, d);
  };
  std::printf("%s, %d degrees of freedom\n", name, n);
  print(name, "MuJoCo",
        {side_by_side("step, templates", stepper(WorldOptions::Dynamics::templates), mujoco_step),
         side_by_side("step, compiled", stepper(WorldOptions::Dynamics::compiled), mujoco_step)});
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
