#pragma once

#include "limb/dynamics/derivatives/rnea_derivatives.hpp"
#include "limb/dynamics/factor/factor_report.hpp"

namespace limb {

/// Forward dynamics a = aba(q, v, tau) and its derivatives, each n x n:
///
///   da = da_dq dq + da_dv dv + da_dtau dtau,    da_dtau = M(q)^-1
///
/// From the derivatives of inverse dynamics at a: M da_dq = -dtau_dq, M da_dv = -dtau_dv. Tangents
/// as in rnea_derivatives. No allocation, O(n^2 d). Loops of the model stay closed, as in aba: the
/// results are those of constrained_derivatives, and da_dtau is the constrained inverse inertia.
///
/// @returns as aba; if singular, every result is NaN.
/// @throws Error if a size is wrong, before anything is computed.
template <typename T>
FactorReport aba_derivatives(const Model<T>& model, DerivativeWorkspace<T>& work, VectorIn<T>& q,
                             VectorIn<T>& v, VectorIn<T>& tau, VectorOut<T> a, MatrixOut<T> da_dq,
                             MatrixOut<T> da_dv, MatrixOut<T> da_dtau,
                             const JointEffects& effects = {});

/// The same with external wrenches on frames, constant in the axes of the frames.
template <typename T>
FactorReport aba_derivatives(const Model<T>& model, DerivativeWorkspace<T>& work, VectorIn<T>& q,
                             VectorIn<T>& v, VectorIn<T>& tau, WrenchesIn<T> external,
                             VectorOut<T> a, MatrixOut<T> da_dq, MatrixOut<T> da_dv,
                             MatrixOut<T> da_dtau, const JointEffects& effects = {});

/// Alias of aba_derivatives.
template <typename T>
FactorReport forward_dynamics_derivatives(const Model<T>& model, DerivativeWorkspace<T>& work,
                                          VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
                                          VectorOut<T> a, MatrixOut<T> da_dq, MatrixOut<T> da_dv,
                                          MatrixOut<T> da_dtau, const JointEffects& effects = {}) {
  return aba_derivatives<T>(model, work, q, v, tau, a, da_dq, da_dv, da_dtau, effects);
}
template <typename T>
FactorReport forward_dynamics_derivatives(const Model<T>& model, DerivativeWorkspace<T>& work,
                                          VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
                                          WrenchesIn<T> external, VectorOut<T> a,
                                          MatrixOut<T> da_dq, MatrixOut<T> da_dv,
                                          MatrixOut<T> da_dtau, const JointEffects& effects = {}) {
  return aba_derivatives<T>(model, work, q, v, tau, external, a, da_dq, da_dv, da_dtau, effects);
}

}  // namespace limb
