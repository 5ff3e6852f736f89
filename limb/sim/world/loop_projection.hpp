#pragma once

#include "limb/dynamics/constraints/constrained_dynamics.hpp"
#include "limb/sim/integrate/configuration_space.hpp"

namespace limb {

/// Largest distance between the two sides of the model's loops: metres, or radians for the rotation
/// of a weld; of polynomial couplings the unit of the joint that follows. Needs kinematics of order
/// position.
double loop_error(const Model<double>& model, const Kinematics<double>& kinematics);

/// Projects states onto the closed loops of a model during integration: forward dynamics satisfies
/// the constraints of the accelerations; rounding and the error of the integrator are removed from
/// positions and velocities after each step, by the smallest change in the metric of the mass
/// matrix.
class LoopProjection {
 public:
  explicit LoopProjection(const Model<double>& model);

  /// Projects q and v onto closed loops. From a configuration where Newton's method fails, for
  /// example with all links in one line, it is tried again from configurations nearby, always the
  /// same ones. Does not allocate.
  /// @throws Error (computation failed, with the time) if none leads to closed loops.
  void close(const Model<double>& model, RobotState<double>& s);

 private:
  bool close_position(const Model<double>& model, VectorX<double>& q);

  ConstraintSet<double> set_;
  ConstraintWorkspace<double> work_;
  ConfigurationSpace<double> space_;
  Workspace<double> tree_;
  double tolerance_;  ///< m; loops that a file gives with rounded numbers stay open by this
  VectorX<double> zero_, tau_, step_, force_, none_, q_;
};

}  // namespace limb
