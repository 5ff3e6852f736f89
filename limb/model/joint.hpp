#pragma once

#include <random>
#include <utility>

#include "limb/math/se3.hpp"
#include "limb/model/joint_type.hpp"

namespace limb {

/// The kinematics of one joint: frame J is fixed in the parent, frame B moves with the child, and
/// they coincide at the neutral configuration. Coordinates q and velocities v are those of
/// joint_type.hpp; pointers are to the joint's own nq or nv numbers. No function allocates or
/// throws.
///
/// Algorithms see the pose X_JB(q), the columns S of V_JB_B = S v, and their rate; none asks for
/// the type.
template <typename T>
class Joint {
 public:
  Joint() = default;
  static Joint fixed() { return {}; }
  /// The axes are unit vectors. @throws Error if one is not (Real scalars).
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
  /// Any of them; what the type does not use is ignored.
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
  /// Whether S is the same at every q: of all joints but the universal one.
  bool subspace_is_constant() const { return type_ != JointType::universal; }
  /// Writes the nv columns of dS/dt at (q, v); zero where the subspace is constant.
  void subspace_rate(const T* q, const T* v, Motion<T>* dS) const;
  /// V_JB_B = S v.
  Motion<T> velocity(const T* q, const T* v) const;
  /// dS/dt v: the acceleration that velocities alone cause.
  Motion<T> bias(const T* q, const T* v) const;

  void neutral(T* q) const;
  /// q1 = q0 moved with velocity v for unit time. q1 may be q0.
  void integrate(const T* q0, const T* v, T* q1) const;
  /// The velocity that moves q0 to q1 in unit time, on the shorter way for quaternions.
  void difference(const T* q0, const T* q1, T* v) const;
  /// How integrate(q0, v) moves when q0 and v do, nv x nv, column by column. Motions of q0 and of
  /// the result are tangents in the child's axes, so q0 itself does not matter.
  void integrate_jacobians(const T* v, T* J_q0, T* J_v) const;
  /// How difference(q0, q1) moves when q0 and q1 do, given its value v; quaternions less than a
  /// turn apart.
  void difference_jacobians(const T* v, T* J_q0, T* J_q1) const;
  /// Unit quaternions made unit again.
  void normalize(T* q) const;
  /// Uniform between the limits (nv of each; infinite means -pi..pi or -1..1 m); quaternions
  /// uniform.
  void random(std::mt19937_64& engine, const double* lower, const double* upper,
              T* q) const requires Real<T>;

 private:
  template <typename U>
  friend class Joint;

  Joint(JointType type,
        const Vector3<T>& axis = Vector3<T>::UnitZ());  // NOLINT: used by the makers

  JointType type_ = JointType::fixed;
  Vector3<T> axis_ = Vector3<T>::UnitZ();
  Vector3<T> axis2_ = Vector3<T>::UnitZ();
  T pitch_ = T(0);
  Matrix3<T> plane_ = Matrix3<T>::Identity();
};

extern template class Joint<double>;
extern template class Joint<float>;

}  // namespace limb
