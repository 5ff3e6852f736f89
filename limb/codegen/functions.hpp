#pragma once

#include <string>
#include <vector>

#include "limb/codegen/trace.hpp"
#include "limb/dynamics/frames.hpp"

namespace limb {

/// What can be compiled for a robot, with arguments and results. n = velocity_size(), k the number
/// of frames; matrices column by column.
enum class Function {
  rnea,               ///< q, v, a -> tau
  bias,               ///< q, v -> tau
  gravity,            ///< q -> tau
  crba,               ///< q -> M (n x n)
  aba,                ///< q, v, tau -> a
  mass_inverse,       ///< q -> M_inverse (n x n)
  frame_poses,        ///< q -> R (3 x 3k), p (3 x k), in the world
  frame_jacobians,    ///< q -> J (6 x n k), one after the other
  centroidal,         ///< q -> A_G (6 x n), com (3)
  operational_space,  ///< q -> Lambda (6k x 6k), J_bar (n x 6k), of all frames' rows together
  rnea_derivatives,   ///< q, v, a -> dtau_dq, dtau_dv (n x n), by tangents of q
  aba_derivatives,    ///< q, v, tau -> da_dq, da_dv, M_inverse (n x n)
};
inline constexpr int kFunctionCount = 12;

const char* name(Function function);
/// @throws Error with the nearest known name.
Function function_named(std::string_view name);

struct FunctionOptions {
  JointEffects effects;
  std::vector<FrameId> frames;        ///< of frame_*, operational_space
  FrameAxes axes = FrameAxes::local;  ///< of their Jacobians
  /// Bodies whose inertia each state may increase: a further argument `added` (10 x bodies) with
  /// mass, first moment (3) and tensor (xx xy xz yy yz zz), about the body's frame. For what the
  /// fast algorithms compute: rnea, bias, gravity, crba, aba, mass_inverse and derivatives.
  std::vector<BodyId> added_inertias;
};

namespace codegen {

/// Arguments and results of a function. @throws Error if it needs frames and there are none, or if
/// inertias cannot be added.
struct Signature {
  std::vector<Array> inputs, outputs;
};
Signature signature(const Model<double>& model, Function function, const FunctionOptions& options);

/// The function of this robot as a graph: its numbers folded in.
Trace trace(const Model<double>& model, Function function, const FunctionOptions& options = {});

/// Several functions of one robot: the robot is prepared once.
class FunctionTracer {
 public:
  FunctionTracer(const Model<double>& model, const FunctionOptions& options);
  Trace trace(Function function) const;

 private:
  const Model<double>& model_;
  FunctionOptions options_;
  Model<Traced> traced_;
};

}  // namespace codegen
}  // namespace limb
