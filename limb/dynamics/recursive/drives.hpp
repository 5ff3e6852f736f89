#pragma once

#include "limb/dynamics/recursive/turning_armature.hpp"

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

/// tau += factor * what the drives exert at zero accelerations: viscous damping, Coulomb friction
/// and the velocity-dependent force of armature.
template <typename T>
void add_velocity_torques(const Canonical<T>& robot, const JointEffects& effects, const T* v,
                          const T& factor, T* tau) {
  add_turning_armature(robot, effects, v, factor, tau);
  if (effects.damping && robot.has_damping) {
    for (int i = 0; i < robot.nv; ++i) tau[i] += factor * (robot.damping[i] * v[i]);
  }
  if (effects.friction && robot.has_friction) {
    for (int i = 0; i < robot.nv; ++i) tau[i] += factor * (robot.friction[i] * sign(v[i]));
  }
}

/// Whether add_velocity_torques() may add something.
template <typename T>
bool depends_on_velocity(const Canonical<T>& robot, const JointEffects& effects) {
  const bool turning = !robot.free_armature.empty() || !robot.planar_armature.empty();
  return (effects.damping && robot.has_damping) || (effects.friction && robot.has_friction) ||
         (effects.armature && turning);
}

/// Adds armature, damping and friction of the drives to the torques, in uncoupled coordinates.
template <typename T>
void add_drive_torques(const Canonical<T>& robot, const JointEffects& effects, const T* v,
                       const T* a, T* tau) {
  if (effects.armature && robot.has_armature) {
    for (int i = 0; i < robot.nv; ++i) tau[i] += robot.armature[i] * a[i];
  }
  add_velocity_torques(robot, effects, v, T(1), tau);
}

}  // namespace limb::kernel
