#pragma once

#include <random>
#include <utility>

#include "limb/math/se3.hpp"
#include "limb/model/core/joint_type.hpp"

namespace limb {

/// The kinematics of one joint: frame J is fixed in the parent, frame B moves with the child, and
/// they coincide at the neutral configuration. Coordinates q and velocities v are those of
/// joint_type.hpp; pointers point to the nq or nv numbers of this joint. No function allocates or
/// throws.
///
/// Algorithms use the pose X_JB(q), the motion subspace S with V_JB_B = S v, and its derivative;
/// they do not depend on the type.
template <typename T>
class Joint {
 public:
  Joint() = default;
  static Joint fixed() { return {}; }
  /// The axes must be unit vectors. @throws Error if one is not (Real scalars).
  static Joint revolute(const Vector3<T>& axis) { return {JointType::revolute, axis}; }
  static Joint continuous(const Vector3<T>& axis) { return {JointType::continuous, axis}; }
  static Joint prismatic(const Vector3<T>& axis) { return {JointType::prismatic, axis}; }
  static Joint helical(const Vector3<T>& axis, const T& pitch);
  static Joint cylindrical(const Vector3<T>& axis) { return {JointType::cylindrical, axis}; }
  static Joint universal(const Vector3<T>& axis, const Vector3<T>& axis2);
  static Joint translation() { return {JointType::translation}; }
  static Joint planar(const Vector3<T>& normal) { return {JointType::planar, normal}; }
  static Joint spherical() { return {JointType::spherical}; }
  static Joint free() { return {JointType::free}; }
  /// A joint of the given type; arguments that the type does not use are ignored.
  static Joint make(JointType type, const Vector3<T>& axis, const Vector3<T>& axis2,
                    const T& pitch);

  JointType type() const { return type_; }
  int nq() const { return joint_nq(type_); }
  int nv() const { return joint_nv(type_); }
  const Vector3<T>& axis() const { return axis_; }
  const Vector3<T>& axis2() const { return axis2_; }
  const T& pitch() const { return pitch_; }
  /// Planar: orthonormal axes x, y of the plane and the normal, as columns.
  const Matrix3<T>& plane() const { return plane_; }
  template <typename U>
  Joint<U> cast() const;

  /// X_JB(q).
  Pose<T> pose(const T* q) const;
  /// Writes the nv columns of S(q), each a Motion in axes of B.
  void subspace(const T* q, Motion<T>* S) const;
  /// Whether S is independent of q: true for all types except universal.
  bool subspace_is_constant() const { return type_ != JointType::universal; }
  /// Writes the nv columns of dS/dt at (q, v); zero where the subspace is constant.
  void subspace_rate(const T* q, const T* v, Motion<T>* dS) const;
  /// V_JB_B = S v.
  Motion<T> velocity(const T* q, const T* v) const;
  /// dS/dt v: the velocity-dependent (bias) acceleration.
  Motion<T> bias(const T* q, const T* v) const;

  void neutral(T* q) const;
  /// q1 = q0 moved with velocity v for unit time. q1 may be q0.
  void integrate(const T* q0, const T* v, T* q1) const;
  /// The velocity that moves q0 to q1 in unit time, along the shorter arc for quaternions.
  void difference(const T* q0, const T* q1, T* v) const;
  /// Jacobians of integrate(q0, v) with respect to q0 and v, nv x nv, column-major. Perturbations
  /// of q0 and of the result are tangent vectors in the child's axes, so they do not depend on q0.
  void integrate_jacobians(const T* v, T* J_q0, T* J_v) const;
  /// Jacobians of difference(q0, q1) with respect to q0 and q1, given its value v; the quaternions
  /// must be less than a full turn apart.
  void difference_jacobians(const T* v, T* J_q0, T* J_q1) const;
  /// Normalizes the quaternion of q, if there is one.
  void normalize(T* q) const;
  /// Samples q uniformly between the limits (nv of each; infinite means -pi..pi or -1..1 m);
  /// quaternions uniformly over all orientations.
  void random_configuration(std::mt19937_64& engine, const double* lower, const double* upper,
                            T* q) const requires Real<T>;

 private:
  template <typename U>
  friend class Joint;

  Joint(JointType type,
        const Vector3<T>& axis = Vector3<T>::UnitZ());  // NOLINT: used by the static functions

  JointType type_ = JointType::fixed;
  Vector3<T> axis_ = Vector3<T>::UnitZ();
  Vector3<T> axis2_ = Vector3<T>::UnitZ();
  T pitch_ = T(0);
  Matrix3<T> plane_ = Matrix3<T>::Identity();
};

extern template class Joint<double>;
extern template class Joint<float>;

}  // namespace limb
