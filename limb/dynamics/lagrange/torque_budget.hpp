#pragma once

#include "limb/dynamics/lagrange/christoffel.hpp"
#include "limb/dynamics/recursive/external.hpp"

namespace limb {

/// Inverse dynamics split into its terms, one number per generalized velocity. Positive: torque
/// that the drives must supply.
template <typename T>
struct TorqueBudget {
  explicit TorqueBudget(const Model<T>& model);

  VectorX<T> inertial;     ///< M a of the rigid bodies
  VectorX<T> centrifugal;  ///< sum of Gamma_ijj v_j^2
  VectorX<T> coriolis;     ///< sum of Gamma_ijk v_j v_k, j != k
  VectorX<T> gravity;      ///< torque that compensates gravity
  VectorX<T> damping;      ///< against viscous friction
  VectorX<T> friction;     ///< against Coulomb friction; zero at rest
  VectorX<T> armature;     ///< accelerates the rotors; with w x u of free and planar joints
  VectorX<T> external;     ///< against the environment, -sum of J^T F
  VectorX<T> tau;          ///< the sum of the eight, added in this order
};

/// Scratch; use one per thread.
template <typename T>
struct TorqueBudgetScratch {
  explicit TorqueBudgetScratch(const Model<T>& model);

  LagrangeScratch<T> lagrange;
  std::vector<Motion<T>> A;  ///< of each body: acceleration due to a only
  std::vector<Force<T>> F;   ///< on each body, then on its subtree
  VectorX<T> joint_force;    ///< of each joint velocity
  VectorX<T> turning;        ///< velocity-dependent force of armature, of each joint velocity
  VectorX<T> v;              ///< generalized velocity
};

/// Torque budget of the motion q, v, a. O(n d^2) for n velocities, d of them between tip and root;
/// no allocation. JointEffects selects armature, damping and friction; in a coupled robot each term
/// includes all follower joints.
/// @param kinematics  of order acceleration.
/// @throws Error if the kinematics are of too low an order or a wrench has an invalid frame.
template <typename T>
void torque_budget(const Model<T>& model, const Kinematics<T>& kinematics,
                   TorqueBudgetScratch<T>& scratch, WrenchesIn<T> external, TorqueBudget<T>& budget,
                   const JointEffects& effects = {});
/// The same without external wrenches.
template <typename T>
void torque_budget(const Model<T>& model, const Kinematics<T>& kinematics,
                   TorqueBudgetScratch<T>& scratch, TorqueBudget<T>& budget,
                   const JointEffects& effects = {}) {
  torque_budget<T>(model, kinematics, scratch, WrenchesIn<T>(), budget, effects);
}

}  // namespace limb
