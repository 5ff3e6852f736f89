#pragma once

#include <string>

#include "limb/symbolic/algebra/ring.hpp"

namespace limb::symbolic {

/// One generalized coordinate.
struct Coordinate {
  std::string joint;  ///< the joint that owns it
  bool is_angle;
  SymbolId q, v, a;
  bool actuated = true;  ///< whether a motor acts on it; else its generalized force is zero
};

}  // namespace limb::symbolic
