#pragma once

#include "limb/model/canonical.hpp"

/// Mass that a joint cannot feel belongs to the parent as well: docs/derivations/canonical_form.md.
namespace limb::canonical_detail {

/// The part of a step's moments that its joint cannot feel.
template <typename T>
Moments<T> unfelt(typename CanonicalStep<T>::Kind kind, const Moments<T>& all) {
  using Kind = typename CanonicalStep<T>::Kind;
  Moments<T> part;
  switch (kind) {
    case Kind::revolute:  // whatever lies on the axis
      part.mass = all.mass;
      part.first[2] = all.first[2];
      part.second(2, 2) = all.second(2, 2);
      break;
    case Kind::prismatic:  // a body that never turns needs no second moments of its own
      part.second = all.second;
      break;
    case Kind::spherical:  // a point mass in the centre
      part.mass = all.mass;
      break;
    case Kind::helical:
    case Kind::planar:
    case Kind::free:
      break;
  }
  return part;
}

/// Moments given in a step's placement, in the frame of its parent.
template <typename T>
Moments<T> seen_from_parent(const CanonicalStep<T>& step, const Moments<T>& x) {
  const Matrix3<T>& R = step.R;
  const Vector3<T>& p = step.p;
  const Vector3<T> g = R * x.first;
  Moments<T> y;
  y.mass = x.mass;
  y.first = g + x.mass * p;
  y.second = R * x.second * R.transpose() + g * p.transpose() + p * g.transpose() +
             (x.mass * p) * p.transpose();
  return y;
}

template <typename T>
void add_moments(CanonicalStep<T>& step, const Moments<T>& x, const T& factor) {
  step.mass += factor * x.mass;
  step.first_moment += x.first * factor;
  step.second_moments += x.second * factor;
}

/// More moments for a step of a regrouped model: what its joint cannot feel goes on to the parent,
/// and so on.
template <typename T>
void receive(Canonical<T>& robot, int index, Moments<T> x) {
  while (index > 0) {
    CanonicalStep<T>& step = robot.steps[static_cast<std::size_t>(index)];
    const Moments<T> on = unfelt<T>(step.kind, x);
    x.mass -= on.mass;
    x.first -= on.first;
    x.second -= on.second;
    add_moments(step, x, T(1));
    step.handed.mass += on.mass;
    step.handed.first += on.first;
    step.handed.second += on.second;
    x = seen_from_parent(step, on);
    index = step.parent;
  }
}

}  // namespace limb::canonical_detail
