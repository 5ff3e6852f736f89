#pragma once

#include "limb/dynamics/textbook/featherstone.hpp"
#include "limb/dynamics/textbook/ldlt.hpp"
#include "limb/model/core/joint_impl.hpp"

// Symbols, all of body i and in its body frame; p is its parent. Six-vectors are linear before
// angular, where the book has angular first; the equations are the same.
//   X   motion transform from p to i; its transpose transforms forces from i to p
//   S   motion subspace of the joint, c   S-dot v + V x S v
//   V   velocity, A   acceleration (that of the base is -g), F   force through the joint
//   I   inertia, Ic   of the subtree, IA, pA   articulated inertia and bias force
namespace limb::textbook::featherstone {
namespace detail {

template <typename T>
struct Link {
  int p = 0, v_start = 0, nv = 0;
  Matrix6<T> X = Matrix6<T>::Identity();
  Matrix6<T> I = Matrix6<T>::Zero();
  Matrix6X<T> S;
  Vector6<T> V = Vector6<T>::Zero(), c = Vector6<T>::Zero(), F_ext = Vector6<T>::Zero();
};

/// Frames, velocities and inertias of all bodies, shared by the three algorithms.
template <typename T>
std::vector<Link<T>> links(const char* call, const Model<T>& model, const VectorX<T>& q,
                           const VectorX<T>& v, WrenchesIn<T> external) {
  std::vector<Link<T>> links(model.bodies().size());
  std::vector<Force<T>> F(links.size());
  add_external(call, model, external, F);
  for (std::size_t i = 1; i < links.size(); ++i) {
    const Body<T>& body = model.bodies()[i];
    const T *qi = q.data() + body.q_start, *vi = v.data() + body.v_start;
    Motion<T> S[6];
    body.joint.subspace(qi, S);
    Link<T>& link = links[i];
    link.p = body.parent.value();
    link.v_start = body.v_start;
    link.nv = body.joint.nv();
    link.X = (body.X_PJ * body.joint.pose(qi)).inverse().adjoint();
    link.I = body.inertia.matrix();
    link.S.resize(6, link.nv);
    for (int k = 0; k < link.nv; ++k) link.S.col(k) = S[k].vector();

    const Motion<T> V_J = body.joint.velocity(qi, vi);
    link.V = link.X * links[static_cast<std::size_t>(link.p)].V + V_J.vector();
    link.c = body.joint.bias(qi, vi).vector() + cross(Motion<T>::from_vector(link.V), V_J).vector();
    link.F_ext = F[i].vector();
  }
  return links;
}

/// V x* (I V) - F_ext
template <typename T>
Vector6<T> bias_force(const Link<T>& link) {
  const Force<T> momentum = Force<T>::from_vector(link.I * link.V);
  return cross(Motion<T>::from_vector(link.V), momentum).vector() - link.F_ext;
}

template <typename T>
Vector6<T> base_acceleration(const Model<T>& model) {
  return stack<T>(-model.gravity(), Vector3<T>::Zero());
}

/// S x for the entries x of one joint.
template <typename T, typename X>
Vector6<T> times(const Matrix6X<T>& S, const X& x) {
  return S.lazyProduct(x);
}

}  // namespace detail

template <typename T>
VectorX<T> rnea(const Model<T>& model, VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a,
                WrenchesIn<T> external) {
  check_position("featherstone::rnea", "q", model, q);
  check_velocity("featherstone::rnea", "v", model, v);
  check_velocity("featherstone::rnea", "a", model, a);
  const Coupling<T>& G = model.coupling();
  const auto links = detail::links("featherstone::rnea", model, G.expand_position(VectorX<T>(q)),
                                   G.expand_velocity(VectorX<T>(v)), external);
  const VectorX<T> a_joint = G.expand_velocity(VectorX<T>(a));

  std::vector<Vector6<T>> A(links.size(), detail::base_acceleration(model));
  std::vector<Vector6<T>> F(links.size(), Vector6<T>::Zero());
  for (std::size_t i = 1; i < links.size(); ++i) {
    const auto& [p, v_start, nv, X, I, S, V, c, F_ext] = links[i];
    A[i] =
        X * A[static_cast<std::size_t>(p)] + detail::times<T>(S, a_joint.segment(v_start, nv)) + c;
    F[i] = I * A[i] + detail::bias_force(links[i]);
  }
  VectorX<T> tau(model.uncoupled_nv());
  for (std::size_t i = links.size() - 1; i > 0; --i) {
    const auto& [p, v_start, nv, X, I, S, V, c, F_ext] = links[i];
    tau.segment(v_start, nv) = S.transpose().lazyProduct(F[i]);
    F[static_cast<std::size_t>(p)] += X.transpose() * F[i];
  }
  return G.reduce_force(tau);
}

template <typename T>
MatrixX<T> crba(const Model<T>& model, VectorIn<T>& q) {
  check_position("featherstone::crba", "q", model, q);
  const VectorX<T> rest = VectorX<T>::Constant(model.uncoupled_nv(), T(0));
  const auto links = detail::links<T>("featherstone::crba", model,
                                      model.coupling().expand_position(VectorX<T>(q)), rest, {});

  std::vector<Matrix6<T>> Ic;
  for (const auto& link : links) Ic.push_back(link.I);
  MatrixX<T> M = MatrixX<T>::Constant(model.uncoupled_nv(), model.uncoupled_nv(), T(0));
  for (std::size_t i = links.size() - 1; i > 0; --i) {
    const auto& [p, v_start, nv, X, I, S, V, c, F_ext] = links[i];
    Ic[static_cast<std::size_t>(p)] += X.transpose() * Ic[i] * X;
    Matrix6X<T> F = Ic[i].lazyProduct(S);
    M.block(v_start, v_start, nv, nv) = S.transpose().lazyProduct(F);
    for (std::size_t j = i; links[j].p > 0;) {
      F = links[j].X.transpose().lazyProduct(F).eval();
      j = static_cast<std::size_t>(links[j].p);
      const MatrixX<T> M_ij = F.transpose().lazyProduct(links[j].S);
      M.block(v_start, links[j].v_start, nv, links[j].nv) = M_ij;
      M.block(links[j].v_start, v_start, links[j].nv, nv) = M_ij.transpose();
    }
  }
  if (model.coupling().is_identity()) return M;
  const MatrixX<T> G = model.coupling().matrix();
  const MatrixX<T> MG = M.lazyProduct(G);
  return G.transpose().lazyProduct(MG);
}

template <typename T>
VectorX<T> aba(const Model<T>& model, VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
               WrenchesIn<T> external) {
  check_position("featherstone::aba", "q", model, q);
  check_velocity("featherstone::aba", "v", model, v);
  check_velocity("featherstone::aba", "tau", model, tau);
  if (!model.coupling().is_identity()) {
    const VectorX<T> rest = VectorX<T>::Constant(model.nv(), T(0));
    const VectorX<T> force = tau - rnea<T>(model, q, v, rest, external);
    return Ldlt<T>("featherstone::aba", crba<T>(model, q)).solve(force);
  }

  const auto links = detail::links<T>("featherstone::aba", model, q, v, external);
  const std::size_t n = links.size();
  std::vector<Matrix6<T>> IA;
  std::vector<Vector6<T>> pA;
  for (const auto& link : links) {
    IA.push_back(link.I);
    pA.push_back(detail::bias_force(link));
  }
  std::vector<Matrix6X<T>> U(n);
  std::vector<VectorX<T>> u(n);
  std::vector<Ldlt<T>> D(n);
  for (std::size_t i = n - 1; i > 0; --i) {
    const auto& [p, v_start, nv, X, I, S, V, c, F_ext] = links[i];
    U[i] = IA[i].lazyProduct(S);
    D[i] = Ldlt<T>("featherstone::aba", S.transpose().lazyProduct(U[i]));
    u[i] = VectorX<T>(tau.segment(v_start, nv)) - S.transpose().lazyProduct(pA[i]);
    const Matrix6<T> Ia = IA[i] - U[i].lazyProduct(D[i].solve(U[i].transpose()));
    const Vector6<T> pa = pA[i] + Ia * c + U[i].lazyProduct(D[i].solve(u[i]));
    IA[static_cast<std::size_t>(p)] += X.transpose() * Ia * X;
    pA[static_cast<std::size_t>(p)] += X.transpose() * pa;
  }
  VectorX<T> a(model.uncoupled_nv());
  std::vector<Vector6<T>> A(n, detail::base_acceleration(model));
  for (std::size_t i = 1; i < n; ++i) {
    const auto& [p, v_start, nv, X, I, S, V, c, F_ext] = links[i];
    const Vector6<T> A_without = X * A[static_cast<std::size_t>(p)] + c;
    const VectorX<T> a_i = D[i].solve(u[i] - U[i].transpose().lazyProduct(A_without));
    a.segment(v_start, nv) = a_i;
    A[i] = A_without + detail::times<T>(S, a_i);
  }
  return a;
}

}  // namespace limb::textbook::featherstone
