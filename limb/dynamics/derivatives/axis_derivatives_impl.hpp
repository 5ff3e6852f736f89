#pragma once

#include "limb/dynamics/derivatives/axis_derivatives.hpp"
#include "limb/dynamics/kinematics/jacobian_impl.hpp"

// Derivatives of body motions by one coordinate or velocity [Singh 2022, analytical derivatives],
// docs/derivations/derivatives.md. All are Pluecker vectors in world axes about O, the point at
// rest that coincides with the origin of body 1 now: no digits are lost far from the world's
// origin.
//
// Symbols:
//   S          axis of the joint velocity
//   V, A       velocity and spatial acceleration of a body k that the joint supports
//   V_p, A_p   those of the joint's parent;  V_b velocity of the joint's body
//   psi_dot    V_p x S                  (Psi' in the paper)
//   psi_ddot   A_p x S + V_p x psi_dot  (Psi'')
//   psi_s_dot  psi_dot + V_b x S        (Psi' + S')
//
//   dV/dq = S x V + psi_dot
//   dA/dq = S x A + psi_dot x V + psi_ddot
//   dA/dv = S x V + psi_s_dot

namespace limb::axis_derivatives_detail {

/// Transforms a motion of body i from its origin and axes to O and world axes.
template <typename T>
Motion<T> at_O(const Kinematics<T>& k, std::size_t i, const Motion<T>& V_B) {
  return Pose<T>{k.X_WB[i].R, k.p_OB_W[i]}.act(V_B);
}

/// The axes of the joint of body i. Kinematics from order velocity on; psi_ddot needs
/// accelerations.
template <typename T>
void compute_axis_derivatives(const Model<T>& model, const Kinematics<T>& k, std::size_t i,
                              AxisDerivatives<T>* axes) {
  const Body<T>& body = model.bodies()[i];
  const std::size_t p = static_cast<std::size_t>(body.parent.value());
  const bool accelerated = k.order == Kinematics<T>::Order::acceleration;
  Motion<T> V_p = at_O(k, p, k.V_WB_B[p]), A_p;
  if (accelerated) A_p = at_O(k, p, k.A_WB_B[p]);
  const Motion<T> V_b = at_O(k, i, k.V_WB_B[i]);
  const bool fixed_in_body = body.joint.subspace_is_constant();
  for (int j = 0; j < body.joint.nv(); ++j) {
    const int index = body.v_start + j;
    AxisDerivatives<T>& axis = axes[j];
    const Motion<T>& S = k.S_W[static_cast<std::size_t>(index)];
    axis.S = {small_products::add_cross<T>(S.v, k.p_OB_W[i], S.w), S.w};
    axis.psi_dot = cross(V_p, axis.S);
    if (accelerated) axis.psi_ddot = cross(A_p, axis.S) + cross(V_p, axis.psi_dot);
    axis.psi_s_dot = axis.psi_dot + (fixed_in_body ? cross(V_b, axis.S) : axis.psi_dot);
    if (fixed_in_body) continue;
    // Successive axes as of a chain: each moves with those before it.
    const Motion<T> V_J = axis.S * k.v[index];
    if (accelerated) A_p += axis.S * k.a[index] + cross(V_p, V_J);
    V_p += V_J;
  }
}

/// Calls use(body, j, axis) for every joint velocity that supports body i, from the body to the
/// root.
template <typename T, typename Use>
void for_each_supporting_axis(const Model<T>& model, const Kinematics<T>& k, std::size_t i,
                              const Use& use) {
  AxisDerivatives<T> axes[6];
  for (; i > 0; i = static_cast<std::size_t>(model.bodies()[i].parent.value())) {
    compute_axis_derivatives(model, k, i, axes);
    for (int j = 0; j < model.bodies()[i].joint.nv(); ++j) use(i, j, axes[j]);
  }
}

}  // namespace limb::axis_derivatives_detail
