#include "limb/legged/legged_robot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "limb/base/check.hpp"
#include "limb/dynamics/kinematics/forward_kinematics.hpp"
#include "limb/legged/find_feet.hpp"

namespace limb {
namespace {

void check_base(const char* call, const Model<double>& model) {
  if (model.body_count() < 2 || model.bodies()[1].joint.type() != JointType::free) {
    fail(call, "model", "one whose first joint is not free", "a robot on a free base",
         "load it with Base::free");
  }
}

}  // namespace

std::vector<Foot> LeggedRobot::points() const {
  std::vector<Foot> all;
  for (const std::string& name : feet) all.push_back({model.find_frame(name)});
  return all;
}

std::vector<int> LeggedRobot::held_velocities() const {
  std::vector<bool> in_leg(model.bodies().size(), false);
  for (const Foot& foot : points()) {
    for (const BodyId body : bodies_to(model, model.frame(foot.frame).body)) {
      in_leg[static_cast<std::size_t>(body.value())] = true;
    }
  }
  std::vector<int> all;
  for (std::size_t i = 2; i < model.bodies().size(); ++i) {
    const Body<double>& body = model.bodies()[i];
    for (int k = 0; k < body.joint.nv() && !in_leg[i]; ++k) all.push_back(body.v_start + k);
  }
  return all;
}

void put_on_ground(LeggedRobot& robot) {
  Kinematics<double> kinematics(robot.model);
  forward_kinematics(robot.model, robot.q, kinematics);
  double lowest = std::numeric_limits<double>::infinity();
  for (const Foot& foot : robot.points()) {
    lowest = std::min(lowest, frame_pose(robot.model, kinematics, foot.frame).p.z());
  }
  robot.q[2] -= lowest;
}

LeggedRobot make_legged_robot(Model<double> model, std::vector<std::string> feet,
                              const std::vector<std::pair<std::string, double>>& joints) {
  const char* call = "make_legged_robot";
  check_base(call, model);
  if (feet.empty()) fail(call, "feet", "empty", "at least one frame");
  LeggedRobot robot{std::move(model), std::move(feet), {}};
  robot.q = robot.model.neutral();
  for (const auto& [name, angle] : joints) {
    const Body<double>& body = robot.model.body(robot.model.find_body(name));
    if (body.joint.nq() != 1)
      fail(call, "joint '" + name + "'", "a joint with several coordinates", "a joint with one");
    check_finite(call, "position of joint '" + name + "'", angle);
    robot.q[body.q_start] = angle;
  }
  put_on_ground(robot);
  if (!(robot.height() > 0)) {
    fail(call, "posture", fmt::format("one with the base {:g} m above the feet", robot.height()),
         "the feet below the base");
  }
  return robot;
}

}  // namespace limb
