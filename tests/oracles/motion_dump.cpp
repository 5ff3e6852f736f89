// Free motion of a robot for motion_vs_mujoco_test.py: its MJCF text, and limb's state after each
// tenth of a second, in MuJoCo's convention.
//
//   motion_dump ROBOT fixed|free
#include <iostream>
#include <nlohmann/json.hpp>

#include "limb/model/convert/convert_mujoco.hpp"
#include "limb/model/core/load.hpp"
#include "limb/model/testing/write_mjcf.hpp"
#include "limb/sim/world/simulation.hpp"

namespace {

nlohmann::json numbers(const limb::VectorX<double>& x) {
  return std::vector<double>(x.begin(), x.end());
}

}  // namespace

int main(int argc, char** argv) {
  using namespace limb;
  if (argc != 3) return 1;
  const Base base = std::string(argv[2]) == "free" ? Base::free : Base::described;
  Description<double> description = load_description(argv[1]);
  for (auto& joint : description.joints) {
    const bool driven = joint.type != JointType::free;
    joint.friction = 0;
    joint.damping = driven ? 0.05 : 0;  // nonzero, so that damping and armature are compared too
    joint.armature = driven ? 0.02 : 0;
  }
  World world(build_model(description, base), {.stops = WorldOptions::Stops::none});
  const Model<double>& model = world.model();
  const MujocoConvention convention(model);
  Simulation simulation(world, {IntegrationMethod::dormand_prince, 0.01, 0.1, 1e-12});
  RobotState<double> s = make_state(model);
  s.v.setLinSpaced(-0.8, 0.9);
  simulation.set_state(0, s.q, s.v);
  nlohmann::json result = {{"mjcf", testing::write_mjcf(model, testing::Drives::written)}};
  for (int i = 0; i <= 10; ++i) {
    simulation.run_until(0.1 * i);
    const RobotState<double>& now = simulation.state();
    result["states"].push_back(
        {{"q", numbers(convention.q_to(now.q))}, {"v", numbers(convention.v_to(now.q, now.v))}});
  }
  std::cout << result.dump() << "\n";
}
