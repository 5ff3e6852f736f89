#pragma once

#include "limb/dynamics/constraints/constrained_dynamics.hpp"
#include "limb/dynamics/kinematics/frames.hpp"
#include "limb/dynamics/recursive/external.hpp"

/// Partitioned equations of motion of a floating-base robot: an unactuated base, actuated joints
/// and contact forces,
///
///   M a + h = S^T tau + sum J_i^T f_i
namespace limb {

/// Number of actuated velocities: the rows of S.
template <typename T>
int motor_count(const Model<T>& model);

/// Selection matrix S, motor_count x nv: S v are the velocities of the motors.
/// @throws Error if S has the wrong size.
template <typename T>
void selection_matrix(const Model<T>& model, MatrixOut<T> S);

/// Number of velocities of the base: all before the first actuated one. 6 for a robot on a free
/// joint.
template <typename T>
int base_size(const Model<T>& model);

/// M and h partitioned into base (b) and joints (j). Made once for a model.
template <typename T>
struct BaseJointPartition {
  explicit BaseJointPartition(const Model<T>& model);

  MatrixX<T> M_bb, M_bj, M_jj;  ///< M = [M_bb M_bj; M_bj^T M_jj]
  VectorX<T> h_b, h_j;
};
/// Copies M and h into the blocks of the partition. @throws Error if a size is wrong.
template <typename T>
void base_joint_partition(const Model<T>& model, MatrixIn<T>& M, VectorIn<T>& h,
                          BaseJointPartition<T>& partition);

/// M a + h - S^T tau - sum J_i^T f_i: zero where the equation of motion is satisfied.
/// @param tau_motors  torques of the motors only, motor_count numbers.
/// @param contacts    wrenches of the world on frames, in the frames' axes at their origins.
template <typename T>
void equation_of_motion_residual(const Model<T>& model, Workspace<T>& work, VectorIn<T>& q,
                                 VectorIn<T>& v, VectorIn<T>& a, VectorIn<T>& tau_motors,
                                 WrenchesIn<T> contacts, VectorOut<T> residual,
                                 const JointEffects& effects = {});

/// The equivalent wrench on another frame: the dual adjoint of the pose between them. Frame
/// BodyId(1) is the base. Needs kinematics of order position.
template <typename T>
Force<T> transfer_wrench(const Model<T>& model, const Kinematics<T>& kinematics, FrameIn<T> from,
                         const std::type_identity_t<Force<T>>& F_from, FrameIn<T> to);

/// The directions that neither motors nor constraints control.
template <typename T>
struct Underactuation {
  int velocities = 0, motors = 0, rows = 0;
  int rank = 0;                 ///< of [S; J]: directions on which a motor or a constraint acts
  std::vector<int> unactuated;  ///< velocities without a motor
  /// Orthonormal velocities, columns, that no motor drives and no constraint resists:
  /// velocities - rank of them.
  MatrixX<T> free_directions;
};
/// Underactuation at q with the active constraints of the set. For reports: allocates.
template <Real T>
Underactuation<T> underactuation(const Model<T>& model, const ConstraintSet<T>& set,
                                 ConstraintWorkspace<T>& work, VectorIn<T>& q);

}  // namespace limb
