#pragma once

#include "limb/dynamics/constraints/constrained_derivatives.hpp"
#include "limb/dynamics/factor/factor_report.hpp"

/// Derivatives of forward dynamics by the inertial parameters p of the bodies (regressor.hpp). With
/// the regressor Y at the accelerations, rnea(q, v, a) = Y p, so the derivative of inverse dynamics
/// is Y and
///
///   M da + Y dp = J^T df,    J da = 0
///
/// No allocation; each function throws Error if a size is wrong, before anything is computed.
namespace limb {

/// constrained_forward_dynamics and its derivatives: a, f, da_dp (n x parameter_count()) and df_dp
/// (set.rows() x parameter_count()).
/// @returns as constrained_forward_dynamics; if singular, every result is NaN.
template <typename T>
ConstrainedReport<T> constrained_parameter_derivatives(
    const Model<T>& model, const ConstraintSet<T>& set, ConstrainedDerivativeWorkspace<T>& work,
    VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau, WrenchesIn<T> external, VectorOut<T> a,
    VectorOut<T> f, MatrixOut<T> da_dp, MatrixOut<T> df_dp, const ConstrainedOptions& options = {});
/// The same without external wrenches.
template <typename T>
ConstrainedReport<T> constrained_parameter_derivatives(
    const Model<T>& model, const ConstraintSet<T>& set, ConstrainedDerivativeWorkspace<T>& work,
    VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau, VectorOut<T> a, VectorOut<T> f,
    MatrixOut<T> da_dp, MatrixOut<T> df_dp, const ConstrainedOptions& options = {}) {
  return constrained_parameter_derivatives<T>(model, set, work, q, v, tau, WrenchesIn<T>(), a, f,
                                              da_dp, df_dp, options);
}

template <typename T>
struct ParameterDerivativeWorkspaceData;

/// Scratch of aba_parameter_derivatives: one per thread and model.
template <typename T>
class ParameterDerivativeWorkspace {
 public:
  explicit ParameterDerivativeWorkspace(const Model<T>& model);

  /// @throws Error unless this was made for that model, or for a copy of it.
  void check(const char* call, const Model<T>& model) const;

  /// Internal: for the algorithms of this module, which include parameter_derivatives_data.hpp.
  ParameterDerivativeWorkspaceData<T>& data() { return *data_; }
  const ParameterDerivativeWorkspaceData<T>& data() const { return *data_; }

 private:
  CopyablePtr<ParameterDerivativeWorkspaceData<T>> data_;
};

/// aba with closed loops, and its derivative: a and da_dp (n x parameter_count()), -M^-1 Y for a
/// tree.
/// @returns as aba; if singular, every result is NaN.
template <typename T>
FactorReport aba_parameter_derivatives(const Model<T>& model, ParameterDerivativeWorkspace<T>& work,
                                       VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
                                       WrenchesIn<T> external, VectorOut<T> a, MatrixOut<T> da_dp,
                                       const JointEffects& effects = {});
/// The same without external wrenches.
template <typename T>
FactorReport aba_parameter_derivatives(const Model<T>& model, ParameterDerivativeWorkspace<T>& work,
                                       VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
                                       VectorOut<T> a, MatrixOut<T> da_dp,
                                       const JointEffects& effects = {}) {
  return aba_parameter_derivatives<T>(model, work, q, v, tau, WrenchesIn<T>(), a, da_dp, effects);
}

}  // namespace limb
