#pragma once

#include "limb/dynamics/rnea_derivatives.hpp"

namespace limb {

/// Forward dynamics a = aba(q, v, tau) and its derivatives, each n x n:
///
///   da = ddq_dq dq + ddq_dv dv + ddq_dtau dtau,    ddq_dtau = M(q)^-1
///
/// By those of inverse dynamics at a: M ddq_dq = -dtau_dq, M ddq_dv = -dtau_dv. Tangents as in
/// rnea_derivatives. No allocation, O(n^2 d). Loops of the model stay closed, as in aba: then by
/// constrained_derivatives, and ddq_dtau is what their forces leave of M^-1.
///
/// @returns -1, or as aba if the mass matrix is singular, with every result NaN.
/// @throws Error if a size is wrong, before anything is computed.
template <typename T>
int aba_derivatives(const Model<T>& model, DerivativeWorkspace<T>& work, VectorIn<T>& q,
                    VectorIn<T>& v, VectorIn<T>& tau, VectorOut<T> a, MatrixOut<T> ddq_dq,
                    MatrixOut<T> ddq_dv, MatrixOut<T> ddq_dtau, const JointEffects& effects = {});

/// The same with wrenches that the environment exerts on frames, constant in the frames' axes.
template <typename T>
int aba_derivatives(const Model<T>& model, DerivativeWorkspace<T>& work, VectorIn<T>& q,
                    VectorIn<T>& v, VectorIn<T>& tau, WrenchesIn<T> external, VectorOut<T> a,
                    MatrixOut<T> ddq_dq, MatrixOut<T> ddq_dv, MatrixOut<T> ddq_dtau,
                    const JointEffects& effects = {});

}  // namespace limb
