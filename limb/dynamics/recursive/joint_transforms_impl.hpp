#pragma once

#include "limb/dynamics/recursive/workspace_data.hpp"
#include "limb/math/quaternion.hpp"
#include "limb/math/sincos.hpp"

/// Transforms of the joints of a canonical model, and their motion subspaces.
namespace limb::kernel {

using std::size_t;

/// Computes the sines, cosines and poses of all joints at the uncoupled configuration q.
template <typename T>
void update_joint_transforms(const Canonical<T>& robot, const T* q, WorkspaceData<T>& work) {
  using Kind = typename CanonicalJoint<T>::Kind;
  const size_t n = robot.joints.size();
  const CanonicalJoint<T>* const joints = robot.joints.data();
  T* const angle = work.angle.data();
  bool has_general = false, has_quadrant = false;
  for (size_t i = 1; i < n; ++i) {
    const CanonicalJoint<T>& joint = joints[i];
    if (joint.kind == Kind::revolute) {
      angle[i] = q[joint.q] + joint.offset;
      has_quadrant |= joint.quadrant != 0;
    } else {
      has_general = true;
      if (joint.kind == Kind::helical) angle[i] = q[joint.q] + joint.offset;
      if (joint.kind == Kind::planar) angle[i] = q[joint.q + 2];
    }
  }
  sincos(angle, work.sine.data(), work.cosine.data(), n);
  if (has_quadrant) {
    for (size_t i = 1; i < n; ++i) {
      add_quarter_turns(joints[i].quadrant, work.cosine[i], work.sine[i]);
    }
  }
  if (!has_general) return;
  for (size_t i = 1; i < n; ++i) {
    const CanonicalJoint<T>& joint = joints[i];
    if (joint.kind == Kind::revolute) continue;
    Matrix3<T>& R = work.R[i];
    const T* x = q + joint.q;
    Vector3<T> p = joint.p;
    switch (joint.kind) {
      case Kind::revolute:
        break;
      case Kind::prismatic:
        R = joint.R;
        p += R.col(2) * x[0];
        break;
      case Kind::helical:
        R = joint.R * axis_rotation<T>(2, work.cosine[i], work.sine[i]);
        p += R.col(2) * (joint.pitch * x[0]);
        break;
      case Kind::planar:
        R = joint.R * axis_rotation<T>(2, work.cosine[i], work.sine[i]);
        p += joint.R.col(0) * x[0] + joint.R.col(1) * x[1];
        break;
      case Kind::spherical:
        R = joint.R * to_matrix(quat_xyzw(x[0], x[1], x[2], x[3]));
        break;
      case Kind::free:
        R = to_matrix(quat_xyzw(x[3], x[4], x[5], x[6]));
        if (joint.R_is_identity) {
          p += Vector3<T>(x[0], x[1], x[2]);
        } else {
          R = joint.R * Matrix3<T>(R);
          p += joint.R * Vector3<T>(x[0], x[1], x[2]);
        }
        break;
    }
    work.p[i] = vec3(p);
  }
}

/// Visits the descendants of joint i depth first, the last child first: forward(j), the descendants
/// of j, backward(j). Forces are added in the same order as in a backward pass over all joints, but
/// fewer are live at a time: for scalars that are recorded rather than evaluated.
template <typename T, typename Forward, typename Backward>
void traverse_depth_first(const Canonical<T>& robot, size_t i, const Forward& forward,
                          const Backward& backward) {
  for (size_t j = robot.joints.size(); j-- > i + 1;) {
    if (static_cast<size_t>(robot.joints[j].parent) != i) continue;
    forward(j);
    traverse_depth_first(robot, j, forward, backward);
    backward(j);
  }
}

/// Linear and angular part of a motion or a force.
template <typename T>
struct LinearAngular {
  Vec3<T> linear, angular;
};

template <typename T>
int dof_count(const CanonicalJoint<T>& joint) {
  constexpr int kDofCount[] = {1, 1, 1, 3, 3, 6};
  return kDofCount[static_cast<int>(joint.kind)];
}

/// S x: the motion across the joint for its velocities (or accelerations) x. S is constant.
template <typename T>
LIMB_INLINE LinearAngular<T> joint_motion(const CanonicalJoint<T>& joint, const T* x) {
  using Kind = typename CanonicalJoint<T>::Kind;
  const T o = T(0);
  switch (joint.kind) {
    case Kind::revolute:
      return {{o, o, o}, {o, o, x[0]}};
    case Kind::prismatic:
      return {{o, o, x[0]}, {o, o, o}};
    case Kind::helical:
      return {{o, o, joint.pitch * x[0]}, {o, o, x[0]}};
    case Kind::planar:
      return {{x[0], x[1], o}, {o, o, x[2]}};
    case Kind::spherical:
      return {{o, o, o}, {x[0], x[1], x[2]}};
    case Kind::free:
      break;
  }
  return {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
}

/// S^T (f, n): the generalized force of the joint.
template <typename T>
LIMB_INLINE void project_force(const CanonicalJoint<T>& joint, const Vec3<T>& f, const Vec3<T>& n,
                               T* tau) {
  using Kind = typename CanonicalJoint<T>::Kind;
  switch (joint.kind) {
    case Kind::revolute:
      tau[0] = n.z;
      return;
    case Kind::prismatic:
      tau[0] = f.z;
      return;
    case Kind::helical:
      tau[0] = n.z + joint.pitch * f.z;
      return;
    case Kind::planar:
      tau[0] = f.x;
      tau[1] = f.y;
      tau[2] = n.z;
      return;
    case Kind::spherical:
      tau[0] = n.x;
      tau[1] = n.y;
      tau[2] = n.z;
      return;
    case Kind::free:
      tau[0] = f.x;
      tau[1] = f.y;
      tau[2] = f.z;
      tau[3] = n.x;
      tau[4] = n.y;
      tau[5] = n.z;
      return;
  }
}

}  // namespace limb::kernel
