#pragma once

#include "limb/model/canonical/canonical.hpp"

/// Regrouping of mass properties to the parent: docs/derivations/canonical_form.md.
namespace limb::canonical_detail {

/// tr(I)/2 1 - I, such that the two moments of a slender body across it add up to its smallest
/// entry of I: a roll joint has this inertia. Differences of large entries come first.
template <typename T>
Matrix3<T> precise_second_moments(const Matrix3<T>& I) {
  Matrix3<T> S = second_moments<T>(I);
  if constexpr (Real<T>) {
    const int k = I(0, 0) < I(1, 1) ? (I(0, 0) < I(2, 2) ? 0 : 2) : (I(1, 1) < I(2, 2) ? 1 : 2);
    const int x = (k + 1) % 3, y = (k + 2) % 3;
    const T difference = I(y, y) - I(x, x);
    S(x, x) = (I(k, k) + difference) / 2;
    S(y, y) = (I(k, k) - difference) / 2;
    S(k, k) = ((I(x, x) - I(k, k)) + I(y, y)) / 2;
  }
  return S;
}

/// The part of the moments that has no effect on the joint.
template <typename T>
MassMoments<T> regroupable(typename CanonicalJoint<T>::Kind kind, const MassMoments<T>& all) {
  using Kind = typename CanonicalJoint<T>::Kind;
  MassMoments<T> part;
  switch (kind) {
    case Kind::revolute:  // mass on the axis
      part.mass = all.mass;
      part.first[2] = all.first[2];
      part.second(2, 2) = all.second(2, 2);
      break;
    case Kind::prismatic:  // second moments: the body does not rotate relative to its parent
      part.second = all.second;
      break;
    case Kind::spherical:  // a point mass at the centre
      part.mass = all.mass;
      break;
    case Kind::helical:
    case Kind::planar:
    case Kind::free:
      break;
  }
  return part;
}

/// Moments given in a joint's placement frame, in the frame of its parent.
template <typename T>
MassMoments<T> seen_from_parent(const CanonicalJoint<T>& joint, const MassMoments<T>& x) {
  const Matrix3<T>& R = joint.R;
  const Vector3<T>& p = joint.p;
  const Vector3<T> g = R * x.first;
  MassMoments<T> y;
  y.mass = x.mass;
  y.first = g + x.mass * p;
  y.second = R * x.second * R.transpose() + g * p.transpose() + p * g.transpose() +
             (x.mass * p) * p.transpose();
  return y;
}

template <typename T>
void add_moments(CanonicalJoint<T>& joint, const MassMoments<T>& x, const T& factor) {
  joint.mass += factor * x.mass;
  joint.first_moment += x.first * factor;
  joint.second_moments += x.second * factor;
}

/// Adds moments to a joint of a regrouped model; the part that has no effect on it goes to the
/// parent, and so on.
template <typename T>
void add_and_regroup(Canonical<T>& robot, int index, MassMoments<T> x) {
  while (index > 0) {
    CanonicalJoint<T>& joint = robot.joints[static_cast<std::size_t>(index)];
    const MassMoments<T> transferred = regroupable<T>(joint.kind, x);
    x.mass -= transferred.mass;
    x.first -= transferred.first;
    x.second -= transferred.second;
    add_moments(joint, x, T(1));
    joint.moved_to_parent.mass += transferred.mass;
    joint.moved_to_parent.first += transferred.first;
    joint.moved_to_parent.second += transferred.second;
    x = seen_from_parent(joint, transferred);
    index = joint.parent;
  }
}

}  // namespace limb::canonical_detail
