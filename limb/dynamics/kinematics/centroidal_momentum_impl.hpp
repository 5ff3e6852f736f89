#pragma once

#include "limb/dynamics/kinematics/center_of_mass_impl.hpp"
#include "limb/dynamics/kinematics/centroidal_momentum.hpp"

// All sums are taken about O, the fixed point where the origin of body 1 is now. Distances from O
// are at most the size of the robot, so no digits are lost far from the world's origin.
//
//   I, dI   inertia of a body or subtree about O and its rate, world axes
//   S_O     motion of a joint at unit rate, at O;  F_O = I S_O
//   p_OC    from O to the mass centre C;  v_C its velocity
namespace limb {
namespace momentum_detail {

/// A force at the origin of body i, in its axes, taken to O in world axes.
template <typename T>
Force<T> at_O(const Kinematics<T>& k, std::size_t i, const Force<T>& F_B) {
  return Pose<T>{k.X_WB[i].R, k.p_OB_W[i]}.act(F_B);
}

template <typename T>
Force<T> momentum_at_O(const Model<T>& model, const Kinematics<T>& k) {
  Force<T> sum;
  for (std::size_t i = 1; i < k.X_WB.size(); ++i) {
    sum += at_O(k, i, model.bodies()[i].inertia * k.V_WB_B[i]);
  }
  return sum;
}

/// The moment about the point at p_OC.
template <typename T>
Force<T> moved_to(const Vector3<T>& p_OC, const Force<T>& F_O) {
  return {F_O.f, small_products::add_cross<T>(F_O.n, F_O.f, p_OC)};
}

/// Rate of the inertia about O of a body that moves with V_O (twist at O). The mass is constant;
/// with dr/dt = v + w x r under the integrals, dh = m v + w x h and
/// dJ = 2 (h.v) 1 - v h^T - h v^T + [w] J - J [w].
template <typename T>
Inertia<T> inertia_rate(const Inertia<T>& I_O, const Motion<T>& V_O) {
  const Vector3<T>&h = I_O.first_moment(), &v = V_O.v, &w = V_O.w;
  Matrix3<T> half;  // half + half^T is the rate of the tensor
  for (int c = 0; c < 3; ++c) {
    const Vector3<T> column = I_O.tensor().col(c);
    half.col(c) = small_products::cross<T>(w, column) - v * h[c];
    half(c, c) += h.dot(v);
  }
  return {T(0), small_products::add_cross<T>(I_O.mass() * v, w, h), half + half.transpose()};
}

/// Inertias about O of the subtree of each body; with_rates: their rates dI too.
template <typename T>
void subtree_inertias(const Model<T>& model, const Kinematics<T>& k, bool with_rates,
                      SubtreeScratch<T>& scratch) {
  for (std::size_t i = 1; i < k.X_WB.size(); ++i) {
    const Pose<T> X_OB{k.X_WB[i].R, k.p_OB_W[i]};
    scratch.I[i] = model.bodies()[i].inertia.transformed(X_OB);
    if (with_rates) scratch.dI[i] = inertia_rate(scratch.I[i], X_OB.act(k.V_WB_B[i]));
  }
  for (std::size_t i = k.X_WB.size() - 1; i > 0; --i) {
    const std::size_t parent = static_cast<std::size_t>(model.bodies()[i].parent.value());
    if (parent == 0) continue;
    scratch.I[parent] = scratch.I[parent] + scratch.I[i];
    if (with_rates) scratch.dI[parent] = scratch.dI[parent] + scratch.dI[i];
  }
}

template <typename T>
void add_column(const Model<T>& model, std::size_t body, int j, const Force<T>& F,
                JacobianOut<T>& A_G) {
  for_each_column(model, body, j, [&](int y, const T& ratio) {
    for (int r = 0; r < 3; ++r) {
      A_G(r, y) += ratio * F.f[r];
      A_G(r + 3, y) += ratio * F.n[r];
    }
  });
}

}  // namespace momentum_detail

template <typename T>
Force<T> spatial_momentum(const Model<T>& model, const Kinematics<T>& kinematics) {
  check_kinematics("spatial_momentum", model, kinematics, Kinematics<T>::Order::velocity);
  const Force<T> h_O = momentum_detail::momentum_at_O(model, kinematics);
  return momentum_detail::moved_to<T>(kinematics.p_OB_W[0], h_O);
}

template <typename T>
Force<T> centroidal_momentum(const Model<T>& model, const Kinematics<T>& kinematics) {
  using namespace center_of_mass_detail;
  check_kinematics("centroidal_momentum", model, kinematics, Kinematics<T>::Order::velocity);
  const T mass = mass_of("centroidal_momentum", model);
  return momentum_detail::moved_to<T>(from_body_one(model, kinematics, mass),
                                      momentum_detail::momentum_at_O(model, kinematics));
}

template <typename T>
Force<T> centroidal_momentum_rate(const Model<T>& model, const Kinematics<T>& kinematics) {
  using namespace center_of_mass_detail;
  check_kinematics("centroidal_momentum_rate", model, kinematics,
                   Kinematics<T>::Order::acceleration);
  const T mass = mass_of("centroidal_momentum_rate", model);
  Force<T> sum;
  for (std::size_t i = 1; i < kinematics.X_WB.size(); ++i) {
    const Inertia<T>& I = model.bodies()[i].inertia;
    const Motion<T>& V = kinematics.V_WB_B[i];
    sum += momentum_detail::at_O(kinematics, i, I * kinematics.A_WB_B[i] + cross(V, I * V));
  }
  // The mass centre moves parallel to the linear momentum: its velocity adds no moment.
  return momentum_detail::moved_to<T>(from_body_one(model, kinematics, mass), sum);
}

template <typename T>
void centroidal_matrix(const Model<T>& model, const Kinematics<T>& kinematics,
                       SubtreeScratch<T>& scratch, JacobianOut<T> A_G) {
  using namespace center_of_mass_detail;
  check_kinematics("centroidal_matrix", model, kinematics, Kinematics<T>::Order::position);
  check_scratch("centroidal_matrix", model, scratch);
  check_columns("centroidal_matrix", "A_G", model, A_G);
  const T mass = mass_of("centroidal_matrix", model);
  const Vector3<T> p_OC = from_body_one(model, kinematics, mass);
  momentum_detail::subtree_inertias(model, kinematics, false, scratch);
  A_G.setConstant(T(0));
  for (std::size_t i = 1; i < kinematics.X_WB.size(); ++i) {
    const Body<T>& body = model.bodies()[i];
    for (int j = 0; j < body.joint.nv(); ++j) {
      const Motion<T>& S = kinematics.S_W[static_cast<std::size_t>(body.v_start + j)];
      const Motion<T> S_O{small_products::add_cross<T>(S.v, kinematics.p_OB_W[i], S.w), S.w};
      momentum_detail::add_column<T>(model, i, j,
                                     momentum_detail::moved_to<T>(p_OC, scratch.I[i] * S_O), A_G);
    }
  }
}

template <typename T>
void centroidal_matrix_rate(const Model<T>& model, const Kinematics<T>& kinematics,
                            SubtreeScratch<T>& scratch, JacobianOut<T> dA_G) {
  using namespace center_of_mass_detail;
  check_kinematics("centroidal_matrix_rate", model, kinematics, Kinematics<T>::Order::velocity);
  check_scratch("centroidal_matrix_rate", model, scratch);
  check_columns("centroidal_matrix_rate", "dA_G", model, dA_G);
  const T mass = mass_of("centroidal_matrix_rate", model);
  const Vector3<T> p_OC = from_body_one(model, kinematics, mass);
  const Vector3<T> v_C = velocity_sum(model, kinematics) / mass;
  momentum_detail::subtree_inertias(model, kinematics, true, scratch);
  dA_G.setConstant(T(0));
  for (std::size_t i = 1; i < kinematics.X_WB.size(); ++i) {
    const Body<T>& body = model.bodies()[i];
    const Vector3<T>& p = kinematics.p_OB_W[i];
    const Vector3<T> v_B = small_products::product<T>(kinematics.X_WB[i].R, kinematics.V_WB_B[i].v);
    for (int j = 0; j < body.joint.nv(); ++j) {
      const std::size_t index = static_cast<std::size_t>(body.v_start + j);
      const Motion<T>&S = kinematics.S_W[index], &dS = kinematics.dS_W[index];
      // At O, which is fixed while the body's origin moves.
      const Motion<T> S_O{small_products::add_cross<T>(S.v, p, S.w), S.w};
      const Motion<T> dS_O{
          small_products::add_cross<T>(small_products::add_cross<T>(dS.v, p, dS.w), v_B, S.w),
          dS.w};
      const Force<T> F_O = scratch.I[i] * S_O;
      Force<T> dF = momentum_detail::moved_to<T>(p_OC, scratch.dI[i] * S_O + scratch.I[i] * dS_O);
      dF.n = small_products::add_cross<T>(dF.n, F_O.f, v_C);
      momentum_detail::add_column<T>(model, i, j, dF, dA_G);
    }
  }
}

}  // namespace limb
