#pragma once

#include "limb/dynamics/constrained.hpp"
#include "limb/dynamics/external.hpp"
#include "limb/dynamics/frames.hpp"

/// Legged robots as their equations are usually written: a base that no motor drives, joints that
/// motors drive, and forces of contacts,
///
///   M a + h = S^T tau + sum J_i^T f_i
namespace limb {

/// How many of the robot's velocities a motor drives: the rows of S.
template <typename T>
int motor_count(const Model<T>& model);

/// S with S v = the velocities of the motors; motor_count x velocity_size.
/// @throws Error if S has the wrong size.
template <typename T>
void selection_matrix(const Model<T>& model, MatrixOut<T> S);

/// How many velocities belong to the base: the first ones, up to the first that a motor drives. 6
/// for a robot on a free joint.
template <typename T>
int base_size(const Model<T>& model);

/// M and h, taken apart into base (b) and joints (j). Made once for a model.
template <typename T>
struct LeggedParts {
  explicit LeggedParts(const Model<T>& model);

  MatrixX<T> M_bb, M_bj, M_jj;  ///< M = [M_bb M_bj; M_bj^T M_jj]
  VectorX<T> h_b, h_j;
};
/// @throws Error if a size is wrong.
template <typename T>
void legged_parts(const Model<T>& model, MatrixIn<T>& M, VectorIn<T>& h, LeggedParts<T>& parts);

/// M a + h - S^T tau - sum J_i^T f_i: zero where the equation of motion holds.
/// @param tau_motors  of the motors alone, motor_count numbers.
/// @param contacts    wrenches of the world on frames, in the frames' axes at their origins.
template <typename T>
void legged_residual(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q, VectorIn<T>& v,
                     VectorIn<T>& a, VectorIn<T>& tau_motors, WrenchesIn<T> contacts,
                     VectorOut<T> residual, const JointEffects& effects = {});

/// A wrench on one frame as the wrench on another that does the same: the dual adjoint of the pose
/// between them. Frame BodyId(1) is the base. From order position on.
template <typename T>
Force<T> transfer_wrench(const Model<T>& model, const Kinematics<T>& kinematics, FrameIn<T> from,
                         const std::type_identity_t<Force<T>>& F_from, FrameIn<T> to);

/// What neither motors nor constraints command.
template <typename T>
struct Underactuation {
  int velocities = 0, motors = 0, rows = 0;
  int rank = 0;                ///< of [S; J]: directions that a motor or a constraint acts on
  std::vector<int> unmotored;  ///< velocities without a motor
  /// Orthonormal velocities, columns, that no motor drives and no constraint resists:
  /// velocities - rank of them.
  MatrixX<T> free_directions;
};
/// At q, with the active constraints of the set. For reports: allocates.
template <Real T>
Underactuation<T> underactuation(const Model<T>& model, const ConstraintSet<T>& set,
                                 ConstraintWorkspace<T>& work, VectorIn<T>& q);

}  // namespace limb
