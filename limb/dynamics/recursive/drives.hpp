#pragma once

#include "limb/dynamics/arguments.hpp"
#include "limb/model/canonical/canonical.hpp"

namespace limb::kernel {

/// sign(v), with sign(0) = 0.
template <typename T>
T sign(const T& v) {
  return choose(
      T(0) < v, [] { return T(1); },
      [&] {
        return choose(
            v < T(0), [] { return T(-1); }, [] { return T(0); });
      });
}

/// tau += factor * (damping v + friction sign(v)): viscous damping and Coulomb friction.
template <typename T>
void add_friction_torques(const Canonical<T>& robot, const JointEffects& effects, const T* v,
                          const T& factor, T* tau) {
  if (effects.damping && robot.has_damping) {
    for (int i = 0; i < robot.nv; ++i) tau[i] += factor * (robot.damping[i] * v[i]);
  }
  if (effects.friction && robot.has_friction) {
    for (int i = 0; i < robot.nv; ++i) tau[i] += factor * (robot.friction[i] * sign(v[i]));
  }
}

/// Adds armature, damping and friction of the drives to the torques, in uncoupled coordinates.
template <typename T>
void add_drive_torques(const Canonical<T>& robot, const JointEffects& effects, const T* v,
                       const T* a, T* tau) {
  if (effects.armature && robot.has_armature) {
    for (int i = 0; i < robot.nv; ++i) tau[i] += robot.armature[i] * a[i];
  }
  add_friction_torques(robot, effects, v, T(1), tau);
}

}  // namespace limb::kernel
