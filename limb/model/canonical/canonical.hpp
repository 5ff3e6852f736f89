#pragma once

#include <limits>
#include <vector>

#include "limb/model/core/model.hpp"

/// The form of a model in which algorithms are cheapest. Derivation:
/// docs/derivations/canonical_form.md.
///
/// - Every joint axis is +z, and a change of frame is at most two planar rotations:
///   R = Rz(gamma) Rx(alpha).
/// - Joints with several axes are split into joints with one axis; only planar, spherical and free
///   joints are kept.
/// - A quarter turn is exact: its sine and cosine are 0 and 1, not 6e-17. Angles of a file that are
///   not quarter turns to its last digits, such as 1.57079632679, are kept.
/// - The mass properties of a link that have no effect on its own joint are regrouped to the
///   parent. Torques, mass matrix and accelerations are unchanged; forces between the links are
///   not those of the original links.
namespace limb {

/// Mass, first moment int(x) dm and second moments int(x x^T) dm in a frame.
template <typename T>
struct MassMoments {
  T mass = T(0);
  Vector3<T> first = Vector3<T>::Zero();
  Matrix3<T> second = Matrix3<T>::Zero();

  template <typename U>
  MassMoments<U> cast() const {
    return {U(mass), first.template cast<U>(), second.template cast<U>()};
  }
};

template <typename T>
struct CanonicalJoint {
  enum class Kind { revolute, prismatic, helical, planar, spherical, free };
  /// Rx(alpha) by its cost; alpha is in [0, pi]. near_quarter_turn: sin(alpha) rounds to 1, and
  /// cos(alpha), below 1e-8, is not 0.
  enum class AlphaKind { zero, quarter_turn, half_turn, near_quarter_turn, general };

  Kind kind = Kind::revolute;
  int parent = 0;  ///< index of the parent joint; 0 is the world
  int body = 0;    ///< body of the model that this joint moves; 0 for an intermediate massless one
  int q = 0;       ///< first index in the model's q
  int v = 0;       ///< first index in the model's v

  /// Placement in the parent: X = (Rz(gamma) Rx(alpha), p), then the joint motion about or along z
  /// by q + offset. Joints with several degrees of freedom have a general R instead.
  T cos_gamma = T(1), sin_gamma = T(0), cos_alpha = T(1), sin_alpha = T(0);
  bool has_gamma = false;
  AlphaKind alpha_kind = AlphaKind::zero;
  /// Revolute: the axis of the parent frame, 0 to 2, that is parallel to the joint axis in either
  /// direction, where their cosine rounds to 1; -1 if no axis is.
  int parent_axis = -1;
  bool R_is_identity = false;
  /// Revolute, after regrouping: mass, first_moment z and second_moments zz are zero.
  bool regrouped = false;
  int v_end = 0;               ///< one past the last velocity of the subtree of this joint
  int slot = 0, slot_end = 0;  ///< the same range in Canonical::slot
  Vector3<T> p = Vector3<T>::Zero();
  T offset = T(0);
  int quadrant = 0;  ///< revolute: the angle is q + offset + quadrant exact quarter turns
  T pitch = T(0);

  /// Mass, first moment and second moments int(x x^T) dm in the joint's moving frame, regrouped.
  T mass = T(0);
  Vector3<T> first_moment = Vector3<T>::Zero();
  Matrix3<T> second_moments = Matrix3<T>::Zero();
  Matrix3<T> R = Matrix3<T>::Identity();
  MassMoments<T>
      moved_to_parent;  ///< moments regrouped to the parent, in this joint's placement frame

  /// The map back: the joint's moving frame C in the frame of the model's body.
  Pose<T> X_BC;
};

template <typename T>
struct Canonical {
  std::vector<CanonicalJoint<T>> joints;  ///< joints[0] is the world; parents before children
  std::vector<int> joint_of_body;         ///< for each body of the model
  Vector3<T> gravity;
  int nq = 0, nv = 0;
  /// Armature, viscous damping and Coulomb friction of each velocity.
  VectorX<T> armature, damping, friction;
  bool has_armature = false, has_damping = false, has_friction = false;
  /// First velocity of each free and of each planar joint with armature (turning_armature.hpp).
  std::vector<int> free_armature, planar_armature;
  /// The parent of each velocity, towards the world; -1 for a velocity without parent.
  std::vector<int> v_parent;
  /// Index of each velocity in arrays that are processed in packs of four: a subtree is contiguous,
  /// and a new branch starts at a new pack.
  std::vector<int> slot;
  int slots = 0;

  /// Pose of a body's frame in the world, given the pose of its canonical joint.
  Pose<T> body_pose(int body, const Pose<T>& X_WC) const {
    const CanonicalJoint<T>& joint =
        joints[static_cast<std::size_t>(joint_of_body[static_cast<std::size_t>(body)])];
    return X_WC * joint.X_BC.inverse();
  }

  template <typename U>
  Canonical<U> cast() const;
};

struct CanonicalOptions {
  /// Angles this close to a quarter turn are taken as one, rad, 7e-15: rounding errors of a few
  /// rotations, not digits of a file. 1.57079632679 is 5e-12 away and is kept. That costs two
  /// products per vector and joint: for HyQ, where 8 of 13 joints are written that way, 4 % to 6 %
  /// of rnea, crba and aba, compiled 10 % to 16 %; nothing measurable for UR5, ANYmal and Talos.
  /// `limb check --fix` writes exact quarter turns. docs/adr/0016-digits-of-angles.md.
  double snap = 32 * std::numeric_limits<double>::epsilon();
  /// Regroup mass properties that have no effect on a joint to its parent.
  bool regroup = true;
};

/// Scalars whose models have a canonical form: machine numbers, and exact ones (kExact), for
/// which rotations are not decomposed and no mass is regrouped, so that all parameters keep their
/// names.
template <typename T>
concept CanonicalScalar = Real<T> || kExact<T>;

template <CanonicalScalar T>
Canonical<T> canonicalize(const Model<T>& model, const CanonicalOptions& options = {});

extern template Canonical<double> canonicalize(const Model<double>&, const CanonicalOptions&);

template <typename T>
template <typename U>
Canonical<U> Canonical<T>::cast() const {
  Canonical<U> other;
  other.joint_of_body = joint_of_body;
  other.gravity = gravity.template cast<U>();
  other.nq = nq;
  other.nv = nv;
  other.armature = armature.template cast<U>();
  other.damping = damping.template cast<U>();
  other.friction = friction.template cast<U>();
  other.has_armature = has_armature;
  other.has_damping = has_damping;
  other.has_friction = has_friction;
  other.free_armature = free_armature;
  other.planar_armature = planar_armature;
  other.v_parent = v_parent;
  other.slot = slot;
  other.slots = slots;
  for (const CanonicalJoint<T>& s : joints) {
    CanonicalJoint<U> o;
    o.kind = static_cast<typename CanonicalJoint<U>::Kind>(s.kind);
    o.parent = s.parent;
    o.body = s.body;
    o.q = s.q;
    o.v = s.v;
    o.cos_gamma = U(s.cos_gamma);
    o.sin_gamma = U(s.sin_gamma);
    o.cos_alpha = U(s.cos_alpha);
    o.sin_alpha = U(s.sin_alpha);
    o.has_gamma = s.has_gamma;
    o.alpha_kind = static_cast<typename CanonicalJoint<U>::AlphaKind>(s.alpha_kind);
    o.parent_axis = s.parent_axis;
    o.R_is_identity = s.R_is_identity;
    o.regrouped = s.regrouped;
    o.v_end = s.v_end;
    o.slot = s.slot;
    o.slot_end = s.slot_end;
    o.R = s.R.template cast<U>();
    o.p = s.p.template cast<U>();
    o.offset = U(s.offset);
    o.quadrant = s.quadrant;
    o.pitch = U(s.pitch);
    o.mass = U(s.mass);
    o.first_moment = s.first_moment.template cast<U>();
    o.second_moments = s.second_moments.template cast<U>();
    o.moved_to_parent = s.moved_to_parent.template cast<U>();
    o.X_BC = s.X_BC.template cast<U>();
    other.joints.push_back(std::move(o));
  }
  return other;
}

}  // namespace limb
