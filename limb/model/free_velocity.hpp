#pragma once

#include "limb/math/spatial.hpp"

/// The four customs for the velocity of a free body B with pose X_WB, and what each means for its
/// acceleration and for forces. Every vector is a Motion or Force, linear part first.
///
///   custom  v                                   w                    who
///   body    R^T v_WB, body axes                 body axes            limb, Pinocchio
///   mixed   v_WB, world axes                    body axes            MuJoCo, RBDL
///   hybrid  v_WB, world axes                    world axes           Drake (angular first)
///   world   velocity of the point of B that     world axes           spatial twist of textbooks
///           passes through the world's origin
///
/// An acceleration is the time derivative of these numbers. For mixed and hybrid its linear part is
/// the classical acceleration of the origin; for body it is R^T a_WB - w x v and for world the
/// acceleration of no point of the body. So accelerations convert only together with velocities. A
/// force is dual: the power v.f + w.n is the same in each custom.
namespace limb {

enum class FreeVelocity { body, mixed, hybrid, world };

namespace free_velocity_detail {

template <typename T>
Motion<T> from_body(const Pose<T>& X_WB, const Motion<T>& V, FreeVelocity to) {
  switch (to) {
    case FreeVelocity::mixed:
      return {X_WB.R * V.v, V.w};
    case FreeVelocity::hybrid:
      return {X_WB.R * V.v, X_WB.R * V.w};
    case FreeVelocity::world:
      return X_WB.act(V);
    default:
      return V;
  }
}

template <typename T>
Motion<T> to_body(const Pose<T>& X_WB, const Motion<T>& V, FreeVelocity from) {
  switch (from) {
    case FreeVelocity::mixed:
      return {X_WB.R.transpose() * V.v, V.w};
    case FreeVelocity::hybrid:
      return {X_WB.R.transpose() * V.v, X_WB.R.transpose() * V.w};
    case FreeVelocity::world:
      return X_WB.inv_act(V);
    default:
      return V;
  }
}

/// What a derivative in this custom has beyond the body's own: d/dt (R v) = R (dv/dt + w x v). The
/// term w x w of the angular part is zero, and Ad(X) V has the derivative Ad(X) dV/dt.
template <typename T>
Motion<T> bias(const Motion<T>& V_WB_B, FreeVelocity custom) {
  const bool classical = custom == FreeVelocity::mixed || custom == FreeVelocity::hybrid;
  if (!classical) return {};
  return {V_WB_B.w.cross(V_WB_B.v), Vector3<T>::Zero()};
}

}  // namespace free_velocity_detail

/// The same motion in another custom. @throws Error if X_WB.R is no rotation (Real scalars).
template <typename T>
Motion<T> convert_velocity(const Pose<T>& X_WB, const Motion<T>& V, FreeVelocity from,
                           FreeVelocity to) {
  check_rotation("convert_velocity", "X_WB.R", X_WB.R);
  using namespace free_velocity_detail;
  return from_body(X_WB, to_body(X_WB, V, from), to);
}

/// The time derivative of the velocity in custom `to`, from velocity V and its derivative A in
/// custom `from`. @throws Error if X_WB.R is no rotation (Real scalars).
template <typename T>
Motion<T> convert_acceleration(const Pose<T>& X_WB, const Motion<T>& V, const Motion<T>& A,
                               FreeVelocity from, FreeVelocity to) {
  check_rotation("convert_acceleration", "X_WB.R", X_WB.R);
  using namespace free_velocity_detail;
  const Motion<T> V_WB_B = to_body(X_WB, V, from);
  const Motion<T> A_WB_B = to_body(X_WB, A, from) - bias(V_WB_B, from);
  return from_body(X_WB, A_WB_B + bias(V_WB_B, to), to);
}

/// The force that does the same work on every motion.
/// @throws Error if X_WB.R is no rotation (Real scalars).
template <typename T>
Force<T> convert_force(const Pose<T>& X_WB, const Force<T>& F, FreeVelocity from, FreeVelocity to) {
  check_rotation("convert_force", "X_WB.R", X_WB.R);
  Force<T> F_B_B = F;
  if (from == FreeVelocity::world) F_B_B = X_WB.inv_act(F);
  if (from == FreeVelocity::mixed || from == FreeVelocity::hybrid) {
    F_B_B.f = X_WB.R.transpose() * F.f;
  }
  if (from == FreeVelocity::hybrid) F_B_B.n = X_WB.R.transpose() * F.n;
  switch (to) {
    case FreeVelocity::mixed:
      return {X_WB.R * F_B_B.f, F_B_B.n};
    case FreeVelocity::hybrid:
      return {X_WB.R * F_B_B.f, X_WB.R * F_B_B.n};
    case FreeVelocity::world:
      return X_WB.act(F_B_B);
    default:
      return F_B_B;
  }
}

}  // namespace limb
