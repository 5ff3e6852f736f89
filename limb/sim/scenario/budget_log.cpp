#include "limb/sim/scenario/budget_log.hpp"

#include "limb/sim/world/coordinate_units.hpp"

namespace limb {

BudgetLog::BudgetLog(const Scenario& s)
    : model_(s.model), kinematics_(s.model), scratch_(s.model), budget_(s.model) {
  if (!s.log_budget) return;
  topic_.name = "budget";
  const auto names = velocity_names(model_), units = force_units(model_);
  for (const char* term : {"inertial", "centrifugal", "coriolis", "gravity", "damping", "friction",
                           "armature", "external"}) {
    for (const std::string& name : names) {
      topic_.fields.push_back(std::string(term).append(".").append(name));
    }
    topic_.units.insert(topic_.units.end(), units.begin(), units.end());
  }
  values_.setZero(static_cast<Eigen::Index>(topic_.fields.size()));
}

std::vector<LogTopic> BudgetLog::topics() const {
  if (topic_.fields.empty()) return {};
  return {topic_};
}

void BudgetLog::write(const RobotState<double>& s, const VectorX<double>& a,
                      const VectorX<double>& motor, std::size_t topic, LogWriter& log) {
  if (topic_.fields.empty()) return;
  forward_kinematics(model_, s.q, s.v, a, kinematics_);
  torque_budget(model_, kinematics_, scratch_, budget_);
  values_ << budget_.inertial, budget_.centrifugal, budget_.coriolis, budget_.gravity,
      budget_.damping, budget_.friction, budget_.armature, motor - budget_.tau;
  log.write(topic, s.t, values_);
}

}  // namespace limb
