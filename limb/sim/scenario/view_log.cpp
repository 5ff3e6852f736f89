#include "limb/sim/scenario/view_log.hpp"

#include <cmath>
#include <limits>

namespace limb {
namespace {

constexpr double kPeriod = 1. / 30;    // s
constexpr double kWeightLength = 0.5;  // m

}  // namespace

ViewLog::ViewLog(const Model<double>& model) : kinematics_(model) {
  const double weight = model.total_mass() * model.gravity().norm();
  meters_per_newton_ = kWeightLength / (weight > 0 ? weight : 1);
}

std::vector<LogTopic> ViewLog::topics(const Scenario& scenario) {
  std::vector<LogTopic> topics = ViewLog::topics(scenario.model);
  if (scenario.contact) topics.push_back({"scene", {}, LogTopic::Kind::arrows});
  return topics;
}

std::vector<LogTopic> ViewLog::topics(const Model<double>& model) {
  std::vector<LogTopic> topics = {{"tf", {}, LogTopic::Kind::frame_transforms},
                                  {"joint_states", {}, LogTopic::Kind::joint_states}};
  for (const Frame<double>& frame : model.frames()) {
    if (frame.kind == Frame<double>::Kind::link) topics[0].fields.push_back(frame.name);
  }
  for (const Body<double>& body : model.bodies()) {
    if (body.joint.nv() == 1) topics[1].fields.push_back(body.name);
  }
  return topics;
}

bool ViewLog::is_due(double t) {
  if (t < next_ - 1e-9) return false;
  next_ = (std::floor(t / kPeriod + 1e-6) + 1) * kPeriod;
  return true;
}

void ViewLog::write(const Model<double>& model, const RobotState<double>& state, std::size_t first,
                    LogWriter& log) {
  if (is_due(state.t)) write_robot(model, state, nullptr, first, log);
}

void ViewLog::write_robot(const Model<double>& model, const RobotState<double>& state,
                          const VectorX<double>* torque, std::size_t first, LogWriter& log) {
  forward_kinematics(model, state.q, state.v, kinematics_);
  poses_.resize(7 * static_cast<Eigen::Index>(model.frames().size()));
  Eigen::Index n = 0;
  for (const Frame<double>& frame : model.frames()) {
    if (frame.kind != Frame<double>::Kind::link) continue;
    const Pose<double> X_WF =
        kinematics_.X_WB[static_cast<std::size_t>(frame.body.value())] * frame.X_BF;
    poses_.segment<3>(n) = X_WF.p;
    poses_.segment<4>(n + 3) = Eigen::Quaterniond(X_WF.R).coeffs();  // x y z w
    n += 7;
  }
  log.write(first, state.t, poses_);

  const auto& rows = model.coupling().rows();
  joints_.resize(3 * model.body_count());
  n = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].nv != 1) continue;
    joints_[n++] = kinematics_.q[rows[i].q];
    joints_[n++] = kinematics_.v[rows[i].v];
    // The torques of joints that follow others act on those.
    joints_[n++] = torque != nullptr && rows[i].yq >= 0 ? (*torque)[rows[i].terms[0].y]
                                                        : std::numeric_limits<double>::quiet_NaN();
  }
  log.write(first + 1, state.t, joints_);
}

void ViewLog::write(const World& world, const RobotState<double>& state, std::size_t first,
                    LogWriter& log) {
  if (!is_due(state.t)) return;
  write_robot(world.model(), state, &world.motor_torque(), first, log);
  if (const Contacts* contacts = world.contacts()) {
    arrows_.resize(6 * static_cast<Eigen::Index>(contacts->points().size()));
    Eigen::Index n = 0;
    for (const ContactPoint& c : contacts->points()) {
      arrows_.segment<3>(n) = c.p_W;
      arrows_.segment<3>(n + 3) = meters_per_newton_ * c.force_W;
      n += 6;
    }
    log.write(first + 2, state.t, arrows_);
  }
}

}  // namespace limb
