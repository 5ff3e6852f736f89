#pragma once

#include "limb/dynamics/constrained.hpp"
#include "limb/sim/configuration_space.hpp"

namespace limb {

/// How far apart the two sides of the model's loops are at most: metres, or radians for the turn of
/// a weld. Kinematics from order position on.
double loop_error(const Model<double>& model, const Kinematics<double>& kinematics);

/// Keeps the loops of a model closed while its motion is integrated: forward dynamics holds their
/// accelerations, and rounding and the error of the integrator are removed from positions and
/// velocities after each step, along the shortest way in the metric of the mass matrix.
class LoopKeeper {
 public:
  explicit LoopKeeper(const Model<double>& model);

  /// Moves q and v to where the loops are closed, and stay so. No allocation.
  /// @throws Error (computation failed, with the time) if they cannot be closed from here.
  void close(const Model<double>& model, State<double>& s);

 private:
  ConstraintSet<double> set_;
  ConstraintWorkspace<double> work_;
  ConfigurationSpace<double> space_;
  Workspace<double> tree_;
  VectorX<double> zero_, tau_, step_, force_, none_;
};

}  // namespace limb
