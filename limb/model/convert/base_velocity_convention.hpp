#pragma once

#include "limb/math/spatial.hpp"

/// Four conventions for the velocity of a free body B with pose X_WB, and the corresponding
/// accelerations and forces. Every vector is a Motion or Force, linear part first.
///
///   convention  v                               w             used by
///   body        R^T v_WB, body axes             body axes     limb, Pinocchio
///   mujoco      v_WB, world axes                body axes     MuJoCo, RBDL
///   mixed       v_WB, world axes                world axes    iDynTree, Drake (angular first)
///   world       velocity of the point of B      world axes    spatial twist of textbooks
///               at the world's origin
///
/// An acceleration is the time derivative of these numbers. For mujoco and mixed its linear part is
/// the classical acceleration of the origin; for body it is R^T a_WB - w x v and for world it is
/// not the acceleration of a point of the body. So accelerations can be converted only together
/// with velocities. A force is dual: the power v.f + w.n is the same in each convention.
namespace limb {

enum class BaseVelocityConvention { body, mujoco, mixed, world };

namespace base_velocity_detail {

template <typename T>
Motion<T> from_body(const Pose<T>& X_WB, const Motion<T>& V, BaseVelocityConvention to) {
  switch (to) {
    case BaseVelocityConvention::mujoco:
      return {X_WB.R * V.v, V.w};
    case BaseVelocityConvention::mixed:
      return {X_WB.R * V.v, X_WB.R * V.w};
    case BaseVelocityConvention::world:
      return X_WB.act(V);
    default:
      return V;
  }
}

template <typename T>
Motion<T> to_body(const Pose<T>& X_WB, const Motion<T>& V, BaseVelocityConvention from) {
  switch (from) {
    case BaseVelocityConvention::mujoco:
      return {X_WB.R.transpose() * V.v, V.w};
    case BaseVelocityConvention::mixed:
      return {X_WB.R.transpose() * V.v, X_WB.R.transpose() * V.w};
    case BaseVelocityConvention::world:
      return X_WB.inv_act(V);
    default:
      return V;
  }
}

/// The term that a derivative in this convention has in addition to that of the body twist:
/// d/dt (R v) = R (dv/dt + w x v). The term w x w of the angular part is zero, and Ad(X) V has the
/// derivative Ad(X) dV/dt.
template <typename T>
Motion<T> bias(const Motion<T>& V_WB_B, BaseVelocityConvention convention) {
  const bool classical =
      convention == BaseVelocityConvention::mujoco || convention == BaseVelocityConvention::mixed;
  if (!classical) return {};
  return {V_WB_B.w.cross(V_WB_B.v), Vector3<T>::Zero()};
}

}  // namespace base_velocity_detail

/// The same motion in another convention. @throws Error if X_WB.R is not a rotation (Real scalars).
template <typename T>
Motion<T> convert_velocity(const Pose<T>& X_WB, const Motion<T>& V, BaseVelocityConvention from,
                           BaseVelocityConvention to) {
  check_rotation("convert_velocity", "X_WB.R", X_WB.R);
  using namespace base_velocity_detail;
  return from_body(X_WB, to_body(X_WB, V, from), to);
}

/// The time derivative of the velocity in convention `to`, from velocity V and its derivative A in
/// convention `from`. @throws Error if X_WB.R is not a rotation (Real scalars).
template <typename T>
Motion<T> convert_acceleration(const Pose<T>& X_WB, const Motion<T>& V, const Motion<T>& A,
                               BaseVelocityConvention from, BaseVelocityConvention to) {
  check_rotation("convert_acceleration", "X_WB.R", X_WB.R);
  using namespace base_velocity_detail;
  const Motion<T> V_WB_B = to_body(X_WB, V, from);
  const Motion<T> A_WB_B = to_body(X_WB, A, from) - bias(V_WB_B, from);
  return from_body(X_WB, A_WB_B + bias(V_WB_B, to), to);
}

/// The force that has the same power with every motion.
/// @throws Error if X_WB.R is not a rotation (Real scalars).
template <typename T>
Force<T> convert_force(const Pose<T>& X_WB, const Force<T>& F, BaseVelocityConvention from,
                       BaseVelocityConvention to) {
  check_rotation("convert_force", "X_WB.R", X_WB.R);
  Force<T> F_B_B = F;
  if (from == BaseVelocityConvention::world) F_B_B = X_WB.inv_act(F);
  if (from == BaseVelocityConvention::mujoco || from == BaseVelocityConvention::mixed) {
    F_B_B.f = X_WB.R.transpose() * F.f;
  }
  if (from == BaseVelocityConvention::mixed) F_B_B.n = X_WB.R.transpose() * F.n;
  switch (to) {
    case BaseVelocityConvention::mujoco:
      return {X_WB.R * F_B_B.f, F_B_B.n};
    case BaseVelocityConvention::mixed:
      return {X_WB.R * F_B_B.f, X_WB.R * F_B_B.n};
    case BaseVelocityConvention::world:
      return X_WB.act(F_B_B);
    default:
      return F_B_B;
  }
}

}  // namespace limb
