#pragma once

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

}  // namespace limb
