// A quadruped standing under PD control, for contact_vs_mujoco_test.py: the robot with its feet as
// MJCF and as URDF, the pose and gains, and the force on each foot in limb after 6 s.
#include <iostream>
#include <nlohmann/json.hpp>

#include "limb/model/core/load.hpp"
#include "limb/model/testing/write_mjcf.hpp"
#include "limb/model/urdf/write_urdf.hpp"
#include "limb/sim/world/simulation.hpp"

int main() {
  using namespace limb;
  constexpr double kRadius = 0.022, kStep = 1e-3, kP = 120, kD = 3;
  const std::vector<std::string> feet = {"FL", "FR", "RL", "RR"};
  Description<double> description = load_description("builtin:quadruped");
  for (auto& joint : description.joints) {
    joint.limits.clear();
    if (joint.type == JointType::revolute) joint.type = JointType::continuous;
  }
  const Model<double> model = build_model(description);
  ContactSetup setup{Ground::plane({0.8, 0}), {}, {}};
  for (const std::string& leg : feet) {
    setup.shapes.push_back(make_foot(model, model.find_frame(leg + "_foot"), kRadius));
  }
  World world(model);
  world.set_contact(setup);
  Simulation simulation(world, {.step = kStep});
  VectorX<double> q = make_state(model).q;
  for (int leg = 0; leg < 4; ++leg) {
    q[8 + 3 * leg] = leg < 2 ? 0.7 : 0.9;  // leaning: front and rear feet have different loads
    q[9 + 3 * leg] = -1.6;
  }
  q[2] = 0.35;
  simulation.set_state(0, q, VectorX<double>::Zero(18));
  simulation.set_controller([&](const ControlInput& now, VectorX<double>& tau) {
    tau.tail(12) = kP * (q.tail(12) - now.q.tail(12)) - kD * now.v.tail(12);
  });
  simulation.run_until(6);
  Kinematics<double> kinematics(model);
  forward_kinematics(model, simulation.state().q, kinematics);
  nlohmann::json result = {{"kp", kP}, {"kd", kD}, {"step", kStep}, {"radius", kRadius}};
  result["q"] = std::vector<double>(q.begin(), q.end());
  for (const std::string& leg : feet) {
    const auto F = world.contacts()->force_on(model, kinematics, model.find_frame(leg + "_foot"));
    result["force"].push_back({F.f[0], F.f[1], F.f[2]});
  }
  result["weight"] = model.total_mass() * 9.81;
  result["mjcf"] = testing::write_mjcf(model, testing::Drives::written, [&](int body) {
    const std::string end = "' condim='3' friction='0.8 0 0'/>";
    if (body == 0) return "<geom type='plane' size='9 9 1" + end;
    for (const ContactShape& s : setup.shapes) {
      if (s.body.value() != body) continue;
      const Vector3<double>& p = s.X_BS.p;
      return "<geom type='sphere' mass='0' size='" + std::to_string(kRadius) + "' pos='" +
             std::to_string(p[0]) + " " + std::to_string(p[1]) + " " + std::to_string(p[2]) + end;
    }
    return std::string();
  });
  std::erase_if(description.joints, [](const auto& j) { return j.type == JointType::free; });
  std::erase_if(description.links, [](const auto& l) { return l.name == kWorldLink; });
  for (auto& link : description.links) {
    link.geometry.clear();
    if (!link.name.ends_with("calf")) continue;
    Geometry foot;
    foot.shape = Geometry::Shape::sphere;
    foot.role = Geometry::Role::collision;
    foot.X_LG.p = {0, 0, -0.21};
    foot.size[0] = kRadius;
    link.geometry = {foot};
  }
  Diagnostics remarks;
  result["urdf"] = write_urdf(description, remarks);
  std::cout << result.dump() << "\n";
}
