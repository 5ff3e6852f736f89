#pragma once

#include <memory>

#include "limb/sim/forces/force_law.hpp"

namespace limb {

/// Forward dynamics of one robot as machine code: without wrenches, and with wrenches on declared
/// frames.
class CompiledMotion {
 public:
  /// Whether a model is supported: not with both loops and couplings; with loops only on platforms
  /// with machine code.
  static bool supports(const Model<double>& model);
  /// The model must outlive this.
  CompiledMotion(const Model<double>& model, const JointEffects& effects);
  ~CompiledMotion();

  /// Declares all frames on which wrenches may act, and compiles for them (milliseconds) unless
  /// they are unchanged.
  void set_ports(const std::vector<WrenchPort>& ports);

  /// Accelerations a by the loads. @returns false, with a unchanged, if the templates are needed:
  /// wrenches on other frames, or no machine code. Does not allocate. With a singular mass matrix a
  /// is not finite.
  bool accelerate(const RobotState<double>& s, const AppliedLoads& loads, VectorX<double>& a);

  /// Closes loops that are nearly closed. @returns false, with s unchanged, if LoopProjection is
  /// needed.
  bool close(RobotState<double>& s);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace limb
