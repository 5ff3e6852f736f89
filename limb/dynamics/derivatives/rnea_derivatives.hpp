#pragma once

#include "limb/dynamics/derivatives/derivative_workspace.hpp"
#include "limb/dynamics/recursive/external.hpp"

namespace limb {

/// Derivatives of inverse dynamics tau = rnea(q, v, a), each n x n:
///
///   dtau = dtau_dq dq + dtau_dv dv + dtau_da da,    dtau_da = M(q)
///
/// dq is a tangent vector: column k is the derivative along integrate(q, eps e_k), in body axes
/// for free, spherical and planar joints. Analytical, one traversal of the tree, O(n d) for d the
/// depth, no allocation. Coulomb friction is constant between changes of direction: its derivative
/// is zero. [Singh 2022, analytical derivatives], docs/derivations/derivatives.md.
///
/// @throws Error if a size is wrong, before anything is computed.
template <typename T>
void rnea_derivatives(const Model<T>& model, DerivativeWorkspace<T>& work, VectorIn<T>& q,
                      VectorIn<T>& v, VectorIn<T>& a, MatrixOut<T> dtau_dq, MatrixOut<T> dtau_dv,
                      MatrixOut<T> dtau_da, const JointEffects& effects = {});

/// The same with external wrenches on frames, constant in the axes of the frames.
template <typename T>
void rnea_derivatives(const Model<T>& model, DerivativeWorkspace<T>& work, VectorIn<T>& q,
                      VectorIn<T>& v, VectorIn<T>& a, WrenchesIn<T> external, MatrixOut<T> dtau_dq,
                      MatrixOut<T> dtau_dv, MatrixOut<T> dtau_da, const JointEffects& effects = {});

/// Alias of rnea_derivatives.
template <typename T>
void inverse_dynamics_derivatives(const Model<T>& model, DerivativeWorkspace<T>& work,
                                  VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a,
                                  MatrixOut<T> dtau_dq, MatrixOut<T> dtau_dv, MatrixOut<T> dtau_da,
                                  const JointEffects& effects = {}) {
  rnea_derivatives<T>(model, work, q, v, a, dtau_dq, dtau_dv, dtau_da, effects);
}
template <typename T>
void inverse_dynamics_derivatives(const Model<T>& model, DerivativeWorkspace<T>& work,
                                  VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a,
                                  WrenchesIn<T> external, MatrixOut<T> dtau_dq,
                                  MatrixOut<T> dtau_dv, MatrixOut<T> dtau_da,
                                  const JointEffects& effects = {}) {
  rnea_derivatives<T>(model, work, q, v, a, external, dtau_dq, dtau_dv, dtau_da, effects);
}

}  // namespace limb
