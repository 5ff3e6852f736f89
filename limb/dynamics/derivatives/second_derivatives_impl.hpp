#pragma once

#include "limb/dynamics/derivatives/rnea_derivatives_impl.hpp"
#include "limb/dynamics/derivatives/rnea_gradient_impl.hpp"
#include "limb/dynamics/derivatives/second_derivatives_data.hpp"
#include "limb/dynamics/kinematics/manifold_impl.hpp"
#include "limb/model/core/model_impl.hpp"

// Analytical first derivatives, evaluated with dual numbers along directions. Those of forward
// dynamics follow from M a + h = tau, differentiated twice: docs/derivations/second_derivatives.md.
//
// Symbols:
//   d_x          derivative of dtau_dx, or of da_dx, along the direction
//   dM           derivative of the mass matrix along the direction
//   mu           M^-1 lambda
//   qq, qv, ...  blocks of the Hessian by the two quantities

namespace limb {

template <typename T>
template <typename S>
SecondDerivativeWorkspaceData<T>::Lifted<S>::Lifted(const Model<T>& robot)
    : model(robot.template cast<S>()) {
  q = VectorX<S>::Constant(model.nq(), S(0));
  v = a = step = VectorX<S>::Constant(model.nv(), S(0));
  // One frame per body, on which its external wrench acts.
  for (int body = 1; body < model.body_count(); ++body) {
    for (std::size_t f = 0; f < model.frames().size(); ++f) {
      if (model.frames()[f].body.value() != body) continue;
      external.push_back({FrameId(static_cast<int>(f)), Force<S>()});
      break;
    }
  }
}

template <typename T>
SecondDerivativeWorkspaceData<T>::SecondDerivativeWorkspaceData(const Model<T>& model)
    : dual1(model), dual1_work(dual1.model), dual8(model), dual8_work(dual8.model), first(model) {
  const int n = model.nv();
  dtau_dq = dtau_dv = dtau_da = MatrixX<Dual1>::Constant(n, n, Dual1(0));
  lambda = by_q = by_v = by_a = VectorX<Dual8>::Constant(n, Dual8(0));
  a = step = mu = zero = VectorX<T>::Constant(n, T(0));
  da_dq = da_dv = da_dtau = buffer = MatrixX<T>::Constant(n, n, T(0));
  F_B.resize(model.bodies().size());
}

template <typename T>
SecondDerivativeWorkspace<T>::SecondDerivativeWorkspace(const Model<T>& model)
    : data_(CopyablePtr<SecondDerivativeWorkspaceData<T>>::make(model)) {}

template <typename T>
void SecondDerivativeWorkspace<T>::check(const char* call, const Model<T>& model) const {
  data_->first.check(call, model);
}

namespace second_detail {

/// Copies the state and the wrenches to the other scalar, as constants.
template <typename T, typename Lifted>
void lift(const char* call, const Model<T>& model, SecondDerivativeWorkspaceData<T>& work,
          VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a, WrenchesIn<T> external, Lifted& to) {
  using S = typename std::decay_t<decltype(to.q)>::Scalar;
  for (Eigen::Index i = 0; i < q.size(); ++i) to.q[i] = S(q[i]);
  for (Eigen::Index i = 0; i < v.size(); ++i) {
    to.v[i] = S(v[i]);
    to.a[i] = S(a[i]);
    to.step[i] = S(0);
  }
  for (Force<T>& F : work.F_B) F = {};
  add_external<T>(call, model, external, work.F_B);
  for (FrameWrench<S>& wrench : to.external) {
    const Frame<T>& frame = model.frame(wrench.frame);
    const Force<T>& F_B = work.F_B[static_cast<std::size_t>(frame.body.value())];
    wrench.F_F = Force<S>::from_vector(frame.X_BF.inv_act(F_B).vector().template cast<S>());
  }
}

template <typename T>
void check(const char* call, const Model<T>& model, const SecondDerivativeWorkspaceData<T>& work,
           VectorIn<T>& q, VectorIn<T>& v) {
  work.first.check(call, model);
  check_position(call, "q", model, q);
  check_velocity(call, "v", model, v);
}
template <typename T>
void check_matrix(const char* call, const char* argument, const Model<T>& model,
                  const MatrixOut<T>& matrix) {
  const int n = model.nv();
  check_shape(call, argument, matrix.rows(), matrix.cols(), n, n);
}

/// u is a for inverse and tau for forward dynamics.
template <typename T>
void check_hessian(const char* call, const Model<T>& model,
                   const SecondDerivativeWorkspaceData<T>& work, VectorIn<T>& q, VectorIn<T>& v,
                   const char* u_name, VectorIn<T>& u, VectorIn<T>& lambda, const MatrixOut<T>& qq,
                   const MatrixOut<T>& qv, const MatrixOut<T>& vv, const char* qu_name,
                   const MatrixOut<T>& qu) {
  check<T>(call, model, work, q, v);
  check_velocity(call, u_name, model, u);
  check_velocity(call, "lambda", model, lambda);
  check_matrix<T>(call, "qq", model, qq);
  check_matrix<T>(call, "qv", model, qv);
  check_matrix<T>(call, "vv", model, vv);
  check_matrix<T>(call, qu_name, model, qu);
}
template <typename T>
void check_along(const char* call, const Model<T>& model,
                 const SecondDerivativeWorkspaceData<T>& work, VectorIn<T>& q, VectorIn<T>& v,
                 VectorIn<T>& dq, VectorIn<T>& dv) {
  check<T>(call, model, work, q, v);
  check_velocity(call, "dq", model, dq);
  check_velocity(call, "dv", model, dv);
}

/// rnea_derivatives_along without checks.
template <typename T>
void derivatives_along(const char* call, const Model<T>& model,
                       SecondDerivativeWorkspaceData<T>& work, VectorIn<T>& q, VectorIn<T>& v,
                       VectorIn<T>& a, VectorIn<T>& dq, VectorIn<T>& dv, VectorIn<T>& da,
                       MatrixOut<T> d_dq, MatrixOut<T> d_dv, MatrixOut<T> d_da,
                       WrenchesIn<T> external, const JointEffects& effects) {
  using Dual1 = typename SecondDerivativeWorkspaceData<T>::Dual1;
  auto& dual1 = work.dual1;
  lift<T>(call, model, work, q, v, a, external, dual1);
  for (Eigen::Index i = 0; i < v.size(); ++i) {
    dual1.step[i].tangent[0] = dq[i];
    dual1.v[i].tangent[0] = dv[i];
    dual1.a[i].tangent[0] = da[i];
  }
  integrate<Dual1>(dual1.model, dual1.q, dual1.step, dual1.q);
  rnea_derivatives<Dual1>(dual1.model, work.dual1_work, dual1.q, dual1.v, dual1.a, dual1.external,
                          work.dtau_dq, work.dtau_dv, work.dtau_da, effects);
  const auto read = [](const MatrixX<Dual1>& from, MatrixOut<T>& to) {
    for (Eigen::Index c = 0; c < from.cols(); ++c) {
      for (Eigen::Index r = 0; r < from.rows(); ++r) to(r, c) = from(r, c).tangent[0];
    }
  };
  read(work.dtau_dq, d_dq);
  read(work.dtau_dv, d_dv);
  read(work.dtau_da, d_da);
}

/// Accelerations, first derivatives and the factor of M. @returns as aba_derivatives.
template <typename T>
FactorReport forward(const Model<T>& model, SecondDerivativeWorkspaceData<T>& work, VectorIn<T>& q,
                     VectorIn<T>& v, VectorIn<T>& tau, WrenchesIn<T> external,
                     const JointEffects& effects) {
  return aba_derivatives<T>(model, work.first, q, v, tau, external, work.a, work.da_dq, work.da_dv,
                            work.da_dtau, effects);
}

/// d_x <- -M^-1 (d_x + dM da_dx): from the derivative of dtau_dx to that of da_dx.
template <typename T>
void solve_change(SecondDerivativeWorkspaceData<T>& work, const MatrixX<T>& dM,
                  const MatrixX<T>& da_dx, MatrixOut<T> d_x) {
  d_x += dM.lazyProduct(da_dx);
  solve_mass_columns<T>(work.first.data().factor, d_x, d_x);
  d_x = -d_x;
}

/// aba_derivatives_along without checks, after forward().
template <typename T>
void forward_along(const char* call, const Model<T>& model, SecondDerivativeWorkspaceData<T>& work,
                   VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& dq, VectorIn<T>& dv,
                   VectorIn<T>& dtau, MatrixOut<T> d_dq, MatrixOut<T> d_dv, MatrixOut<T> d_dtau,
                   WrenchesIn<T> external, const JointEffects& effects) {
  work.step.noalias() = work.da_dq.lazyProduct(dq);
  work.step.noalias() += work.da_dv.lazyProduct(dv);
  work.step.noalias() += work.da_dtau.lazyProduct(dtau);
  derivatives_along<T>(call, model, work, q, v, work.a, dq, dv, work.step, d_dq, d_dv, work.buffer,
                       external, effects);
  solve_change<T>(work, work.buffer, work.da_dq, d_dq);
  solve_change<T>(work, work.buffer, work.da_dv, d_dv);
  d_dtau.setConstant(T(0));
  solve_change<T>(work, work.buffer, work.da_dtau, d_dtau);
}

/// rnea_hessian without checks; qq is symmetric.
template <typename T>
void hessian(const char* call, const Model<T>& model, SecondDerivativeWorkspaceData<T>& work,
             VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a, VectorIn<T>& lambda, MatrixOut<T>& qq,
             MatrixOut<T>& qv, MatrixOut<T>& vv, MatrixOut<T>& qa, WrenchesIn<T> external,
             const JointEffects& effects) {
  using Dual8 = typename SecondDerivativeWorkspaceData<T>::Dual8;
  constexpr int kDirections = Dual8::kTangents;
  auto& dual8 = work.dual8;
  const int n = model.nv();
  for (int i = 0; i < n; ++i) work.lambda[i] = Dual8(lambda[i]);
  const auto run = [&] {
    rnea_gradient<Dual8>(dual8.model, work.dual8_work, dual8.q, dual8.v, dual8.a, dual8.external,
                         work.lambda, work.by_q, work.by_v, work.by_a, effects);
  };
  for (int first = 0; first < n; first += kDirections) {
    const int count = std::min(kDirections, n - first);
    lift<T>(call, model, work, q, v, a, external, dual8);
    for (int k = 0; k < count; ++k) set_tangent(dual8.step[first + k], k, T(1));
    integrate<Dual8>(dual8.model, dual8.q, dual8.step, dual8.q);
    run();
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < count; ++k) {
        qq(i, first + k) = tangent_of(work.by_q[i], k);
        qv(first + k, i) = tangent_of(work.by_v[i], k);
        qa(first + k, i) = tangent_of(work.by_a[i], k);
      }
    }
    lift<T>(call, model, work, q, v, a, external, dual8);
    for (int k = 0; k < count; ++k) set_tangent(dual8.v[first + k], k, T(1));
    run();
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < count; ++k) vv(i, first + k) = tangent_of(work.by_v[i], k);
    }
  }
  for (int c = 0; c < n; ++c) {
    for (int r = 0; r < c; ++r) {
      qq(r, c) = qq(c, r) = T(0.5) * (qq(r, c) + qq(c, r));
      vv(r, c) = vv(c, r) = T(0.5) * (vv(r, c) + vv(c, r));
    }
  }
}

template <typename... Matrices>
FactorReport set_nan_results(const FactorReport& report, Matrices&&... matrices) {
  using T = typename std::decay_t<std::tuple_element_t<0, std::tuple<Matrices...>>>::Scalar;
  (matrices.setConstant(T(std::numeric_limits<double>::quiet_NaN())), ...);
  return report;
}

}  // namespace second_detail

template <typename T>
void rnea_derivatives_along(const Model<T>& model, SecondDerivativeWorkspace<T>& workspace,
                            VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a, WrenchesIn<T> external,
                            VectorIn<T>& dq, VectorIn<T>& dv, VectorIn<T>& da,
                            MatrixOut<T> d_dtau_dq, MatrixOut<T> d_dtau_dv, MatrixOut<T> d_dtau_da,
                            const JointEffects& effects) {
  SecondDerivativeWorkspaceData<T>& work = workspace.data();
  constexpr const char* kCall = "rnea_derivatives_along";
  second_detail::check_along<T>(kCall, model, work, q, v, dq, dv);
  check_velocity(kCall, "a", model, a);
  check_velocity(kCall, "da", model, da);
  second_detail::check_matrix<T>(kCall, "d_dtau_dq", model, d_dtau_dq);
  second_detail::check_matrix<T>(kCall, "d_dtau_dv", model, d_dtau_dv);
  second_detail::check_matrix<T>(kCall, "d_dtau_da", model, d_dtau_da);
  second_detail::derivatives_along<T>(kCall, model, work, q, v, a, dq, dv, da, d_dtau_dq, d_dtau_dv,
                                      d_dtau_da, external, effects);
}

template <typename T>
FactorReport aba_derivatives_along(const Model<T>& model, SecondDerivativeWorkspace<T>& workspace,
                                   VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
                                   WrenchesIn<T> external, VectorIn<T>& dq, VectorIn<T>& dv,
                                   VectorIn<T>& dtau, MatrixOut<T> d_da_dq, MatrixOut<T> d_da_dv,
                                   MatrixOut<T> d_da_dtau, const JointEffects& effects) {
  SecondDerivativeWorkspaceData<T>& work = workspace.data();
  constexpr const char* kCall = "aba_derivatives_along";
  second_detail::check_along<T>(kCall, model, work, q, v, dq, dv);
  check_velocity(kCall, "tau", model, tau);
  check_velocity(kCall, "dtau", model, dtau);
  second_detail::check_matrix<T>(kCall, "d_da_dq", model, d_da_dq);
  second_detail::check_matrix<T>(kCall, "d_da_dv", model, d_da_dv);
  second_detail::check_matrix<T>(kCall, "d_da_dtau", model, d_da_dtau);
  const FactorReport report = second_detail::forward<T>(model, work, q, v, tau, external, effects);
  if (!report.ok()) return second_detail::set_nan_results(report, d_da_dq, d_da_dv, d_da_dtau);
  second_detail::forward_along<T>(kCall, model, work, q, v, dq, dv, dtau, d_da_dq, d_da_dv,
                                  d_da_dtau, external, effects);
  return report;
}

template <typename T>
void rnea_hessian(const Model<T>& model, SecondDerivativeWorkspace<T>& workspace, VectorIn<T>& q,
                  VectorIn<T>& v, VectorIn<T>& a, WrenchesIn<T> external, VectorIn<T>& lambda,
                  MatrixOut<T> qq, MatrixOut<T> qv, MatrixOut<T> vv, MatrixOut<T> qa,
                  const JointEffects& effects) {
  SecondDerivativeWorkspaceData<T>& work = workspace.data();
  constexpr const char* kCall = "rnea_hessian";
  second_detail::check_hessian<T>(kCall, model, work, q, v, "a", a, lambda, qq, qv, vv, "qa", qa);
  second_detail::hessian<T>(kCall, model, work, q, v, a, lambda, qq, qv, vv, qa, external, effects);
}

template <typename T>
FactorReport aba_hessian(const Model<T>& model, SecondDerivativeWorkspace<T>& workspace,
                         VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau, WrenchesIn<T> external,
                         VectorIn<T>& lambda, MatrixOut<T> qq, MatrixOut<T> qv, MatrixOut<T> vv,
                         MatrixOut<T> qtau, const JointEffects& effects) {
  SecondDerivativeWorkspaceData<T>& work = workspace.data();
  constexpr const char* kCall = "aba_hessian";
  second_detail::check_hessian<T>(kCall, model, work, q, v, "tau", tau, lambda, qq, qv, vv, "qtau",
                                  qtau);
  const FactorReport report = second_detail::forward<T>(model, work, q, v, tau, external, effects);
  if (!report.ok()) return second_detail::set_nan_results(report, qq, qv, vv, qtau);
  solve_mass<T>(work.first.data().factor, lambda, work.mu);
  second_detail::hessian<T>(kCall, model, work, q, v, work.a, work.mu, qq, qv, vv, qtau, external,
                            effects);
  // qtau still has the block qa of inverse dynamics.
  work.buffer.noalias() = qtau.lazyProduct(work.da_dq);
  const int n = model.nv();
  for (int c = 0; c < n; ++c) {
    for (int r = 0; r <= c; ++r) {
      qq(r, c) = qq(c, r) = -(qq(r, c) + work.buffer(r, c) + work.buffer(c, r));
    }
  }
  qv += qtau.lazyProduct(work.da_dv);
  qv = -qv;
  vv = -vv;
  work.buffer.noalias() = qtau.lazyProduct(work.da_dtau);
  qtau = -work.buffer;
  return report;
}

template <typename T>
void rnea_second_derivatives(const Model<T>& model, SecondDerivativeWorkspace<T>& workspace,
                             VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a, WrenchesIn<T> external,
                             SecondDerivatives<T>& out, const JointEffects& effects) {
  SecondDerivativeWorkspaceData<T>& work = workspace.data();
  constexpr const char* kCall = "rnea_second_derivatives";
  second_detail::check<T>(kCall, model, work, q, v);
  check_velocity(kCall, "a", model, a);
  const int n = model.nv();
  check_size(kCall, "out", out.qq.size(), n);
  for (int k = 0; k < n; ++k) {
    work.mu.setConstant(T(0));
    work.mu[k] = T(1);
    // The first of these three is dtau_dq along v, which vq has already; it is overwritten.
    second_detail::derivatives_along<T>(kCall, model, work, q, v, a, work.zero, work.mu, work.zero,
                                        out.qq.along(k), out.vv.along(k), out.uq.along(k), external,
                                        effects);
    second_detail::derivatives_along<T>(kCall, model, work, q, v, a, work.mu, work.zero, work.zero,
                                        out.qq.along(k), out.vq.along(k), out.uq.along(k), external,
                                        effects);
  }
}

template <typename T>
FactorReport aba_second_derivatives(const Model<T>& model, SecondDerivativeWorkspace<T>& workspace,
                                    VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
                                    WrenchesIn<T> external, SecondDerivatives<T>& out,
                                    const JointEffects& effects) {
  SecondDerivativeWorkspaceData<T>& work = workspace.data();
  constexpr const char* kCall = "aba_second_derivatives";
  second_detail::check<T>(kCall, model, work, q, v);
  check_velocity(kCall, "tau", model, tau);
  const int n = model.nv();
  check_size(kCall, "out", out.qq.size(), n);
  const FactorReport report = second_detail::forward<T>(model, work, q, v, tau, external, effects);
  for (int k = 0; k < n; ++k) {
    if (!report.ok()) {
      second_detail::set_nan_results(report, out.qq.along(k), out.vq.along(k), out.vv.along(k),
                                     out.uq.along(k));
      continue;
    }
    work.mu.setConstant(T(0));
    work.mu[k] = T(1);
    second_detail::forward_along<T>(kCall, model, work, q, v, work.zero, work.mu, work.zero,
                                    out.qq.along(k), out.vv.along(k), out.uq.along(k), external,
                                    effects);
    second_detail::forward_along<T>(kCall, model, work, q, v, work.mu, work.zero, work.zero,
                                    out.qq.along(k), out.vq.along(k), out.uq.along(k), external,
                                    effects);
  }
  return report;
}

}  // namespace limb
