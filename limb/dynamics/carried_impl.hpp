#pragma once

#include "limb/dynamics/carried.hpp"
#include "limb/dynamics/jacobian_impl.hpp"

// What moves when one coordinate, velocity or acceleration is changed (docs/derivations/
// derivatives.md). All vectors are Pluecker vectors in world axes about O, the point at rest where
// the origin of body 1 is now: as near as the robot is large.
//
//   V, A      velocity and spatial acceleration of a body k behind the joint
//   p         the motion of what carries the axis
//   rate      V_p x S               dV/dq = S x V + rate
//   bend      A_p x S + V_p x rate  dA/dq = S x A + rate x V + bend
//   sum       rate + V_b x S        dA/dv = S x V + sum,  b the joint's own body

namespace limb::carried_detail {

/// A motion of body i, given at its origin in its axes, as one at O in world axes.
template <typename T>
Motion<T> at_O(const Kinematics<T>& k, std::size_t i, const Motion<T>& V_B) {
  return Pose<T>{k.X_WB[i].R, k.p_OB_W[i]}.act(V_B);
}

/// The axes of the joint that carries body i. From order velocity on; bend needs accelerations.
template <typename T>
void see_axes(const Model<T>& model, const Kinematics<T>& k, std::size_t i, Axis<T>* axes) {
  const Body<T>& body = model.bodies()[i];
  const std::size_t p = static_cast<std::size_t>(body.parent.value());
  const bool accelerated = k.order == Kinematics<T>::Order::acceleration;
  Motion<T> V_p = at_O(k, p, k.V_WB_B[p]), A_p;
  if (accelerated) A_p = at_O(k, p, k.A_WB_B[p]);
  const Motion<T> V_b = at_O(k, i, k.V_WB_B[i]);
  const bool fixed_in_body = body.joint.subspace_is_constant();
  for (int j = 0; j < body.joint.nv(); ++j) {
    const int index = body.v_start + j;
    Axis<T>& axis = axes[j];
    const Motion<T>& S = k.S_W[static_cast<std::size_t>(index)];
    axis.S = {entries::add_cross<T>(S.v, k.p_OB_W[i], S.w), S.w};
    axis.rate = cross(V_p, axis.S);
    if (accelerated) axis.bend = cross(A_p, axis.S) + cross(V_p, axis.rate);
    axis.sum = axis.rate + (fixed_in_body ? cross(V_b, axis.S) : axis.rate);
    if (fixed_in_body) continue;
    // Axes one after the other, as of a chain: each is carried by those before it.
    const Motion<T> V_J = axis.S * k.v[index];
    if (accelerated) A_p += axis.S * k.a[index] + cross(V_p, V_J);
    V_p += V_J;
  }
}

/// Calls use(body, j, axis) for every joint velocity that moves body i, from the body down to the
/// root.
template <typename T, typename Use>
void for_each_carrier(const Model<T>& model, const Kinematics<T>& k, std::size_t i,
                      const Use& use) {
  Axis<T> axes[6];
  for (; i > 0; i = static_cast<std::size_t>(model.bodies()[i].parent.value())) {
    see_axes(model, k, i, axes);
    for (int j = 0; j < model.bodies()[i].joint.nv(); ++j) use(i, j, axes[j]);
  }
}

}  // namespace limb::carried_detail
