#pragma once

#include <functional>

#include "limb/sim/simulation.hpp"
#include "python/src/numbers.hpp"

/// Controllers of limb.control in runs of limb.sim, without Python in the loop.
namespace limb::python {

/// What Simulation.set_controller takes besides functions. It keeps the controller that it was made
/// of alive, and steps of both are the same: reports can be read between runs.
struct NativeController {
  /// For a world that outlives the result. @throws Error for one that does not fit.
  std::function<Controller(const World& world)> make;
  double period = 0;  ///< s, between two steps; 0: any
};

/// @throws Error unless the controller's robot has the sizes of the world's.
inline void check_fits(const World& world, int nq, int nv) {
  const Model<double>& model = world.model();
  if (model.position_size() == nq && model.velocity_size() == nv) return;
  fail("Simulation.set_controller", "controller",
       "for a robot of nq=" + std::to_string(nq) + ", nv=" + std::to_string(nv),
       "nq=" + std::to_string(model.position_size()) +
           ", nv=" + std::to_string(model.velocity_size()));
}

}  // namespace limb::python
