#pragma once

#include "limb/dynamics/constrained_derivatives.hpp"

/// Derivatives of forward dynamics by the inertial parameters p of the bodies (regressor.hpp). With
/// the regressor Y at the accelerations, rnea(q, v, a) = Y p, so those of inverse dynamics are Y
/// itself and
///
///   M da + Y dp = J^T df,    J da = 0
///
/// No allocation; each throws Error if a size is wrong, before anything is computed.
namespace limb {

/// Of constrained_forward_dynamics: a, f, da_dp (n x parameter_count()) and df_dp (set.rows() x
/// parameter_count()).
/// @returns as constrained_forward_dynamics; if singular, every result is NaN.
template <typename T>
ConstrainedReport<T> constrained_parameter_derivatives(
    const Model<T>& model, const ConstraintSet<T>& set, ConstrainedDerivativeWorkspace<T>& work,
    VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau, WrenchesIn<T> external, VectorOut<T> a,
    VectorOut<T> f, MatrixOut<T> da_dp, MatrixOut<T> df_dp, const ConstrainedOptions& options = {});

/// Scratch of aba_parameter_derivatives: one for each thread and model.
template <typename T>
struct ParameterDerivativeWorkspace {
  explicit ParameterDerivativeWorkspace(const Model<T>& model);

  // For the algorithms of this room.
  ConstraintSet<T> set;  ///< the loops of the model
  ConstrainedDerivativeWorkspace<T> work;
  VectorX<T> f;
  MatrixX<T> df_dp;
};

/// Of aba, loops closed: a and ddq_dp (n x parameter_count()) = -M^-1 Y for a tree.
/// @returns -1, or as aba if the mass matrix is singular, with every result NaN.
template <typename T>
int aba_parameter_derivatives(const Model<T>& model, ParameterDerivativeWorkspace<T>& work,
                              VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
                              WrenchesIn<T> external, VectorOut<T> a, MatrixOut<T> ddq_dp,
                              const JointEffects& effects = {});

}  // namespace limb
