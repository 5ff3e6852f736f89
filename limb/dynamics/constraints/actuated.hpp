#pragma once

#include "limb/model/core/model.hpp"

namespace limb {

/// Whether a motor drives this generalized velocity: it moves a joint with a motor
/// (Model::actuated), either directly or through a coupling.
template <typename T>
bool is_actuated(const Model<T>& model, int velocity) {
  for (const auto& row : model.coupling().rows()) {
    for (std::size_t k = 0; k < row.terms.size(); ++k) {
      if (row.terms[k].y != velocity) continue;
      if (model.actuated()[static_cast<std::size_t>(row.v) + (row.yq >= 0 ? k : 0)]) return true;
    }
  }
  return false;
}

}  // namespace limb
