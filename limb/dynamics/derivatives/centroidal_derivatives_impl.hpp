#pragma once

#include "limb/dynamics/derivatives/axis_derivatives_impl.hpp"
#include "limb/dynamics/derivatives/centroidal_derivatives.hpp"
#include "limb/dynamics/kinematics/centroidal_momentum_impl.hpp"

// Symbols: sums over the subtree of a joint, about O (axis_derivatives_impl.hpp, also for S and
// psi_*), docs/derivations/frame_derivatives.md:
//   I, dI   inertia and its time derivative
//   H, F    momentum and its rate, the force
//
//   dH/dq = S x* H + I psi_dot
//   dH/dv = I S
//   dF/dq = S x* F + psi_dot x* H + dI psi_dot + I psi_ddot
//   dF/dv = S x* H + dI S + I psi_s_dot

namespace limb {
namespace centroidal_derivatives_detail {

/// H of each subtree, with forces also F; and the inertias I and dI.
template <typename T>
void subtree_momenta(const Model<T>& model, const Kinematics<T>& k, bool with_forces,
                     SubtreeScratch<T>& scratch) {
  momentum_detail::subtree_inertias(model, k, with_forces, scratch);
  const std::size_t n = k.X_WB.size();
  scratch.momentum[0] = scratch.force[0] = {};  // the whole robot
  for (std::size_t i = 1; i < n; ++i) {
    const Inertia<T>& I = model.bodies()[i].inertia;
    const Motion<T>& V = k.V_WB_B[i];
    const Force<T> H = I * V;
    scratch.momentum[i] = momentum_detail::at_O(k, i, H);
    if (with_forces) {
      scratch.force[i] = momentum_detail::at_O(k, i, I * k.A_WB_B[i] + cross(V, H));
    }
  }
  for (std::size_t i = n - 1; i > 0; --i) {
    const std::size_t parent = static_cast<std::size_t>(model.bodies()[i].parent.value());
    scratch.momentum[parent] += scratch.momentum[i];
    if (with_forces) scratch.force[parent] += scratch.force[i];
  }
}

/// Calls use(body, j, by_q, by_v) with the derivatives of the momentum about O.
template <typename T, typename Use>
void for_each_momentum(const Model<T>& model, const Kinematics<T>& k, SubtreeScratch<T>& scratch,
                       const Use& use) {
  subtree_momenta(model, k, false, scratch);
  axis_derivatives_detail::AxisDerivatives<T> axes[6];
  for (std::size_t i = 1; i < k.X_WB.size(); ++i) {
    axis_derivatives_detail::compute_axis_derivatives(model, k, i, axes);
    for (int j = 0; j < model.bodies()[i].joint.nv(); ++j) {
      const auto& [S, psi_dot, psi_ddot, psi_s_dot] = axes[j];
      const Inertia<T>& I = scratch.I[i];
      use(i, j, cross(S, scratch.momentum[i]) + I * psi_dot, I * S);
    }
  }
}

/// Calls use(body, j, by_q, by_v, by_a) with the derivatives of the rate of the momentum about O.
template <typename T, typename Use>
void for_each_rate(const Model<T>& model, const Kinematics<T>& k, SubtreeScratch<T>& scratch,
                   const Use& use) {
  subtree_momenta(model, k, true, scratch);
  axis_derivatives_detail::AxisDerivatives<T> axes[6];
  for (std::size_t i = 1; i < k.X_WB.size(); ++i) {
    axis_derivatives_detail::compute_axis_derivatives(model, k, i, axes);
    const Inertia<T>&I = scratch.I[i], &dI = scratch.dI[i];
    const Force<T>&H = scratch.momentum[i], &F = scratch.force[i];
    for (int j = 0; j < model.bodies()[i].joint.nv(); ++j) {
      const auto& [S, psi_dot, psi_ddot, psi_s_dot] = axes[j];
      use(i, j, cross(S, F) + cross(psi_dot, H) + dI * psi_dot + I * psi_ddot,
          cross(S, H) + dI * S + I * psi_s_dot, I * S);
    }
  }
}

template <typename T>
void add_point(const Model<T>& model, std::size_t body, int j, const Vector3<T>& x,
               PointJacobianOut<T>& J) {
  for_each_column(model, body, j, [&](int column, const T& ratio) {
    for (int r = 0; r < 3; ++r) J(r, column) += ratio * x[r];
  });
}

/// Checks kinematics, scratch and outputs, and sets the outputs to zero. @returns the mass.
template <typename T, typename... Outs>
T check_all(const char* call, const Model<T>& model, const Kinematics<T>& k,
            typename Kinematics<T>::Order order, const SubtreeScratch<T>& scratch,
            const std::pair<const char*, Outs*>&... outs) {
  check_kinematics(call, model, k, order);
  center_of_mass_detail::check_scratch(call, model, scratch);
  (check_columns(call, outs.first, model, *outs.second), ...);
  const T mass = center_of_mass_detail::mass_of(call, model);
  (outs.second->setConstant(T(0)), ...);
  return mass;
}
template <typename Out>
std::pair<const char*, Out*> named(const char* name, Out& out) {
  return {name, &out};
}

/// Moves the derivative F about O to the centre of mass, which itself moves by `moved`; `total` is
/// the quantity about O.
template <typename T>
Force<T> at_center(const Vector3<T>& p_OC, const Vector3<T>& moved, const Force<T>& total,
                   const Force<T>& F) {
  Force<T> G = momentum_detail::moved_to<T>(p_OC, F);
  G.n = small_products::add_cross<T>(G.n, total.f, moved);
  return G;
}

}  // namespace centroidal_derivatives_detail

template <typename T>
void center_of_mass_velocity_derivatives(const Model<T>& model, const Kinematics<T>& kinematics,
                                         SubtreeScratch<T>& scratch, PointJacobianOut<T> dv_dq,
                                         PointJacobianOut<T> dv_dv) {
  using namespace centroidal_derivatives_detail;
  const T over_mass = T(1) / check_all("center_of_mass_velocity_derivatives", model, kinematics,
                                       Kinematics<T>::Order::velocity, scratch,
                                       named("dv_dq", dv_dq), named("dv_dv", dv_dv));
  for_each_momentum(model, kinematics, scratch,
                    [&](std::size_t i, int j, const Force<T>& by_q, const Force<T>& by_v) {
                      add_point<T>(model, i, j, over_mass * by_q.f, dv_dq);
                      add_point<T>(model, i, j, over_mass * by_v.f, dv_dv);
                    });
}

template <typename T>
void center_of_mass_acceleration_derivatives(const Model<T>& model, const Kinematics<T>& kinematics,
                                             SubtreeScratch<T>& scratch, PointJacobianOut<T> da_dq,
                                             PointJacobianOut<T> da_dv, PointJacobianOut<T> da_da) {
  using namespace centroidal_derivatives_detail;
  const T over_mass =
      T(1) / check_all("center_of_mass_acceleration_derivatives", model, kinematics,
                       Kinematics<T>::Order::acceleration, scratch, named("da_dq", da_dq),
                       named("da_dv", da_dv), named("da_da", da_da));
  for_each_rate(
      model, kinematics, scratch,
      [&](std::size_t i, int j, const Force<T>& by_q, const Force<T>& by_v, const Force<T>& by_a) {
        add_point<T>(model, i, j, over_mass * by_q.f, da_dq);
        add_point<T>(model, i, j, over_mass * by_v.f, da_dv);
        add_point<T>(model, i, j, over_mass * by_a.f, da_da);
      });
}

template <typename T>
void centroidal_momentum_derivatives(const Model<T>& model, const Kinematics<T>& kinematics,
                                     SubtreeScratch<T>& scratch, JacobianOut<T> dh_dq,
                                     JacobianOut<T> dh_dv) {
  using namespace centroidal_derivatives_detail;
  const T mass = check_all("centroidal_momentum_derivatives", model, kinematics,
                           Kinematics<T>::Order::velocity, scratch, named("dh_dq", dh_dq),
                           named("dh_dv", dh_dv));
  const T over_mass = T(1) / mass;
  const Vector3<T> p_OC = center_of_mass_detail::from_body_one(model, kinematics, mass);
  for_each_momentum(model, kinematics, scratch,
                    [&](std::size_t i, int j, const Force<T>& by_q, const Force<T>& by_v) {
                      const Force<T>& total = scratch.momentum[0];
                      const Force<T> q = at_center<T>(p_OC, over_mass * by_v.f, total, by_q);
                      momentum_detail::add_column<T>(model, i, j, q, dh_dq);
                      momentum_detail::add_column<T>(
                          model, i, j, momentum_detail::moved_to<T>(p_OC, by_v), dh_dv);
                    });
}

template <typename T>
void centroidal_momentum_rate_derivatives(const Model<T>& model, const Kinematics<T>& kinematics,
                                          SubtreeScratch<T>& scratch, JacobianOut<T> df_dq,
                                          JacobianOut<T> df_dv, JacobianOut<T> df_da) {
  using namespace centroidal_derivatives_detail;
  const T mass = check_all("centroidal_momentum_rate_derivatives", model, kinematics,
                           Kinematics<T>::Order::acceleration, scratch, named("df_dq", df_dq),
                           named("df_dv", df_dv), named("df_da", df_da));
  const T over_mass = T(1) / mass;
  const Vector3<T> p_OC = center_of_mass_detail::from_body_one(model, kinematics, mass);
  for_each_rate(
      model, kinematics, scratch,
      [&](std::size_t i, int j, const Force<T>& by_q, const Force<T>& by_v, const Force<T>& by_a) {
        const Force<T> q = at_center<T>(p_OC, over_mass * by_a.f, scratch.force[0], by_q);
        momentum_detail::add_column<T>(model, i, j, q, df_dq);
        momentum_detail::add_column<T>(model, i, j, momentum_detail::moved_to<T>(p_OC, by_v),
                                       df_dv);
        momentum_detail::add_column<T>(model, i, j, momentum_detail::moved_to<T>(p_OC, by_a),
                                       df_da);
      });
}

}  // namespace limb
