#pragma once

#include "limb/codegen/record/trace.hpp"
#include "limb/dynamics/arguments.hpp"

/// The constraints that close the loops of a robot, recorded. m rows: for each loop the position of
/// its frame on body b relative to that on a, for welds also the orientation, in axes fixed to
/// their common ancestor: only the joints between them matter. One row for a polynomial coupling:
/// q_b - p(q_a).
namespace limb::codegen {

struct LoopTraces {
  Trace error;   ///< q -> e (m): position and rotation error (angles, for small rotations)
  Trace matrix;  ///< q -> e (m), J (m x n), B = M^-1 J^T (n x m), A = J B (m x m)
  Trace drift;   ///< q, v -> c (m): acceleration at a = 0
  std::vector<int> row_groups;  ///< a number for each row, the same for one point or rotation
};

/// @throws Error for a robot with couplings, or without loops.
LoopTraces trace_loops(const Model<double>& model, const JointEffects& effects);

}  // namespace limb::codegen
