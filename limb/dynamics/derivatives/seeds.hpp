#pragma once

#include "limb/dynamics/kinematics/manifold_impl.hpp"
#include "limb/math/complex_step.hpp"
#include "limb/math/dual.hpp"

/// Seeds inputs with directions, for the differentiating scalars Dual and ComplexStep. S::kTangents
/// directions are propagated at once; tangent_of reads the derivatives from the results.
///
/// Configurations of a robot lie on a manifold: q moved along d is integrate(q, e d), in body axes
/// for free, spherical and planar joints, as everywhere in limb.
namespace limb {

/// x + sum of e_k D.col(k). D has as many rows as x and at most S::kTangents columns. No
/// allocation.
/// @throws Error if a size is wrong.
template <typename S>
void seed(VectorIn<typename S::Value>& x, MatrixIn<typename S::Value>& D, VectorOut<S> seeded) {
  check_size("seed", "seeded", seeded.size(), x.size());
  if (D.rows() != x.size() || D.cols() > S::kTangents) {
    check_shape("seed", "D", D.rows(), D.cols(), x.size(), S::kTangents);
  }
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    seeded[i] = S(x[i]);
    for (int k = 0; k < D.cols(); ++k) set_tangent(seeded[i], k, D(i, k));
  }
}

/// q moved along every column of D: integrate(q, sum of e_k D.col(k)). `step` is a buffer for the
/// velocity; no allocation.
/// @throws Error if a size is wrong.
template <typename S>
void seed_position(const Model<S>& model, VectorIn<typename S::Value>& q,
                   MatrixIn<typename S::Value>& D, VectorOut<S> step, VectorOut<S> seeded) {
  using T = typename S::Value;
  check_size("seed_position", "q", q.size(), model.nq(), kSizeHint);
  check_size("seed_position", "step", step.size(), model.nv(), kSizeHint);
  check_size("seed_position", "seeded", seeded.size(), model.nq(), kSizeHint);
  if (D.rows() != step.size() || D.cols() > S::kTangents) {
    check_shape("seed_position", "D", D.rows(), D.cols(), step.size(), S::kTangents);
  }
  for (Eigen::Index i = 0; i < step.size(); ++i) {
    step[i] = S(0);
    for (int k = 0; k < D.cols(); ++k) set_tangent(step[i], k, T(D(i, k)));
  }
  for (Eigen::Index i = 0; i < q.size(); ++i) seeded[i] = S(q[i]);
  integrate<S>(model, seeded, step, seeded);
}

namespace seeds_detail {

/// Calls visit(first, D) for all n unit directions in groups of S::kTangents.
template <typename S, typename Visit>
void for_each_group(Eigen::Index n, const Visit& visit) {
  using T = typename S::Value;
  for (Eigen::Index first = 0; first < n; first += S::kTangents) {
    const Eigen::Index count = std::min<Eigen::Index>(S::kTangents, n - first);
    MatrixX<T> D = MatrixX<T>::Zero(n, count);
    for (Eigen::Index k = 0; k < count; ++k) D(first + k, k) = T(1);
    visit(first, D);
  }
}

}  // namespace seeds_detail

/// The gradient of f at x: f takes a VectorX<S> and returns an S. n / S::kTangents calls, rounded
/// up.
template <typename S, typename F>
VectorX<typename S::Value> gradient(const VectorX<typename S::Value>& x, const F& f) {
  VectorX<typename S::Value> g(x.size());
  VectorX<S> seeded(x.size());
  seeds_detail::for_each_group<S>(x.size(), [&](Eigen::Index first, const auto& D) {
    seed<S>(x, D, seeded);
    const S y = f(seeded);
    for (int k = 0; k < D.cols(); ++k) g[first + k] = tangent_of(y, k);
  });
  return g;
}

/// The gradient by the configuration of a robot: entry k is the derivative of f(integrate(q, e
/// e_k)).
template <typename S, typename F>
VectorX<typename S::Value> gradient(const Model<S>& model, const VectorX<typename S::Value>& q,
                                    const F& f) {
  const Eigen::Index n = model.nv();
  VectorX<typename S::Value> g(n);
  VectorX<S> seeded(q.size()), step(n);
  seeds_detail::for_each_group<S>(n, [&](Eigen::Index first, const auto& D) {
    seed_position<S>(model, q, D, step, seeded);
    const S y = f(seeded);
    for (int k = 0; k < D.cols(); ++k) g[first + k] = tangent_of(y, k);
  });
  return g;
}

}  // namespace limb
