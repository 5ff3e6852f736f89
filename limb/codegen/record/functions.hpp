#pragma once

#include <string>
#include <vector>

#include "limb/codegen/record/trace.hpp"
#include "limb/dynamics/kinematics/frames.hpp"

namespace limb {

/// The functions of a robot that can be compiled, with arguments and results. n = nv(), k the
/// number of frames; matrices column by column.
enum class DynamicsFunction {
  rnea,               ///< q, v, a -> tau
  bias,               ///< q, v -> tau
  gravity,            ///< q -> tau
  crba,               ///< q -> M (n x n)
  crba_packed,        ///< q -> M (n (n + 1) / 2): upper triangle, M(r, c) at c (c + 1) / 2 + r
  aba,                ///< q, v, tau -> a
  mass_inverse,       ///< q -> M_inverse (n x n)
  frame_poses,        ///< q -> R (3 x 3k), p (3 x k), in the world
  frame_jacobians,    ///< q -> J (6 x n k), one after the other
  centroidal,         ///< q -> A_G (6 x n), com (3)
  operational_space,  ///< q -> Lambda (6k x 6k), J_bar (n x 6k), all frames stacked
  rnea_derivatives,   ///< q, v, a -> dtau_dq, dtau_dv (n x n), by tangents of q
  aba_derivatives,    ///< q, v, tau -> da_dq, da_dv, da_dtau (n x n)
};
inline constexpr int kFunctionCount = 13;

const char* to_text(DynamicsFunction function);
/// From the name of a function, or its alias: inverse_dynamics (rnea), forward_dynamics (aba),
/// mass_matrix (crba), inverse_dynamics_derivatives, forward_dynamics_derivatives.
/// @throws Error with the nearest known name.
DynamicsFunction dynamics_function_named(std::string_view name);

/// Which entries of matrices are computed and written.
enum class MatrixEntries {
  all,
  /// The structural nonzeros (only the upper triangle of symmetric matrices), column by column.
  /// Trace::patterns has their rows and columns, and the number of zeros that pad rows of 64 and
  /// more entries to whole cache lines. Vectors and poses are not changed.
  nonzeros,
};

struct FunctionOptions {
  JointEffects effects;
  std::vector<FrameId> frames;        ///< of frame_*, operational_space
  FrameAxes axes = FrameAxes::local;  ///< of their Jacobians
  MatrixEntries entries = MatrixEntries::all;
  // Parameters that differ from state to state, passed as further arguments in this order; all
  // zero is the robot as it is.
  /// Bodies with added inertia: argument `added` (10 x bodies) with mass, first moment (3) and
  /// tensor (xx xy xz yy yz zz), about the body's frame.
  std::vector<BodyId> added_inertias;
  /// Joints with shifted origins: argument `shifted` (3 x joints), Model::with_shifted_joint.
  std::vector<BodyId> shifted_joints;
  /// Joints with rotated axes: argument `rotated` (3 x joints), roll, pitch and yaw about fixed
  /// axes of R_JN, Model::with_rotated_joint.
  std::vector<BodyId> rotated_joints;

  bool has_parameters() const {
    return !added_inertias.empty() || !shifted_joints.empty() || !rotated_joints.empty();
  }
};

namespace codegen {

/// Arguments and results of a function, with full matrices. @throws Error if it needs frames and
/// the options have none, or for a parameter of a body that the robot does not have.
struct Signature {
  std::vector<Array> inputs, outputs;
  int parameters = 0;  ///< how many of the inputs, the last ones, are parameters
};
Signature signature(const Model<double>& model, DynamicsFunction function,
                    const FunctionOptions& options);
/// The same from the robot's sizes only.
Signature signature(int nq, int nv, DynamicsFunction function, const FunctionOptions& options);

/// Why straight-line code cannot compute the function for a robot with this many closed loops;
/// empty if it can. Loop constraints may be redundant, and their rank depends on the state.
std::string why_not_straight(std::size_t loops, DynamicsFunction function);

/// The patterns of results whose zeros are not known from a recording: all entries, or for
/// MatrixEntries::nonzeros the upper triangle of symmetric matrices. crba_packed is always a
/// triangle.
/// @param results of signature().
std::vector<Pattern> whole_patterns(DynamicsFunction function, const std::vector<Array>& results,
                                    MatrixEntries entries);

/// Functions that can be split: aba_derivatives.
bool can_split(DynamicsFunction function);

}  // namespace codegen
}  // namespace limb
