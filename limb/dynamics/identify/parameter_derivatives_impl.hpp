#pragma once

#include "limb/dynamics/constraints/constrained_derivatives_impl.hpp"
#include "limb/dynamics/identify/parameter_derivatives_data.hpp"

namespace limb {

template <typename T>
ParameterDerivativeWorkspaceData<T>::ParameterDerivativeWorkspaceData(const Model<T>& model)
    : set(model, {}, all_loops(model)),
      work(model, set),
      f(VectorX<T>::Constant(set.max_rows(), T(0))),
      df_dp(MatrixX<T>::Constant(set.max_rows(), parameter_count(model), T(0))) {}

namespace parameter_derivatives_detail {

template <typename T>
ConstrainedReport<T> derivatives(const char* call, const Model<T>& model,
                                 const ConstraintSet<T>& set,
                                 ConstrainedDerivativeWorkspaceData<T>& work, VectorIn<T>& q,
                                 VectorIn<T>& v, VectorIn<T>& tau, WrenchesIn<T> external,
                                 VectorOut<T>& a, VectorOut<T>& f, MatrixOut<T>& da_dp,
                                 MatrixOut<T>& df_dp, const char* da_name,
                                 const ConstrainedOptions& options) {
  using namespace constrained_derivatives_detail;
  check_work(call, model, set, work);
  constraint_detail::check_arguments<T>(call, model, set, work.constraints.data(), q, v, "tau", tau,
                                        "a", a, f);
  const int n = model.nv(), parameters = parameter_count(model), rows = set.rows();
  check_shape(call, da_name, da_dp.rows(), da_dp.cols(), n, parameters);
  check_shape(call, "df_dp", df_dp.rows(), df_dp.cols(), rows, parameters);
  const ConstrainedReport<T> report = constrained_forward_dynamics<T>(
      model, set, work.constraints, q, v, tau, external, a, f, options);
  if (!report.ok()) {
    set_nan<T>(da_dp, df_dp);
    return report;
  }
  forward_kinematics<T>(model, q, v, a, work.kinematics);
  torque_regressor<T>(model, work.kinematics, work.regressor, da_dp);
  df_dp.setConstant(T(0));
  for (int k = 0; k < parameters; ++k) {
    for (int i = 0; i < n; ++i) da_dp(i, k) = -da_dp(i, k);
  }
  solve_constrained_columns<T>(set, work, da_dp, df_dp);
  for (int k = 0; k < parameters; ++k) {
    rotate_rows(set, work.constraints.data(), RowAxes::constraint,
                df_dp.data() + k * df_dp.outerStride());
  }
  return report;
}

}  // namespace parameter_derivatives_detail

template <typename T>
ParameterDerivativeWorkspace<T>::ParameterDerivativeWorkspace(const Model<T>& model)
    : data_(CopyablePtr<ParameterDerivativeWorkspaceData<T>>::make(model)) {}

template <typename T>
void ParameterDerivativeWorkspace<T>::check(const char* call, const Model<T>& model) const {
  data_->work.check(call, model, data_->set);
}

template <typename T>
ConstrainedReport<T> constrained_parameter_derivatives(
    const Model<T>& model, const ConstraintSet<T>& set, ConstrainedDerivativeWorkspace<T>& work,
    VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau, WrenchesIn<T> external, VectorOut<T> a,
    VectorOut<T> f, MatrixOut<T> da_dp, MatrixOut<T> df_dp, const ConstrainedOptions& options) {
  return parameter_derivatives_detail::derivatives<T>("constrained_parameter_derivatives", model,
                                                      set, work.data(), q, v, tau, external, a, f,
                                                      da_dp, df_dp, "da_dp", options);
}

template <typename T>
FactorReport aba_parameter_derivatives(const Model<T>& model,
                                       ParameterDerivativeWorkspace<T>& workspace, VectorIn<T>& q,
                                       VectorIn<T>& v, VectorIn<T>& tau, WrenchesIn<T> external,
                                       VectorOut<T> a, MatrixOut<T> da_dp,
                                       const JointEffects& effects) {
  ParameterDerivativeWorkspaceData<T>& work = workspace.data();
  VectorOut<T> f = work.f;
  MatrixOut<T> df_dp = work.df_dp;
  return parameter_derivatives_detail::derivatives<T>("aba_parameter_derivatives", model, work.set,
                                                      work.work.data(), q, v, tau, external, a, f,
                                                      da_dp, df_dp, "da_dp", {effects})
      .factor();
}

}  // namespace limb
