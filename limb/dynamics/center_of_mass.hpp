#pragma once

#include "limb/dynamics/kinematics.hpp"

/// The robot's mass centre, in world axes. What is welded to the world does not count. Each is O(n)
/// and does not allocate; each throws Error if the kinematics lack what it needs or if the robot
/// has no mass.
namespace limb {

/// Room for sums over what each body carries. Make it once; its contents after a call are
/// unspecified.
template <typename T>
struct SubtreeScratch {
  explicit SubtreeScratch(const Model<T>& model);

  std::vector<T> mass;
  std::vector<Vector3<T>> first_moment;   ///< about O, the origin of body 1, in world axes
  std::vector<Inertia<T>> I, dI;          ///< about O, in world axes; the rate for a fixed O
  std::vector<Motion<T>> A;               ///< accelerations of the bodies at a = 0
  std::vector<Force<T>> momentum, force;  ///< about O, in world axes; force: the rate of momentum
};

/// p_WC. From order position on.
template <typename T>
Vector3<T> center_of_mass(const Model<T>& model, const Kinematics<T>& kinematics);

/// From order velocity on.
template <typename T>
Vector3<T> center_of_mass_velocity(const Model<T>& model, const Kinematics<T>& kinematics);

/// Gravity not included. Of order acceleration.
template <typename T>
Vector3<T> center_of_mass_acceleration(const Model<T>& model, const Kinematics<T>& kinematics);

/// J with center_of_mass_velocity = J v, 3 x n. From order position on.
template <typename T>
void center_of_mass_jacobian(const Model<T>& model, const Kinematics<T>& kinematics,
                             SubtreeScratch<T>& scratch, PointJacobianOut<T> J);

/// dJ/dt v: the acceleration of the mass centre at a = 0. From order velocity on.
template <typename T>
Vector3<T> center_of_mass_jacobian_rate_times_v(const Model<T>& model,
                                                const Kinematics<T>& kinematics,
                                                SubtreeScratch<T>& scratch);

}  // namespace limb
