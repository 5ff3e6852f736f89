#pragma once

#include <vector>

#include "limb/dynamics/arguments.hpp"

namespace limb {

/// Poses, velocities and accelerations of all bodies at one state: the result of
/// forward_kinematics, and the input of the functions for Jacobians, frames, mass centre and
/// momentum. Make it once; nothing here allocates afterwards.
///
/// Indices are those of Model::bodies; body 0 is the world. Columns are joint velocities, followers
/// of a coupling included.
template <typename T>
struct Kinematics {
  explicit Kinematics(const Model<T>& model);

  /// Highest order computed so far; each order includes those before it.
  enum class Order { none, position, velocity, acceleration };
  Order order = Order::none;

  VectorX<T> q, v, a;         ///< of the joints: q = G y + q0
  std::vector<Pose<T>> X_WB;  ///< pose of each body in the world
  /// From the origin O of body 1 to that of each body, in world axes: X_WB[i].p - X_WB[1].p without
  /// cancellation, however far from the origin of the world the robot is.
  std::vector<Vector3<T>> p_OB_W;
  std::vector<Motion<T>> V_WB_B;  ///< twist of each body, in body axes
  std::vector<Motion<T>>
      A_WB_B;                  ///< spatial acceleration of each body, in body axes, without gravity
  std::vector<Motion<T>> S_W;  ///< of each joint velocity: in world axes, at its body's origin
  std::vector<Motion<T>> dS_W;  ///< rate of S_W in world axes, at that moving origin; from order
                                ///< velocity on
  std::vector<int> body_of_v;   ///< body that each joint velocity moves
};

/// Poses of all bodies at q. O(n).
template <typename T>
void forward_kinematics(const Model<T>& model, VectorIn<T>& q, Kinematics<T>& kinematics);
/// Poses and velocities.
template <typename T>
void forward_kinematics(const Model<T>& model, VectorIn<T>& q, VectorIn<T>& v,
                        Kinematics<T>& kinematics);
/// Poses, velocities, accelerations.
template <typename T>
void forward_kinematics(const Model<T>& model, VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a,
                        Kinematics<T>& kinematics);

/// @throws Error unless the kinematics have been computed up to this order.
template <typename T>
void check_order(const char* call, const Kinematics<T>& kinematics,
                 typename Kinematics<T>::Order order);
/// @throws Error unless the kinematics were made for a model of these sizes; then as check_order.
template <typename T>
void check_kinematics(const char* call, const Model<T>& model, const Kinematics<T>& kinematics,
                      typename Kinematics<T>::Order order);

}  // namespace limb
