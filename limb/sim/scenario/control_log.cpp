#include "limb/sim/scenario/control_log.hpp"

#include "limb/dynamics/constraints/actuated.hpp"
#include "limb/sim/world/coordinate_units.hpp"

namespace limb {

ControlLog::ControlLog(const Scenario& s) {
  using Kind = ControllerSetup::Kind;
  const Kind kind = s.controller.kind;
  const auto add = [&](const std::string& name, const std::string& unit) {
    topic_.fields.push_back(name);
    topic_.units.push_back(unit);
  };
  if (controls_frame(kind)) {
    topic_.name = "task";
    // Directions that are free or force-controlled have no desired position, if they are those of
    // the world.
    const ControllerSetup::Frame& task = s.controller.task;
    for (int i = 0; i < 3; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const bool moves = task.rows[k] && !(kind == Kind::hybrid_force && task.force_rows[k]);
      if (task.R_WT.isIdentity(0) && !moves) continue;
      axes_.push_back(i);
      for (const char* part : {".desired", ".actual"}) add(std::string(1, "xyz"[i]) + part, "m");
    }
    add("rotation_error", "rad");
    constexpr const char* kForces[] = {"fx", "fy", "fz", "nx", "ny", "nz"};
    for (int i = 0; kind == Kind::hybrid_force && i < 6; ++i) {
      if (!task.force_rows[static_cast<std::size_t>(i)]) continue;
      forces_.push_back(i);
      for (const char* part : {".desired", ".actual"}) {
        add(std::string(kForces[i]) + part, i < 3 ? "N" : "N m");
      }
    }
  } else if (kind != Kind::none && kind != Kind::open_loop && !is_legged(kind)) {
    topic_.name = "target";
    const auto names = position_names(s.model), units = position_units(s.model);
    for (const auto& row : s.model.coupling().rows()) {
      // Quaternions have no reference that a joint follows by itself.
      if (row.yq < 0 || row.nq != row.nv) continue;
      for (std::size_t k = 0; k < row.terms.size(); ++k) {
        if (!is_actuated(s.model, row.terms[k].y)) continue;
        const int i = row.yq + static_cast<int>(k);
        joints_.push_back(i);
        add("q." + names[static_cast<std::size_t>(i)], units[static_cast<std::size_t>(i)]);
      }
    }
  }
  values_.setZero(static_cast<Eigen::Index>(topic_.fields.size()));
}

std::vector<LogTopic> ControlLog::topics() const {
  if (topic_.fields.empty()) return {};
  return {topic_};
}

void ControlLog::write(const ControllerStatistics& statistics, double t, std::size_t first,
                       LogWriter& log) {
  if (topic_.fields.empty()) return;
  if (topic_.name == "target") {
    for (std::size_t i = 0; i < joints_.size(); ++i) {
      values_[static_cast<Eigen::Index>(i)] = statistics.reference[joints_[i]];
    }
  } else {
    const FrameTaskRecord& task = statistics.task;
    Eigen::Index n = 0;
    for (const int i : axes_) {
      values_[n++] = task.target[i];
      values_[n++] = task.position[i];
    }
    values_[n++] = task.rotation_error;
    for (const int i : forces_) {
      values_[n++] = task.force_target[i];
      values_[n++] = task.force[i];
    }
  }
  log.write(first, t, values_);
}

}  // namespace limb
