#pragma once

#include "limb/codegen/record/trace.hpp"
#include "limb/dynamics/arguments.hpp"

namespace limb::codegen {

/// Results of trace_step().
enum class StepPoses { none, all };

/// Records what a step of a robot without couplings begins with: q, v, added -> L, inverse, D,
/// diagonal, tau [, X, S].
///
/// - The factor L^T D L of the mass matrix with armature and with `added` on the diagonal: L (the
///   rows of PackedFactor, padded by zeros), inverse (1 / D), D, and the diagonal of the matrix.
/// - tau: the bias force with the effects of joints.
/// - X, S: as trace_poses().
Trace trace_step(const Model<double>& model, const JointEffects& effects, StepPoses poses);

/// Records the factor only: q, added -> L, inverse, D, diagonal.
Trace trace_mass_factor(const Model<double>& model);

/// Records the poses of all bodies and the axes of all joints: q -> X (12 per body but the world:
/// R_WB by columns, then p_WB), S (6 per joint velocity: Kinematics::S_W).
Trace trace_poses(const Model<double>& model);

/// Records a solution by that factor: L, inverse, b -> x = M^-1 b, or L, b -> x = L^-1 b.
enum class MassSolve { whole, forward };
Trace trace_mass_solve(const Model<double>& model, MassSolve part);

/// Multiplications of the factorization: half of the sum of the squares of all depths.
double mass_factor_cost(const Model<double>& model);

}  // namespace limb::codegen
