#pragma once

#include <Eigen/Core>

#include "limb/dynamics/arguments.hpp"
#include "limb/model/canonical/canonical.hpp"

/// Armature of free and planar joints. It adds armature (|u|^2 + |w|^2) / 2 to the kinetic energy,
/// and no weight. The velocity u of the origin is given in axes that turn with w, so that the force
/// is armature (du/dt + w x u), the same as that of armature along axes of the world.
namespace limb::kernel {

/// tau += factor * armature (w x u).
template <typename T>
void add_turning_armature(const Canonical<T>& robot, const JointEffects& effects, const T* v,
                          const T& factor, T* tau) {
  if (!effects.armature) return;
  for (const int i : robot.free_armature) {
    const T k = factor * robot.armature[i];
    const T *u = v + i, *w = v + i + 3;
    tau[i] += k * (w[1] * u[2] - w[2] * u[1]);
    tau[i + 1] += k * (w[2] * u[0] - w[0] * u[2]);
    tau[i + 2] += k * (w[0] * u[1] - w[1] * u[0]);
  }
  for (const int i : robot.planar_armature) {
    const T kw = factor * robot.armature[i] * v[i + 2];
    tau[i] -= kw * v[i + 1];
    tau[i + 1] += kw * v[i];
  }
}

/// dtau_dv += the derivatives of these forces; its columns are `stride` apart.
template <typename T>
void add_turning_armature_derivatives(const Canonical<T>& robot, const JointEffects& effects,
                                      const T* v, T* dtau_dv, Eigen::Index stride) {
  if (!effects.armature) return;
  // factor * armature [x]_cross to the rows of u, from this column.
  const auto add_cross = [&](int row, int column, const T* x, const T& k) {
    T* block = dtau_dv + row + column * stride;
    for (int j = 0; j < 3; ++j) {
      const int next = (j + 1) % 3, last = (j + 2) % 3;
      block[next + j * stride] += k * x[last];
      block[last + j * stride] -= k * x[next];
    }
  };
  for (const int i : robot.free_armature) {
    add_cross(i, i, v + i + 3, robot.armature[i]);
    add_cross(i, i + 3, v + i, -robot.armature[i]);
  }
  for (const int i : robot.planar_armature) {
    const T k = robot.armature[i];
    T* block = dtau_dv + i + i * stride;
    block[stride] -= k * v[i + 2];
    block[1] += k * v[i + 2];
    block[2 * stride] -= k * v[i + 1];
    block[1 + 2 * stride] += k * v[i];
  }
}

/// by_v += the gradient of lambda^T tau of these forces by v.
template <typename T>
void add_turning_armature_gradient(const Canonical<T>& robot, const JointEffects& effects,
                                   const T* v, const T* lambda, T* by_v) {
  if (!effects.armature) return;
  const auto add_cross = [&](const T* x, const T* y, const T& k, T* sum) {
    sum[0] += k * (x[1] * y[2] - x[2] * y[1]);
    sum[1] += k * (x[2] * y[0] - x[0] * y[2]);
    sum[2] += k * (x[0] * y[1] - x[1] * y[0]);
  };
  for (const int i : robot.free_armature) {
    add_cross(lambda + i, v + i + 3, robot.armature[i], by_v + i);
    add_cross(v + i, lambda + i, robot.armature[i], by_v + i + 3);
  }
  for (const int i : robot.planar_armature) {
    const T k = robot.armature[i];
    by_v[i] += k * (v[i + 2] * lambda[i + 1]);
    by_v[i + 1] -= k * (v[i + 2] * lambda[i]);
    by_v[i + 2] += k * (v[i] * lambda[i + 1] - v[i + 1] * lambda[i]);
  }
}

}  // namespace limb::kernel
