#pragma once

#include "limb/codegen/trace.hpp"
#include "limb/dynamics/arguments.hpp"

/// What keeps the loops of a robot closed, recorded. m rows: for each loop where its frame on b is
/// seen from that on a, the origin and for welds the turn, in axes that move with what carries
/// both: only the joints between them count.
namespace limb::codegen {

struct LoopTraces {
  Trace error;   ///< q -> e (m): where it is; of a small turn the angles
  Trace matrix;  ///< q -> e (m), J (m x n), B = M^-1 J^T (n x m), A = J B (m x m)
  Trace drift;   ///< q, v -> c (m): acceleration at a = 0
};

/// @throws Error for a robot with couplings, or without loops.
LoopTraces trace_loops(const Model<double>& model, const JointEffects& effects);

}  // namespace limb::codegen
