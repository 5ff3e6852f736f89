#pragma once

#include <limits>

#include "limb/model/model.hpp"

namespace limb {

/// Whether a motor drives this one of the robot's own velocities: whether it moves a joint with a
/// motor (Model::actuated), be it the joint's own or one that the joint follows.
template <typename T>
bool is_driven(const Model<T>& model, int velocity) {
  for (const auto& row : model.coupling().rows()) {
    for (std::size_t k = 0; k < row.terms.size(); ++k) {
      if (row.terms[k].y != velocity) continue;
      if (model.actuated()[static_cast<std::size_t>(row.v) + (row.yq >= 0 ? k : 0)]) return true;
    }
  }
  return false;
}

/// The largest torque of the joint that owns this velocity, N m or N, as the model says; infinite
/// where it names none.
inline double effort_limit(const Model<double>& model, int velocity) {
  const auto& rows = model.coupling().rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].yq < 0 || rows[i].terms.empty()) continue;
    const int j = velocity - rows[i].terms[0].y;
    const auto& limits = model.bodies()[i + 1].limits;
    if (j < 0 || j >= static_cast<int>(limits.size())) continue;
    const auto& effort = limits[static_cast<std::size_t>(j)].effort;
    if (effort && *effort > 0) return *effort;
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace limb
