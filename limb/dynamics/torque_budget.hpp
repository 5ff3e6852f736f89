#pragma once

#include "limb/dynamics/external.hpp"
#include "limb/dynamics/lagrange.hpp"

namespace limb {

/// Where the torques of a motion go: tau and its parts, one number for each velocity of the robot.
/// Positive is what the drives must supply.
template <typename T>
struct TorqueBudget {
  explicit TorqueBudget(const Model<T>& model);

  VectorX<T> inertial;     ///< M a of the rigid bodies
  VectorX<T> centrifugal;  ///< sum of Gamma_ijj v_j^2
  VectorX<T> coriolis;     ///< sum of Gamma_ijk v_j v_k, j != k
  VectorX<T> gravity;      ///< holds the robot still
  VectorX<T> damping;      ///< against viscous friction
  VectorX<T> friction;     ///< against Coulomb friction; zero at rest
  VectorX<T> armature;     ///< accelerates the rotors
  VectorX<T> external;     ///< against the environment, -sum of J^T F
  VectorX<T> tau;          ///< the sum of the eight, added in this order
};

/// Room to work in; make one a thread.
template <typename T>
struct TorqueBudgetScratch {
  explicit TorqueBudgetScratch(const Model<T>& model);

  LagrangeScratch<T> lagrange;
  std::vector<Motion<T>> A;  ///< of each body: acceleration by a alone
  std::vector<Force<T>> F;   ///< on each body, then on its subtree
  VectorX<T> joint_force;    ///< of each joint velocity
  VectorX<T> v;              ///< the robot's own
};

/// Inverse dynamics, itemised. O(n d^2) for n velocities and d of them between tip and root; no
/// allocation. Whether rotors, damping and friction count is the caller's choice (JointEffects); in
/// a coupled robot each part is that of all joints that follow.
/// @param kinematics  at q, v, a.
/// @throws Error if the kinematics lack something or a wrench names no frame of the model.
template <typename T>
void torque_budget(const Model<T>& model, const Kinematics<T>& kinematics,
                   TorqueBudgetScratch<T>& scratch, TorqueBudget<T>& budget,
                   WrenchesIn<T> external = {}, const JointEffects& effects = {});

}  // namespace limb
