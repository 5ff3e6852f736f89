#pragma once

#include <memory>

#include "limb/sim/configuration_space.hpp"

namespace limb {

/// What LoopKeeper and the constrained dynamics do for the loops of a robot, by machine code: near
/// the closed loops, which is where motions are.
class CompiledLoops {
 public:
  /// Compiles, in milliseconds. @throws Error for a robot with couplings.
  CompiledLoops(const Model<double>& model, const JointEffects& effects);
  ~CompiledLoops();

  /// a of the robot's tree becomes that with the loops closed. No allocation.
  void constrain(const State<double>& s, VectorX<double>& a);
  /// Moves q and v to where the loops are closed, and stay so. @returns false, with nothing done,
  /// where they are far from it, or contradict each other. No allocation.
  bool close(State<double>& s);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace limb
