#pragma once

#include <vector>

#include "limb/dynamics/recursive/external.hpp"

/// Kinematics by products of exponentials and inverse dynamics by twists and wrenches. Six-vectors
/// are the book's HERE ONLY: angular before linear. Short, slow, readable: test oracle and teaching
/// code. Each function allocates and throws Error for a wrong size. [Lynch 2017, Ch. 4 and 8]
namespace limb::textbook::modern_robotics {

/// One link of the book's chain (here: tree). Joints with several degrees of freedom whose
/// velocities are rates of their coordinates (cylindrical, universal, translation) become several
/// links, all but the last massless. Planar, spherical and free joints are one link with several
/// screw axes, whose pose comes from Joint::pose: they have quasi-velocities.
template <typename T>
struct ScrewLink {
  int parent = -1;   ///< parent link; -1 is the space frame
  int body = 0;      ///< body to which it belongs
  int q = 0, v = 0;  ///< index of its coordinate and first velocity among those of the joints
  bool is_screw = true;
  Matrix4<T> M = Matrix4<T>::Identity();        ///< pose of the link in its parent, at home
  Matrix4<T> M_space = Matrix4<T>::Identity();  ///< the same in the space frame
  Matrix6X<T> A;                                ///< screw axes in the link; one if is_screw
  Matrix6X<T> S;                                ///< the same in the space frame, at home
  Matrix6<T> G = Matrix6<T>::Zero();            ///< spatial inertia about the link's origin
};

template <typename T>
std::vector<ScrewLink<T>> screw_links(const Model<T>& model);

/// Poses of all bodies, the world first: T_i = exp([S_1] q_1) ... exp([S_i] q_i) M_i.
template <typename T>
std::vector<Pose<T>> forward_kinematics(const Model<T>& model, VectorIn<T>& q);

/// tau = M(q) a + C(q, v) v + g(q) - sum of J^T F; rigid bodies only. No divisions. O(n).
template <typename T>
VectorX<T> inverse_dynamics(const Model<T>& model, VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a,
                            WrenchesIn<T> external = {});

}  // namespace limb::textbook::modern_robotics
