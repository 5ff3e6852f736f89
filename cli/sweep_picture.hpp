#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "limb/model/core/model.hpp"

namespace limb::cli {

/// The values of one coordinate over which `limb eval --over` computes quantities.
struct Sweep {
  std::string name;  ///< of the coordinate
  std::string unit;  ///< rad or m
  int q = 0;         ///< its index
  std::vector<double> values;
};

/// Charts of quantities over the coordinate, as SVG: entries of M, forces by velocity, the torque
/// budget by its terms, energies. What is zero everywhere is left out.
/// @param states  results of StateQuantities, one per value.
/// @throws Error if they have no quantity that can be drawn.
std::string sweep_picture(const std::string& call, const Model<double>& model, const Sweep& sweep,
                          const nlohmann::json& states);

}  // namespace limb::cli
