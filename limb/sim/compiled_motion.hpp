#pragma once

#include <memory>

#include "limb/sim/force_law.hpp"

namespace limb {

/// Forward dynamics of one robot as machine code: without wrenches, and with wrenches on frames
/// that were named before.
class CompiledMotion {
 public:
  /// Not those with both loops and couplings; with loops only where there is machine code.
  static bool serves(const Model<double>& model);
  /// The model stays the caller's and must live as long.
  CompiledMotion(const Model<double>& model, const JointEffects& effects);
  ~CompiledMotion();

  /// Names all places at which wrenches may act: compiles for them, in milliseconds, unless they
  /// are the same as before.
  void set_ports(const std::vector<WrenchPort>& ports);

  /// a of these loads. @returns false, with nothing done, where this needs the templates: wrenches
  /// elsewhere, or no machine code. Neither allocates. A singular mass matrix leaves numbers that
  /// are not finite.
  bool accelerate(const State<double>& s, const Loads& loads, VectorX<double>& a);

  /// Closes loops that are nearly closed. @returns false, with nothing done, where this needs
  /// LoopKeeper.
  bool close(State<double>& s);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace limb
