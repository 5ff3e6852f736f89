#pragma once

#include <vector>

#include "limb/codegen/record/trace.hpp"

namespace limb::codegen {

/// Array and entry of one number of all inputs, or of all outputs.
struct ArgumentPlace {
  int array, entry;
};

/// The places in the order in which Code counts inputs and outputs: array by array.
inline std::vector<ArgumentPlace> argument_places(const std::vector<Array>& arrays) {
  std::vector<ArgumentPlace> places;
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    for (int j = 0; j < arrays[k].size(); ++j) places.push_back({static_cast<int>(k), j});
  }
  return places;
}

}  // namespace limb::codegen
