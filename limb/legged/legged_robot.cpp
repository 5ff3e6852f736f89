#include "limb/legged/legged_robot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "limb/base/check.hpp"
#include "limb/dynamics/kinematics/forward_kinematics.hpp"
#include "limb/model/core/load.hpp"

namespace limb {
namespace {

void check_base(const char* call, const Model<double>& model) {
  if (model.body_count() < 2 || model.bodies()[1].joint.type() != JointType::free) {
    fail(call, "model", "one whose first joint is not free", "a robot on a free base",
         "load it with Base::free");
  }
}

/// Bodies from the base (exclusive) to this one.
std::vector<BodyId> leg_of(const Model<double>& model, BodyId body) {
  std::vector<BodyId> leg;
  for (; body.value() > 1; body = model.body(body).parent) leg.push_back(body);
  std::reverse(leg.begin(), leg.end());
  return leg;
}

bool is_foot_name(std::string name) {
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name.find("foot") != std::string::npos;
}

struct Leg {
  FrameId foot;
  std::vector<BodyId> joints;
  Vector3<double> p;  ///< of the foot, in the neutral configuration
};

/// One leg per branch of the base with a frame named as a foot: the farthest such frame of the
/// branch.
std::vector<Leg> find_legs(const Model<double>& model) {
  Kinematics<double> kinematics(model);
  forward_kinematics(model, model.neutral(), kinematics);
  std::vector<Leg> legs;
  for (std::size_t i = 0; i < model.frames().size(); ++i) {
    const FrameId frame(static_cast<int>(i));
    if (!is_foot_name(model.frame(frame).name)) continue;
    Leg leg{frame, leg_of(model, model.frame(frame).body), frame_pose(model, kinematics, frame).p};
    if (leg.joints.empty()) continue;
    const auto same = std::find_if(legs.begin(), legs.end(), [&](const Leg& other) {
      return other.joints.front() == leg.joints.front();
    });
    if (same == legs.end()) {
      legs.push_back(std::move(leg));
    } else if (leg.p.norm() > same->p.norm()) {
      *same = std::move(leg);
    }
  }
  return legs;
}

}  // namespace

std::vector<Foot> LeggedRobot::points() const {
  std::vector<Foot> all;
  for (const std::string& name : feet) all.push_back({model.find_frame(name)});
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

LeggedRobot load_quadruped(const std::string& path, double crouch, const ReadOptions& options) {
  const char* call = "load_quadruped";
  if (!(crouch > 0 && crouch < 1)) fail(call, "crouch", to_text(crouch), "between 0 and 1");
  Model<double> model = load_model(path, Base::free, options);
  std::vector<Leg> legs = find_legs(model);
  const bool three =
      std::all_of(legs.begin(), legs.end(), [](const Leg& leg) { return leg.joints.size() == 3; });
  if (legs.size() != 4 || !three) {
    fail(call, "robot '" + model.name() + "'",
         fmt::format("one with {} legs with frames named foot", legs.size()),
         "four legs of three joints each", "make_legged_robot takes feet and joints by name");
  }
  // Front before rear, then left before right.
  std::sort(legs.begin(), legs.end(), [](const Leg& a, const Leg& b) {
    return std::pair(a.p.x() < 0, a.p.y() < 0) < std::pair(b.p.x() < 0, b.p.y() < 0);
  });
  const double hip_angle = std::acos(1 - crouch);
  std::vector<std::string> feet;
  std::vector<std::pair<std::string, double>> joints;
  for (const Leg& leg : legs) {
    feet.push_back(model.frame(leg.foot).name);
    const Body<double>&thigh = model.body(leg.joints[1]), &knee = model.body(leg.joints[2]);
    const auto& limits = knee.limits;
    const double lower = limits.empty() ? -1e9 : limits[0].lower.value_or(-1e9);
    const double upper = limits.empty() ? 1e9 : limits[0].upper.value_or(1e9);
    double side = leg.p.x() >= 0 ? 1 : -1;
    if (upper < 2 * hip_angle) side = 1;
    if (lower > -2 * hip_angle) side = -1;
    joints.emplace_back(thigh.name, side * hip_angle);
    joints.emplace_back(knee.name, -2 * side * hip_angle);
  }
  return make_legged_robot(std::move(model), std::move(feet), joints);
}

}  // namespace limb
