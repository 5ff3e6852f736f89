#pragma once

#include "limb/dynamics/textbook/lagrange.hpp"
#include "limb/model/core/joint_impl.hpp"

// Symbols: m, p, I mass, mass centre and tensor about it of a body, world axes; Jv, Jw Jacobians of
// the mass centre's velocity and of the angular velocity; S motion of a joint at unit rate; G
// matrix of the couplings (in gravity(): the gravity torques).
namespace limb::textbook::lagrange {
namespace detail {

/// h / m, or 0 where there is no mass.
template <typename T>
Vector3<T> mass_center(const Inertia<T>& I) {
  const Vector3<T> zero = Vector3<T>::Zero();
  if constexpr (std::equality_comparable<T>) {
    return I.mass() == T(0) ? zero : Vector3<T>(I.first_moment() / I.mass());
  } else {
    return choose_vector<>(T(0) < I.mass(), Vector3<T>(I.first_moment() / I.mass()), zero);
  }
}

}  // namespace detail

template <typename T>
std::vector<MassCenter<T>> mass_centers(const Model<T>& model, VectorIn<T>& q) {
  check_position("lagrange::mass_centers", "q", model, q);
  const VectorX<T> q_joint = model.coupling().expand_position(VectorX<T>(q));
  const MatrixX<T> G = model.coupling().matrix();
  const std::size_t n = model.bodies().size();
  std::vector<Pose<T>> X_WB(n);
  std::vector<MassCenter<T>> centers;
  for (std::size_t i = 1; i < n; ++i) {
    const Body<T>& body = model.bodies()[i];
    X_WB[i] = X_WB[static_cast<std::size_t>(body.parent.value())] * body.X_PJ *
              body.joint.pose(q_joint.data() + body.q_start);
    const Vector3<T> c = detail::mass_center(body.inertia);
    const Matrix3<T> I_com = body.inertia.tensor() - body.inertia.mass() * unit_point_tensor<T>(c);
    const Matrix3<T>& R = X_WB[i].R;
    const Vector3<T> p = X_WB[i] * c;

    // One column per joint velocity on the path to the root: S, moved to the mass centre.
    MatrixX<T> Jv = MatrixX<T>::Constant(3, model.uncoupled_nv(), T(0)), Jw = Jv;
    for (std::size_t j = i; j > 0;) {
      const Body<T>& joint_body = model.bodies()[j];
      Motion<T> S[6];
      joint_body.joint.subspace(q_joint.data() + joint_body.q_start, S);
      for (int k = 0; k < joint_body.joint.nv(); ++k) {
        const Vector3<T> w = X_WB[j].R * S[k].w;
        Jw.col(joint_body.v_start + k) = w;
        Jv.col(joint_body.v_start + k) = X_WB[j].R * S[k].v + w.cross(p - X_WB[j].p);
      }
      j = static_cast<std::size_t>(joint_body.parent.value());
    }
    centers.push_back(
        {body.inertia.mass(), p, rotate_tensor<T>(R, I_com), Jv.lazyProduct(G), Jw.lazyProduct(G)});
  }
  return centers;
}

template <typename T>
MatrixX<T> mass_matrix(const Model<T>& model, VectorIn<T>& q) {
  MatrixX<T> M = MatrixX<T>::Constant(model.nv(), model.nv(), T(0));
  for (const auto& [m, p, I, Jv, Jw] : mass_centers<T>(model, q)) {
    const MatrixX<T> IJw = I.lazyProduct(Jw);
    M += m * Jv.transpose().lazyProduct(Jv) + Jw.transpose().lazyProduct(IJw);
  }
  return M;
}

template <typename T>
VectorX<T> gravity(const Model<T>& model, VectorIn<T>& q) {
  VectorX<T> G = VectorX<T>::Constant(model.nv(), T(0));
  for (const auto& [m, p, I, Jv, Jw] : mass_centers<T>(model, q)) {
    G -= m * Jv.transpose().lazyProduct(model.gravity());
  }
  return G;
}

template <typename T>
T kinetic_energy(const Model<T>& model, VectorIn<T>& q, VectorIn<T>& v) {
  check_velocity("lagrange::kinetic_energy", "v", model, v);
  const MatrixX<T> M = mass_matrix<T>(model, q);
  T K = T(0);
  for (Eigen::Index i = 0; i < v.size(); ++i) {
    for (Eigen::Index j = 0; j < v.size(); ++j) K += T(0.5) * v[i] * M(i, j) * v[j];
  }
  return K;
}

template <typename T>
T potential_energy(const Model<T>& model, VectorIn<T>& q) {
  T P = T(0);
  for (const auto& [m, p, I, Jv, Jw] : mass_centers<T>(model, q)) P -= m * model.gravity().dot(p);
  return P;
}

}  // namespace limb::textbook::lagrange
