#pragma once

#include <functional>

#include "limb/sim/world/simulation.hpp"
#include "python/src/eigen_conversion.hpp"

/// Controllers of limb.control in runs of limb.sim, without Python in the loop.
namespace limb::python {

/// A C++ controller for Simulation.set_controller. It keeps the Python controller alive and runs
/// its steps, so that reports can be read between runs.
struct NativeController {
  /// The world must outlive the result. @throws Error if the world does not match the controller.
  std::function<Controller(const World& world)> make;
  double period = 0;  ///< s, between two steps; 0: any
};

/// @throws Error unless the controller's robot has the sizes of the world's.
inline void check_fits(const World& world, int nq, int nv) {
  const Model<double>& model = world.model();
  if (model.nq() == nq && model.nv() == nv) return;
  fail("Simulation.set_controller", "controller",
       "for a robot of nq=" + std::to_string(nq) + ", nv=" + std::to_string(nv),
       "nq=" + std::to_string(model.nq()) + ", nv=" + std::to_string(model.nv()));
}

}  // namespace limb::python
