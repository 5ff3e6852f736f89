#pragma once

#include <memory>

#include "limb/sim/integrate/configuration_space.hpp"

namespace limb {

/// LoopProjection and constrained dynamics of the loops of a robot as machine code, for states near
/// closed loops.
class CompiledLoops {
 public:
  /// Compiles, in milliseconds. @throws Error for a robot with couplings.
  CompiledLoops(const Model<double>& model, const JointEffects& effects);
  ~CompiledLoops();

  /// Changes the accelerations a of the tree to those with the loops closed. Does not allocate.
  void constrain(const RobotState<double>& s, VectorX<double>& a);
  /// Projects q and v onto closed loops. @returns false, with s unchanged, if the loops are far
  /// from closed or inconsistent. Does not allocate.
  bool close(RobotState<double>& s);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace limb
