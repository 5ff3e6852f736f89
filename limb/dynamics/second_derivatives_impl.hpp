#pragma once

#include "limb/dynamics/manifold_impl.hpp"
#include "limb/dynamics/rnea_derivatives_impl.hpp"
#include "limb/dynamics/rnea_gradient_impl.hpp"
#include "limb/dynamics/second_derivatives.hpp"
#include "limb/model/model_impl.hpp"

// First derivatives are analytical; a dual number carries them along directions. Those of forward
// dynamics follow from M a + h = tau, differentiated twice: docs/derivations/second_derivatives.md.

namespace limb {

template <typename T>
template <typename S>
SecondDerivativeWorkspace<T>::Lifted<S>::Lifted(const Model<T>& robot)
    : model(robot.template cast<S>()) {
  q = VectorX<S>::Constant(model.position_size(), S(0));
  v = a = step = VectorX<S>::Constant(model.velocity_size(), S(0));
  // Any frame of a body will do to hand it a wrench; each body has one.
  for (int body = 1; body < model.body_count(); ++body) {
    for (std::size_t f = 0; f < model.frames().size(); ++f) {
      if (model.frames()[f].body.value() != body) continue;
      external.push_back({FrameId(static_cast<int>(f)), Force<S>()});
      break;
    }
  }
}

template <typename T>
SecondDerivativeWorkspace<T>::SecondDerivativeWorkspace(const Model<T>& model)
    : one(model), one_work(one.model), many(model), many_work(many.model), first(model) {
  const int n = model.velocity_size();
  dq = dv = da = MatrixX<One>::Constant(n, n, One(0));
  lambda = by_q = by_v = by_a = VectorX<Many>::Constant(n, Many(0));
  a = step = mu = zero = VectorX<T>::Constant(n, T(0));
  a_q = a_v = a_tau = room = MatrixX<T>::Constant(n, n, T(0));
  F_B.resize(model.bodies().size());
}

namespace second_detail {

/// The state and the wrenches as constants of the other scalar.
template <typename T, typename Lifted>
void lift(const char* call, const Model<T>& model, SecondDerivativeWorkspace<T>& work,
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
void check(const char* call, const Model<T>& model, const SecondDerivativeWorkspace<T>& work,
           VectorIn<T>& q, VectorIn<T>& v) {
  work.first.tree.check(call, model);
  check_position(call, "q", model, q);
  check_velocity(call, "v", model, v);
}
template <typename T>
void check_matrix(const char* call, const char* argument, const Model<T>& model,
                  const MatrixOut<T>& matrix) {
  const int n = model.velocity_size();
  check_shape(call, argument, matrix.rows(), matrix.cols(), n, n);
}

/// u is a for inverse and tau for forward dynamics, here and below.
template <typename T>
void check_hessian(const char* call, const Model<T>& model,
                   const SecondDerivativeWorkspace<T>& work, VectorIn<T>& q, VectorIn<T>& v,
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
void check_along(const char* call, const Model<T>& model, const SecondDerivativeWorkspace<T>& work,
                 VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& dq, VectorIn<T>& dv) {
  check<T>(call, model, work, q, v);
  check_velocity(call, "dq", model, dq);
  check_velocity(call, "dv", model, dv);
}

/// rnea_derivatives_along without checks.
template <typename T>
void derivatives_along(const char* call, const Model<T>& model, SecondDerivativeWorkspace<T>& work,
                       VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a, VectorIn<T>& dq,
                       VectorIn<T>& dv, VectorIn<T>& da, MatrixOut<T> d_dq, MatrixOut<T> d_dv,
                       MatrixOut<T> d_da, WrenchesIn<T> external, const JointEffects& effects) {
  using One = typename SecondDerivativeWorkspace<T>::One;
  auto& one = work.one;
  lift<T>(call, model, work, q, v, a, external, one);
  for (Eigen::Index i = 0; i < v.size(); ++i) {
    one.step[i].tangent[0] = dq[i];
    one.v[i].tangent[0] = dv[i];
    one.a[i].tangent[0] = da[i];
  }
  integrate<One>(one.model, one.q, one.step, one.q);
  rnea_derivatives<One>(one.model, work.one_work, one.q, one.v, one.a, one.external, work.dq,
                        work.dv, work.da, effects);
  const auto read = [](const MatrixX<One>& from, MatrixOut<T>& to) {
    for (Eigen::Index c = 0; c < from.cols(); ++c) {
      for (Eigen::Index r = 0; r < from.rows(); ++r) to(r, c) = from(r, c).tangent[0];
    }
  };
  read(work.dq, d_dq);
  read(work.dv, d_dv);
  read(work.da, d_da);
}

/// Accelerations, first derivatives and the factor of M. @returns as aba_derivatives.
template <typename T>
int forward(const Model<T>& model, SecondDerivativeWorkspace<T>& work, VectorIn<T>& q,
            VectorIn<T>& v, VectorIn<T>& tau, WrenchesIn<T> external, const JointEffects& effects) {
  return aba_derivatives<T>(model, work.first, q, v, tau, external, work.a, work.a_q, work.a_v,
                            work.a_tau, effects);
}

/// d_x <- -M^-1 (d_x + dM a_x), the change of a first derivative a_x by d_x, that of dtau_dx.
template <typename T>
void solve_change(SecondDerivativeWorkspace<T>& work, const MatrixX<T>& dM, const MatrixX<T>& a_x,
                  MatrixOut<T> d_x) {
  d_x += dM.lazyProduct(a_x);
  solve_mass_columns<T>(work.first.factor, d_x, d_x);
  d_x = -d_x;
}

/// aba_derivatives_along without checks, after forward().
template <typename T>
void forward_along(const char* call, const Model<T>& model, SecondDerivativeWorkspace<T>& work,
                   VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& dq, VectorIn<T>& dv,
                   VectorIn<T>& dtau, MatrixOut<T> d_dq, MatrixOut<T> d_dv, MatrixOut<T> d_dtau,
                   WrenchesIn<T> external, const JointEffects& effects) {
  work.step.noalias() = work.a_q.lazyProduct(dq);
  work.step.noalias() += work.a_v.lazyProduct(dv);
  work.step.noalias() += work.a_tau.lazyProduct(dtau);
  derivatives_along<T>(call, model, work, q, v, work.a, dq, dv, work.step, d_dq, d_dv, work.room,
                       external, effects);
  solve_change<T>(work, work.room, work.a_q, d_dq);
  solve_change<T>(work, work.room, work.a_v, d_dv);
  d_dtau.setConstant(T(0));
  solve_change<T>(work, work.room, work.a_tau, d_dtau);
}

/// rnea_hessian without checks; qq is symmetric.
template <typename T>
void hessian(const char* call, const Model<T>& model, SecondDerivativeWorkspace<T>& work,
             VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a, VectorIn<T>& lambda, MatrixOut<T>& qq,
             MatrixOut<T>& qv, MatrixOut<T>& vv, MatrixOut<T>& qa, WrenchesIn<T> external,
             const JointEffects& effects) {
  using Many = typename SecondDerivativeWorkspace<T>::Many;
  constexpr int kMany = Many::kTangents;
  auto& many = work.many;
  const int n = model.velocity_size();
  for (int i = 0; i < n; ++i) work.lambda[i] = Many(lambda[i]);
  const auto run = [&] {
    rnea_gradient<Many>(many.model, work.many_work, many.q, many.v, many.a, work.lambda, work.by_q,
                        work.by_v, work.by_a, many.external, effects);
  };
  for (int first = 0; first < n; first += kMany) {
    const int count = std::min(kMany, n - first);
    lift<T>(call, model, work, q, v, a, external, many);
    for (int k = 0; k < count; ++k) set_tangent(many.step[first + k], k, T(1));
    integrate<Many>(many.model, many.q, many.step, many.q);
    run();
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < count; ++k) {
        qq(i, first + k) = tangent_of(work.by_q[i], k);
        qv(first + k, i) = tangent_of(work.by_v[i], k);
        qa(first + k, i) = tangent_of(work.by_a[i], k);
      }
    }
    lift<T>(call, model, work, q, v, a, external, many);
    for (int k = 0; k < count; ++k) set_tangent(many.v[first + k], k, T(1));
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
int give_up(int singular, Matrices&&... matrices) {
  using T = typename std::decay_t<std::tuple_element_t<0, std::tuple<Matrices...>>>::Scalar;
  (matrices.setConstant(T(std::numeric_limits<double>::quiet_NaN())), ...);
  return singular;
}

}  // namespace second_detail

template <typename T>
void rnea_derivatives_along(const Model<T>& model, SecondDerivativeWorkspace<T>& work,
                            VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a, VectorIn<T>& dq,
                            VectorIn<T>& dv, VectorIn<T>& da, MatrixOut<T> d_dtau_dq,
                            MatrixOut<T> d_dtau_dv, MatrixOut<T> d_dtau_da, WrenchesIn<T> external,
                            const JointEffects& effects) {
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
int aba_derivatives_along(const Model<T>& model, SecondDerivativeWorkspace<T>& work, VectorIn<T>& q,
                          VectorIn<T>& v, VectorIn<T>& tau, VectorIn<T>& dq, VectorIn<T>& dv,
                          VectorIn<T>& dtau, MatrixOut<T> d_ddq_dq, MatrixOut<T> d_ddq_dv,
                          MatrixOut<T> d_ddq_dtau, WrenchesIn<T> external,
                          const JointEffects& effects) {
  constexpr const char* kCall = "aba_derivatives_along";
  second_detail::check_along<T>(kCall, model, work, q, v, dq, dv);
  check_velocity(kCall, "tau", model, tau);
  check_velocity(kCall, "dtau", model, dtau);
  second_detail::check_matrix<T>(kCall, "d_ddq_dq", model, d_ddq_dq);
  second_detail::check_matrix<T>(kCall, "d_ddq_dv", model, d_ddq_dv);
  second_detail::check_matrix<T>(kCall, "d_ddq_dtau", model, d_ddq_dtau);
  const int singular = second_detail::forward<T>(model, work, q, v, tau, external, effects);
  if (singular >= 0) return second_detail::give_up(singular, d_ddq_dq, d_ddq_dv, d_ddq_dtau);
  second_detail::forward_along<T>(kCall, model, work, q, v, dq, dv, dtau, d_ddq_dq, d_ddq_dv,
                                  d_ddq_dtau, external, effects);
  return -1;
}

template <typename T>
void rnea_hessian(const Model<T>& model, SecondDerivativeWorkspace<T>& work, VectorIn<T>& q,
                  VectorIn<T>& v, VectorIn<T>& a, VectorIn<T>& lambda, MatrixOut<T> qq,
                  MatrixOut<T> qv, MatrixOut<T> vv, MatrixOut<T> qa, WrenchesIn<T> external,
                  const JointEffects& effects) {
  constexpr const char* kCall = "rnea_hessian";
  second_detail::check_hessian<T>(kCall, model, work, q, v, "a", a, lambda, qq, qv, vv, "qa", qa);
  second_detail::hessian<T>(kCall, model, work, q, v, a, lambda, qq, qv, vv, qa, external, effects);
}

template <typename T>
int aba_hessian(const Model<T>& model, SecondDerivativeWorkspace<T>& work, VectorIn<T>& q,
                VectorIn<T>& v, VectorIn<T>& tau, VectorIn<T>& lambda, MatrixOut<T> qq,
                MatrixOut<T> qv, MatrixOut<T> vv, MatrixOut<T> qtau, WrenchesIn<T> external,
                const JointEffects& effects) {
  constexpr const char* kCall = "aba_hessian";
  second_detail::check_hessian<T>(kCall, model, work, q, v, "tau", tau, lambda, qq, qv, vv, "qtau",
                                  qtau);
  const int singular = second_detail::forward<T>(model, work, q, v, tau, external, effects);
  if (singular >= 0) return second_detail::give_up(singular, qq, qv, vv, qtau);
  solve_mass<T>(work.first.factor, lambda, work.mu);
  second_detail::hessian<T>(kCall, model, work, q, v, work.a, work.mu, qq, qv, vv, qtau, external,
                            effects);
  // qtau still holds the block qa of the torques.
  work.room.noalias() = qtau.lazyProduct(work.a_q);
  const int n = model.velocity_size();
  for (int c = 0; c < n; ++c) {
    for (int r = 0; r <= c; ++r) {
      qq(r, c) = qq(c, r) = -(qq(r, c) + work.room(r, c) + work.room(c, r));
    }
  }
  qv += qtau.lazyProduct(work.a_v);
  qv = -qv;
  vv = -vv;
  work.room.noalias() = qtau.lazyProduct(work.a_tau);
  qtau = -work.room;
  return -1;
}

template <typename T>
void rnea_second_derivatives(const Model<T>& model, SecondDerivativeWorkspace<T>& work,
                             VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a,
                             SecondDerivatives<T>& out, WrenchesIn<T> external,
                             const JointEffects& effects) {
  constexpr const char* kCall = "rnea_second_derivatives";
  second_detail::check<T>(kCall, model, work, q, v);
  check_velocity(kCall, "a", model, a);
  const int n = model.velocity_size();
  check_size(kCall, "out", out.qq.size(), n);
  for (int k = 0; k < n; ++k) {
    work.mu.setConstant(T(0));
    work.mu[k] = T(1);
    // Of these three the first is dtau_dq along v, which vq has already; it is overwritten.
    second_detail::derivatives_along<T>(kCall, model, work, q, v, a, work.zero, work.mu, work.zero,
                                        out.qq.along(k), out.vv.along(k), out.uq.along(k), external,
                                        effects);
    second_detail::derivatives_along<T>(kCall, model, work, q, v, a, work.mu, work.zero, work.zero,
                                        out.qq.along(k), out.vq.along(k), out.uq.along(k), external,
                                        effects);
  }
}

template <typename T>
int aba_second_derivatives(const Model<T>& model, SecondDerivativeWorkspace<T>& work,
                           VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
                           SecondDerivatives<T>& out, WrenchesIn<T> external,
                           const JointEffects& effects) {
  constexpr const char* kCall = "aba_second_derivatives";
  second_detail::check<T>(kCall, model, work, q, v);
  check_velocity(kCall, "tau", model, tau);
  const int n = model.velocity_size();
  check_size(kCall, "out", out.qq.size(), n);
  const int singular = second_detail::forward<T>(model, work, q, v, tau, external, effects);
  for (int k = 0; k < n; ++k) {
    if (singular >= 0) {
      second_detail::give_up(singular, out.qq.along(k), out.vq.along(k), out.vv.along(k),
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
  return singular;
}

}  // namespace limb
