// Steps per second of free motion: limb's simulation compared with MuJoCo's mj_step on the same
// robots, with the same method (semi-implicit Euler) and step, contacts off, in one process.
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "bench/mujoco_model.hpp"
#include "bench/side_by_side.hpp"
#include "limb/model/convert/convert_mujoco.hpp"
#include "limb/model/core/load.hpp"
#include "limb/model/testing/shared.hpp"
#include "limb/sim/forces/wrench_laws.hpp"
#include "limb/sim/world/simulation.hpp"

namespace limb::bench {
namespace {

constexpr double kStep = 1e-3;

/// The robot without damping, friction, armature and limits: the same in both programs.
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

/// Five newtons on the last body, in world axes, as xfrc_applied of mj_step.
const Vector3<double> kPush(3, -4, 0);

/// Two five-bar legs under a free body: one loop per leg.
const char* const kLoops = R"(<mujoco model="five-bars"><worldbody>
<body name="torso" pos="0 0 1"><freejoint name="root"/>
<inertial pos="0 0 0" mass="6" diaginertia=".1 .1 .05"/>
<body name="a1" pos=".1 .1 0"><joint name="a1" axis="0 1 0"/>
<inertial pos="0 0 -.1" mass=".5" diaginertia=".002 .002 .0005"/>
<body name="a2" pos="0 0 -.2"><joint name="a2" axis="0 1 0"/>
<inertial pos="-.05 0 -.1" mass=".4" diaginertia=".002 .002 .0005"/></body></body>
<body name="b1" pos="-.1 .1 0"><joint name="b1" axis="0 1 0"/>
<inertial pos="0 0 -.1" mass=".5" diaginertia=".002 .002 .0005"/>
<body name="b2" pos="0 0 -.2"><joint name="b2" axis="0 1 0"/>
<inertial pos=".05 0 -.1" mass=".4" diaginertia=".002 .002 .0005"/></body></body>
<body name="c1" pos=".1 -.1 0"><joint name="c1" axis="0 1 0"/>
<inertial pos="0 0 -.1" mass=".5" diaginertia=".002 .002 .0005"/>
<body name="c2" pos="0 0 -.2"><joint name="c2" axis="0 1 0"/>
<inertial pos="-.05 0 -.1" mass=".4" diaginertia=".002 .002 .0005"/></body></body>
<body name="d1" pos="-.1 -.1 0"><joint name="d1" axis="0 1 0"/>
<inertial pos="0 0 -.1" mass=".5" diaginertia=".002 .002 .0005"/>
<body name="d2" pos="0 0 -.2"><joint name="d2" axis="0 1 0"/>
<inertial pos=".05 0 -.1" mass=".4" diaginertia=".002 .002 .0005"/></body></body>
</body></worldbody><equality>
<connect body1="a2" body2="b2" anchor="-.1 0 -.2"/>
<connect body1="c2" body2="d2" anchor="-.1 0 -.2"/></equality></mujoco>)";

void measure(const char* name, const Model<double>& model, mjModel* m) {
  if (m == nullptr) return;
  m->opt.timestep = kStep;
  m->opt.integrator = mjINT_EULER;
  m->opt.disableflags |= mjDSBL_CONTACT;
  mjData* d = mj_makeData(m);
  RobotState<double> start = make_state(model);
  const int n = model.nv();
  start.v.setLinSpaced(-0.3, 0.3);
  const MujocoConvention convention(model);
  // The last body: limb applies the force at its frame, MuJoCo at its mass centre.
  const Body<double>& last = model.bodies().back();
  const WrenchSchedule::Push push = {model.find_frame(last.link), 0, 1e9, {kPush, {0, 0, 0}}};
  const VectorX<double> q = convention.q_to(start.q), v = convention.v_to(start.q, start.v);

  // Both sides restart every thousand steps, so that their motions stay similar and bounded.
  const auto stepper = [&](WorldOptions::Dynamics dynamics, bool pushed) {
    const auto world = std::make_shared<World>(model, WorldOptions{.dynamics = dynamics});
    if (pushed) world->add<WrenchSchedule>(model, std::vector{push});
    const auto simulation = std::make_shared<Simulation>(
        *world, SimulationOptions{IntegrationMethod::semi_implicit_euler, kStep});
    return [world, simulation, &start, steps = 0L](int) mutable {
      if (steps++ % 1000 == 0) simulation->set_state(0, start.q, start.v);
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

void measure_loops() {
  const std::filesystem::path file = std::filesystem::temp_directory_path() /
                                     ("limb_five_bars_" + std::to_string(getpid()) + ".xml");
  std::ofstream(file) << kLoops;
  char error[500] = "";
  mjModel* m = mj_loadXML(file.string().c_str(), nullptr, error, sizeof error);
  if (m == nullptr) std::printf("five bars: MuJoCo cannot load it: %s\n", error);
  measure("two legs of five bars", load_model(file.string()), m);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace limb::bench

int main() {
  using namespace limb;
  const std::filesystem::path robots = testing::shared_path() / "robots";
  const auto measure = [](const char* name, const Model<double>& model) {
    bench::measure(name, model, bench::mujoco_model(name, model));
  };
  measure("builtin:arm7", bench::rigid("builtin:arm7", Base::fixed));
  measure("builtin:humanoid", bench::rigid("builtin:humanoid", Base::free));
  bench::measure_loops();
  if (!std::filesystem::exists(robots)) return 0;
  measure("iiwa14", bench::rigid((robots / "iiwa14.urdf").string(), Base::fixed));
  measure("talos", bench::rigid((robots / "talos_reduced.urdf").string(), Base::free));
}
