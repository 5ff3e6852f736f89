#pragma once

#include <string>
#include <vector>

#include "limb/codegen/split.hpp"
#include "limb/dynamics/frames.hpp"

namespace limb {

/// What can be compiled for a robot, with arguments and results. n = velocity_size(), k the number
/// of frames; matrices column by column.
enum class Function {
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
  operational_space,  ///< q -> Lambda (6k x 6k), J_bar (n x 6k), of all frames' rows together
  rnea_derivatives,   ///< q, v, a -> dtau_dq, dtau_dv (n x n), by tangents of q
  aba_derivatives,    ///< q, v, tau -> da_dq, da_dv, M_inverse (n x n)
};
inline constexpr int kFunctionCount = 13;

const char* name(Function function);
/// @throws Error with the nearest known name.
Function function_named(std::string_view name);

/// Which entries of matrices are computed and written.
enum class Entries {
  all,
  /// Those that are not zero whatever the state, of symmetric matrices the upper triangle alone,
  /// column by column: Trace::patterns says where they belong, and how many zeros follow to make
  /// rows of 64 and more whole lines of the cache. Vectors and poses stay as they are.
  nonzeros,
};

struct FunctionOptions {
  JointEffects effects;
  std::vector<FrameId> frames;        ///< of frame_*, operational_space
  FrameAxes axes = FrameAxes::local;  ///< of their Jacobians
  Entries entries = Entries::all;
  // Parameters that each state brings along, as further arguments in this order; all zero is the
  // robot as it is.
  /// Bodies whose inertia grows: argument `added` (10 x bodies) with mass, first moment (3) and
  /// tensor (xx xy xz yy yz zz), about the body's frame.
  std::vector<BodyId> added_inertias;
  /// Joints that stand elsewhere: argument `shifted` (3 x joints), Model::with_shifted_joint.
  std::vector<BodyId> shifted_joints;
  /// Joints whose axes are turned: argument `turned` (3 x joints), roll, pitch and yaw about fixed
  /// axes of R_JN, Model::with_turned_joint.
  std::vector<BodyId> turned_joints;

  bool has_parameters() const {
    return !added_inertias.empty() || !shifted_joints.empty() || !turned_joints.empty();
  }
};

namespace codegen {

/// Arguments and results of a function, matrices whole. @throws Error if it needs frames and there
/// are none, or for a parameter of a body that the robot does not have.
struct Signature {
  std::vector<Array> inputs, outputs;
  int parameters = 0;  ///< how many of the inputs, the last ones, are parameters
};
Signature signature(const Model<double>& model, Function function, const FunctionOptions& options);
/// The same by the robot's sizes alone.
Signature signature(int position_size, int velocity_size, Function function,
                    const FunctionOptions& options);

/// Why no straight line of code computes the function of a robot with so many closed loops; empty
/// if it can: rows of loops may depend on each other, which only numbers tell.
std::string why_not_straight(std::size_t loops, Function function);

/// The function of this robot as a graph: its numbers folded in.
/// @throws Error if it has an obstacle, see why_not_straight().
Trace trace(const Model<double>& model, Function function, const FunctionOptions& options = {});

/// What results hold of matrices: by `entries`, where no recording tells zeros. All of them, or of
/// symmetric matrices the upper triangle; crba_packed is one in any case.
/// @param results of signature().
std::vector<Pattern> whole_patterns(Function function, const std::vector<Array>& results,
                                    Entries entries);

/// Functions that can be split: aba_derivatives.
bool can_split(Function function);

/// Several functions of one robot: the robot is prepared once.
class FunctionTracer {
 public:
  FunctionTracer(const Model<double>& model, const FunctionOptions& options);
  Trace trace(Function function) const;
  /// The same in two steps. @throws Error unless can_split(function).
  /// @param patterns those of trace(), if its results are entries.
  Split split(Function function, const std::vector<Pattern>& patterns = {}) const;

 private:
  /// Calls run(robot, arguments) with the arguments as inputs of the tracer, and the robot with the
  /// parameters that are among them.
  template <typename Run>
  auto with_arguments(Tracer& tracer, const Signature& shape, const Run& run) const;

  const Model<double>& model_;
  FunctionOptions options_;
  Model<Traced> traced_;
};

/// A function of a robot that was made of recorded numbers, inside the recording of a Tracer:
/// masses, lengths and placements may be any expression of its inputs. Begin with
/// model.cast<Traced>(), which keeps the canonical form, and change it by Model's with_...();
/// arguments and results as in signature(), without parameters (those of the options are not used).
std::vector<MatrixX<Traced>> record(const Model<Traced>& model, Function function,
                                    const std::vector<VectorX<Traced>>& arguments,
                                    const FunctionOptions& options = {});

}  // namespace codegen

// What a recording needs of a robot, compiled once.
extern template class Model<Traced>;
extern template Model<Traced> Model<double>::cast<Traced>() const;

}  // namespace limb
