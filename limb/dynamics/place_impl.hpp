#pragma once

#include "limb/dynamics/workspace.hpp"
#include "limb/math/quaternion.hpp"
#include "limb/math/sincos.hpp"

/// Where the steps of a canonical model stand, and how a step of several freedoms moves.
namespace limb::kernel {

using std::size_t;

/// Sines, cosines and poses of all steps at the joint coordinates q.
template <typename T>
void place(const Canonical<T>& robot, const T* q, Workspace<T>& work) {
  using Kind = typename CanonicalStep<T>::Kind;
  const size_t n = robot.steps.size();
  const CanonicalStep<T>* const steps = robot.steps.data();
  T* const angle = work.angle.data();
  bool general = false, swapped = false;
  for (size_t i = 1; i < n; ++i) {
    const CanonicalStep<T>& step = steps[i];
    if (step.kind == Kind::revolute) {
      angle[i] = q[step.q] + step.offset;
      swapped |= step.quadrant != 0;
    } else {
      general = true;
      if (step.kind == Kind::helical) angle[i] = q[step.q] + step.offset;
      if (step.kind == Kind::planar) angle[i] = q[step.q + 2];
    }
  }
  sincos(angle, work.sine.data(), work.cosine.data(), n);
  if (swapped) {
    for (size_t i = 1; i < n; ++i) {
      add_quarters(steps[i].quadrant, work.cosine[i], work.sine[i]);
    }
  }
  if (!general) return;
  for (size_t i = 1; i < n; ++i) {
    const CanonicalStep<T>& step = steps[i];
    if (step.kind == Kind::revolute) continue;
    Matrix3<T>& R = work.R[i];
    const T* x = q + step.q;
    Vector3<T> p = step.p;
    switch (step.kind) {
      case Kind::revolute:
        break;
      case Kind::prismatic:
        R = step.R;
        p += R.col(2) * x[0];
        break;
      case Kind::helical:
        R = step.R * axis_rotation<T>(2, work.cosine[i], work.sine[i]);
        p += R.col(2) * (step.pitch * x[0]);
        break;
      case Kind::planar:
        R = step.R * axis_rotation<T>(2, work.cosine[i], work.sine[i]);
        p += step.R.col(0) * x[0] + step.R.col(1) * x[1];
        break;
      case Kind::spherical:
        R = step.R * to_matrix(quat_xyzw(x[0], x[1], x[2], x[3]));
        break;
      case Kind::free:
        R = to_matrix(quat_xyzw(x[3], x[4], x[5], x[6]));
        if (step.plain) {
          p += Vector3<T>(x[0], x[1], x[2]);
        } else {
          R = step.R * Matrix3<T>(R);
          p += step.R * Vector3<T>(x[0], x[1], x[2]);
        }
        break;
    }
    work.p[i] = triple(p);
  }
}

/// Visits the steps that step i carries, the last first: out(j), all that j carries, in(j). Forces
/// meet in the same order as on the way back over all steps, but fewer are under way at a time: for
/// scalars that are recorded and not computed with.
template <typename T, typename Out, typename In>
void walk_limbs(const Canonical<T>& robot, size_t i, const Out& out, const In& in) {
  for (size_t j = robot.steps.size(); j-- > i + 1;) {
    if (static_cast<size_t>(robot.steps[j].parent) != i) continue;
    out(j);
    walk_limbs(robot, j, out, in);
    in(j);
  }
}

/// Linear and angular part of one thing.
template <typename T>
struct Pair {
  Triple<T> linear, angular;
};

template <typename T>
int freedoms(const CanonicalStep<T>& step) {
  constexpr int kFreedoms[] = {1, 1, 1, 3, 3, 6};
  return kFreedoms[static_cast<int>(step.kind)];
}

/// S x: the motion that the step's own velocities (or accelerations) x cause. S is constant.
template <typename T>
LIMB_INLINE Pair<T> motion_of(const CanonicalStep<T>& step, const T* x) {
  using Kind = typename CanonicalStep<T>::Kind;
  const T o = T(0);
  switch (step.kind) {
    case Kind::revolute:
      return {{o, o, o}, {o, o, x[0]}};
    case Kind::prismatic:
      return {{o, o, x[0]}, {o, o, o}};
    case Kind::helical:
      return {{o, o, step.pitch * x[0]}, {o, o, x[0]}};
    case Kind::planar:
      return {{x[0], x[1], o}, {o, o, x[2]}};
    case Kind::spherical:
      return {{o, o, o}, {x[0], x[1], x[2]}};
    case Kind::free:
      break;
  }
  return {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
}

/// S^T (f, n): the generalized force of the step.
template <typename T>
LIMB_INLINE void project(const CanonicalStep<T>& step, const Triple<T>& f, const Triple<T>& n,
                         T* tau) {
  using Kind = typename CanonicalStep<T>::Kind;
  switch (step.kind) {
    case Kind::revolute:
      tau[0] = n.z;
      return;
    case Kind::prismatic:
      tau[0] = f.z;
      return;
    case Kind::helical:
      tau[0] = n.z + step.pitch * f.z;
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
