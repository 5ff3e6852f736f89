#pragma once

#include <vector>

#include "limb/model/model.hpp"

/// The form of a model in which algorithms are cheapest. Derivation:
/// docs/derivations/canonical_form.md.
///
/// - Every axis is +z, and a change of frame is at most two planar rotations: R = Rz(gamma)
/// Rx(alpha).
/// - Joints of several axes are split into steps of one; what stays whole is planar, spherical,
/// free.
/// - A quarter turn is exact: its sine and cosine are 0 and 1, not 6e-17.
/// - The part of a link's mass that its own joint cannot feel is handed to the parent. Torques,
/// mass
///   matrix and accelerations are unchanged; forces inside the links are no longer those of the
///   links.
namespace limb {

/// Mass, first moment int(x) and second moments int(x x^T) of something, in some frame.
template <typename T>
struct Moments {
  T mass = T(0);
  Vector3<T> first = Vector3<T>::Zero();
  Matrix3<T> second = Matrix3<T>::Zero();

  template <typename U>
  Moments<U> cast() const {
    return {U(mass), first.template cast<U>(), second.template cast<U>()};
  }
};

template <typename T>
struct CanonicalStep {
  enum class Kind { revolute, prismatic, helical, planar, spherical, free };

  Kind kind = Kind::revolute;
  int parent = 0;  ///< index of the step that carries this one; 0 is the world
  int body = 0;    ///< body of the model that moves with this step; 0 for a massless one in between
  int q = 0;       ///< first index in the model's q
  int v = 0;       ///< first index in the model's v

  /// Placement of the step in its parent: X = (Rz(gamma) Rx(alpha), p), then the joint itself,
  /// about or along z by q + offset. Steps of several freedoms have a general R instead.
  T cos_gamma = T(1), sin_gamma = T(0), cos_alpha = T(1), sin_alpha = T(0);
  bool has_gamma = false;
  /// Of alpha: how many quarter turns it is exactly, 0 to 3; -1 where it is none.
  int alpha_quarter = 0;
  /// Of a revolute step: which axis of the parent its own lies along, 0 to 2, whatever the
  /// direction; -1 where it is none.
  int along = -1;
  bool plain = false;  ///< R is the identity
  /// A revolute step after regrouping: its mass, first_moment z and second_moments zz are zero.
  bool regrouped = false;
  int v_end = 0;  ///< one past the last velocity of all that this step carries, itself included
  int slot = 0, slot_end = 0;  ///< the same range among the places Canonical::slot
  Vector3<T> p = Vector3<T>::Zero();
  T offset = T(0);
  int quadrant = 0;  ///< a revolute joint turns by q + offset + quadrant quarter turns, kept exact
  T pitch = T(0);

  /// Mass, first moment and second moments int(x x^T) about the step's frame, after regrouping.
  T mass = T(0);
  Vector3<T> first_moment = Vector3<T>::Zero();
  Matrix3<T> second_moments = Matrix3<T>::Zero();
  Matrix3<T> R = Matrix3<T>::Identity();
  Moments<T> handed;  ///< what regrouping gave to the parent, in this step's placement

  /// The way back: this step's frame C in the frame of the model's body.
  Pose<T> X_BC;
};

template <typename T>
struct Canonical {
  std::vector<CanonicalStep<T>> steps;  ///< steps[0] is the world; parents before children
  std::vector<int> step_of_body;        ///< for each body of the model
  Vector3<T> gravity;
  int nq = 0, nv = 0;
  /// Of each velocity: rotor inertia, viscous damping, Coulomb friction.
  VectorX<T> armature, damping, friction;
  bool has_armature = false, has_damping = false, has_friction = false;
  /// Of each velocity: the one before it on the way to the world; -1 where there is none.
  std::vector<int> v_parent;
  /// Places for the velocities in arrays that are worked on four at a time: those of a subtree are
  /// neighbours, and a limb that is not the first of its body begins with a new four.
  std::vector<int> slot;
  int slots = 0;

  /// Pose of body b's frame in the world, given the pose of its step.
  Pose<T> body_pose(int body, const Pose<T>& X_WC) const {
    const CanonicalStep<T>& step =
        steps[static_cast<std::size_t>(step_of_body[static_cast<std::size_t>(body)])];
    return X_WC * step.X_BC.inverse();
  }

  template <typename U>
  Canonical<U> cast() const;
};

struct CanonicalOptions {
  /// Angles this close to a quarter turn are taken as one. The default keeps every result within
  /// 1e-9; files that write 1.5708 are mended by `limb check --fix`, which says so.
  double snap = 1e-10;
  /// Hand the mass that a joint cannot feel to its parent.
  bool regroup = true;
};

/// Scalars whose models have a canonical form: machine numbers, and exact ones (kExact), for
/// which rotations stay whole and no mass is handed on, so that all parameters keep their names.
template <typename T>
concept CanonicalScalar = Real<T> || kExact<T>;

template <CanonicalScalar T>
Canonical<T> canonicalize(const Model<T>& model, const CanonicalOptions& options = {});

extern template Canonical<double> canonicalize(const Model<double>&, const CanonicalOptions&);

template <typename T>
template <typename U>
Canonical<U> Canonical<T>::cast() const {
  Canonical<U> other;
  other.step_of_body = step_of_body;
  other.gravity = gravity.template cast<U>();
  other.nq = nq;
  other.nv = nv;
  other.armature = armature.template cast<U>();
  other.damping = damping.template cast<U>();
  other.friction = friction.template cast<U>();
  other.has_armature = has_armature;
  other.has_damping = has_damping;
  other.has_friction = has_friction;
  other.v_parent = v_parent;
  other.slot = slot;
  other.slots = slots;
  for (const CanonicalStep<T>& s : steps) {
    CanonicalStep<U> o;
    o.kind = static_cast<typename CanonicalStep<U>::Kind>(s.kind);
    o.parent = s.parent;
    o.body = s.body;
    o.q = s.q;
    o.v = s.v;
    o.cos_gamma = U(s.cos_gamma);
    o.sin_gamma = U(s.sin_gamma);
    o.cos_alpha = U(s.cos_alpha);
    o.sin_alpha = U(s.sin_alpha);
    o.has_gamma = s.has_gamma;
    o.alpha_quarter = s.alpha_quarter;
    o.along = s.along;
    o.plain = s.plain;
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
    o.handed = s.handed.template cast<U>();
    o.X_BC = s.X_BC.template cast<U>();
    other.steps.push_back(std::move(o));
  }
  return other;
}

}  // namespace limb
