#pragma once

#include "limb/model/core/joint.hpp"

// Jacobians of integrate and difference. Planar, spherical and free joints move in a subgroup of
// SE(3), so theirs are submatrices of the Jacobians of SE(3); all other joints add coordinates.
namespace limb {
namespace joint_detail {

/// The velocity of a joint whose motions form a group, as a twist, and the rows of that twist that
/// the joint has. A planar joint uses the axes of its plane.
template <typename T>
struct GroupVelocity {
  Motion<T> V;
  int rows[6];
};
template <typename T>
GroupVelocity<T> group_velocity(JointType type, const T* v) {
  switch (type) {
    case JointType::planar:
      return {{{v[0], v[1], T(0)}, {T(0), T(0), v[2]}}, {0, 1, 5}};
    case JointType::spherical:
      return {{Vector3<T>::Zero(), Vector3<T>(v[0], v[1], v[2])}, {3, 4, 5}};
    default:
      return {{Vector3<T>(v[0], v[1], v[2]), Vector3<T>(v[3], v[4], v[5])}, {0, 1, 2, 3, 4, 5}};
  }
}

/// The rows and columns that the joint has, times a sign, column-major.
template <typename T>
void write_part(const Matrix6<T>& M, const int* rows, int n, const T& sign, T* J) {
  for (int c = 0; c < n; ++c) {
    for (int r = 0; r < n; ++r) J[r + c * n] = sign * M(rows[r], rows[c]);
  }
}

template <typename T>
void write_identity(int n, const T& sign, T* J) {
  for (int i = 0; i < n * n; ++i) J[i] = i % (n + 1) == 0 ? sign : T(0);
}

inline bool has_group_velocity(JointType type) {
  return type == JointType::planar || type == JointType::spherical || type == JointType::free;
}

}  // namespace joint_detail

template <typename T>
void Joint<T>::integrate_jacobians(const T* v, T* J_q0, T* J_v) const {
  using namespace joint_detail;
  if (!has_group_velocity(type_)) {
    write_identity(nv(), T(1), J_q0);
    write_identity(nv(), T(1), J_v);
    return;
  }
  // q0 exp(d) exp(v) = q0 exp(v) exp(Ad(exp(-v)) d).
  const auto [V, rows] = group_velocity(type_, v);
  write_part<T>(se3::exp<T>(-V).adjoint(), rows, nv(), T(1), J_q0);
  write_part<T>(se3::right_jacobian<T>(V), rows, nv(), T(1), J_v);
}

template <typename T>
void Joint<T>::difference_jacobians(const T* v, T* J_q0, T* J_q1) const {
  using namespace joint_detail;
  if (!has_group_velocity(type_)) {
    write_identity(nv(), T(-1), J_q0);
    write_identity(nv(), T(1), J_q1);
    return;
  }
  const auto [V, rows] = group_velocity(type_, v);
  write_part<T>(se3::left_jacobian_inverse<T>(V), rows, nv(), T(-1), J_q0);
  write_part<T>(se3::right_jacobian_inverse<T>(V), rows, nv(), T(1), J_q1);
}

}  // namespace limb
