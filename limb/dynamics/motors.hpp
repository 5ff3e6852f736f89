#pragma once

#include <vector>

#include "limb/model/model.hpp"

namespace limb {

/// Which of the robot's own velocities a motor drives: one that moves a joint with a motor
/// (Model::actuated), be it the joint's own or one that the joint follows.
template <typename T>
std::vector<bool> driven_velocities(const Model<T>& model) {
  std::vector<bool> driven(static_cast<std::size_t>(model.velocity_size()), false);
  for (const auto& row : model.coupling().rows()) {
    for (std::size_t k = 0; k < row.terms.size(); ++k) {
      const std::size_t joint = static_cast<std::size_t>(row.v) + (row.yq >= 0 ? k : 0);
      if (model.actuated()[joint]) driven[static_cast<std::size_t>(row.terms[k].y)] = true;
    }
  }
  return driven;
}

}  // namespace limb
