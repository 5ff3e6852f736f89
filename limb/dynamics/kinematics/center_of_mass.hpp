#pragma once

#include "limb/dynamics/kinematics/forward_kinematics.hpp"

/// The robot's mass centre, in world axes. Links welded to the world are excluded. Each function is
/// O(n) and does not allocate; each throws Error for kinematics of too low an order or if the robot
/// has no mass.
namespace limb {

/// Scratch for sums over the subtree of each body. Make it once; its contents after a call are
/// unspecified.
template <typename T>
struct SubtreeScratch {
  explicit SubtreeScratch(const Model<T>& model);

  std::vector<T> mass;
  std::vector<Vector3<T>> first_moment;   ///< about O, the origin of body 1, in world axes
  std::vector<Inertia<T>> I, dI;          ///< about O, in world axes; rate with O fixed
  std::vector<Motion<T>> A;               ///< accelerations of the bodies at a = 0
  std::vector<Force<T>> momentum, force;  ///< about O, in world axes; force: rate of momentum
};

/// p_WC. Needs kinematics of order position.
template <typename T>
Vector3<T> center_of_mass(const Model<T>& model, const Kinematics<T>& kinematics);

/// Needs kinematics of order velocity.
template <typename T>
Vector3<T> center_of_mass_velocity(const Model<T>& model, const Kinematics<T>& kinematics);

/// Gravity not included. Needs kinematics of order acceleration.
template <typename T>
Vector3<T> center_of_mass_acceleration(const Model<T>& model, const Kinematics<T>& kinematics);

/// J with center_of_mass_velocity = J v, 3 x n. Needs kinematics of order position.
template <typename T>
void center_of_mass_jacobian(const Model<T>& model, const Kinematics<T>& kinematics,
                             SubtreeScratch<T>& scratch, PointJacobianOut<T> J);

/// dJ/dt v: the acceleration of the mass centre at a = 0. Needs kinematics of order velocity.
template <typename T>
Vector3<T> center_of_mass_jacobian_rate_times_v(const Model<T>& model,
                                                const Kinematics<T>& kinematics,
                                                SubtreeScratch<T>& scratch);

}  // namespace limb
