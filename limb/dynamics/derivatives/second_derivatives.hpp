#pragma once

#include "limb/dynamics/derivatives/aba_derivatives.hpp"
#include "limb/dynamics/derivatives/rnea_gradient.hpp"
#include "limb/dynamics/factor/factor_report.hpp"

/// Second derivatives of inverse dynamics tau = rnea(q, v, a) and of forward dynamics
/// a = aba(q, v, tau): along a direction, contracted with multipliers, or the full tensors.
///
/// Meaning of a second derivative by coordinates: column j of a first derivative is the derivative
/// along integrate(q, eps e_j), eps small. Its second derivative along e_k is the derivative of the
/// entries of that column along integrate(q, eps e_k). For angles and lengths the order does not
/// matter. For free, spherical and planar joints it does: moving along e_j, then along e_k does not
/// end where the other order ends, and the two second derivatives differ by the first derivative
/// along [e_j, e_k]. Their mean is the Hessian of x -> f(integrate(q, x)) at x = 0, which an
/// optimizer that updates q with integrate needs; *_hessian return this one, *_along and
/// *_second_derivatives the derivatives of the entries of the first derivatives. Mixed second
/// derivatives by q and v, a or tau do not depend on the order.
///
/// Joint effects have second derivatives only through M^-1. No function allocates after its
/// workspace is made; each throws Error if a size is wrong, before anything is computed.
namespace limb {

template <typename T>
struct SecondDerivativeWorkspaceData;

/// Scratch memory of these functions: one per thread and model.
template <typename T>
class SecondDerivativeWorkspace {
 public:
  explicit SecondDerivativeWorkspace(const Model<T>& model);

  /// @throws Error unless this was made for that model, or for a copy of it.
  void check(const char* call, const Model<T>& model) const;

  /// Internal: for the algorithms of this module, which include second_derivatives_data.hpp.
  SecondDerivativeWorkspaceData<T>& data() { return *data_; }
  const SecondDerivativeWorkspaceData<T>& data() const { return *data_; }

 private:
  CopyablePtr<SecondDerivativeWorkspaceData<T>> data_;
};

/// Derivatives along the direction (dq, dv, da) of the three matrices of rnea_derivatives:
/// d/deps of dtau_dq, dtau_dv and dtau_da = M at integrate(q, eps dq), v + eps dv, a + eps da, at
/// eps = 0. O(n d).
template <typename T>
void rnea_derivatives_along(const Model<T>& model, SecondDerivativeWorkspace<T>& work,
                            VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a, WrenchesIn<T> external,
                            VectorIn<T>& dq, VectorIn<T>& dv, VectorIn<T>& da,
                            MatrixOut<T> d_dtau_dq, MatrixOut<T> d_dtau_dv, MatrixOut<T> d_dtau_da,
                            const JointEffects& effects = {});
/// The same without external wrenches.
template <typename T>
void rnea_derivatives_along(const Model<T>& model, SecondDerivativeWorkspace<T>& work,
                            VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a, VectorIn<T>& dq,
                            VectorIn<T>& dv, VectorIn<T>& da, MatrixOut<T> d_dtau_dq,
                            MatrixOut<T> d_dtau_dv, MatrixOut<T> d_dtau_da,
                            const JointEffects& effects = {}) {
  rnea_derivatives_along<T>(model, work, q, v, a, WrenchesIn<T>(), dq, dv, da, d_dtau_dq, d_dtau_dv,
                            d_dtau_da, effects);
}

/// Derivatives along (dq, dv, dtau) of the matrices of aba_derivatives: da_dq, da_dv and
/// da_dtau = M^-1. O(n^2 d). Only for models without loops.
/// @returns as aba_derivatives.
template <typename T>
FactorReport aba_derivatives_along(const Model<T>& model, SecondDerivativeWorkspace<T>& work,
                                   VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
                                   WrenchesIn<T> external, VectorIn<T>& dq, VectorIn<T>& dv,
                                   VectorIn<T>& dtau, MatrixOut<T> d_da_dq, MatrixOut<T> d_da_dv,
                                   MatrixOut<T> d_da_dtau, const JointEffects& effects = {});
/// The same without external wrenches.
template <typename T>
FactorReport aba_derivatives_along(const Model<T>& model, SecondDerivativeWorkspace<T>& work,
                                   VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
                                   VectorIn<T>& dq, VectorIn<T>& dv, VectorIn<T>& dtau,
                                   MatrixOut<T> d_da_dq, MatrixOut<T> d_da_dv,
                                   MatrixOut<T> d_da_dtau, const JointEffects& effects = {}) {
  return aba_derivatives_along<T>(model, work, q, v, tau, WrenchesIn<T>(), dq, dv, dtau, d_da_dq,
                                  d_da_dv, d_da_dtau, effects);
}

/// Blocks of the Hessian of lambda . rnea(integrate(q, x), v, a) by x (at 0), v and a; qv(j, k) is
/// the entry for x_j and v_k. The blocks va and aa are zero. O(n^2): an O(n) gradient along each
/// direction. [Nganga 2021, second-order dynamics]
template <typename T>
void rnea_hessian(const Model<T>& model, SecondDerivativeWorkspace<T>& work, VectorIn<T>& q,
                  VectorIn<T>& v, VectorIn<T>& a, WrenchesIn<T> external, VectorIn<T>& lambda,
                  MatrixOut<T> qq, MatrixOut<T> qv, MatrixOut<T> vv, MatrixOut<T> qa,
                  const JointEffects& effects = {});
/// The same without external wrenches.
template <typename T>
void rnea_hessian(const Model<T>& model, SecondDerivativeWorkspace<T>& work, VectorIn<T>& q,
                  VectorIn<T>& v, VectorIn<T>& a, VectorIn<T>& lambda, MatrixOut<T> qq,
                  MatrixOut<T> qv, MatrixOut<T> vv, MatrixOut<T> qa,
                  const JointEffects& effects = {}) {
  rnea_hessian<T>(model, work, q, v, a, WrenchesIn<T>(), lambda, qq, qv, vv, qa, effects);
}

/// Blocks of the Hessian of lambda . aba(integrate(q, x), v, tau) by x, v and tau; vtau and tautau
/// are zero. O(n^3), mostly one matrix product. Only for models without loops.
/// @returns as aba_derivatives.
template <typename T>
FactorReport aba_hessian(const Model<T>& model, SecondDerivativeWorkspace<T>& work, VectorIn<T>& q,
                         VectorIn<T>& v, VectorIn<T>& tau, WrenchesIn<T> external,
                         VectorIn<T>& lambda, MatrixOut<T> qq, MatrixOut<T> qv, MatrixOut<T> vv,
                         MatrixOut<T> qtau, const JointEffects& effects = {});
/// The same without external wrenches.
template <typename T>
FactorReport aba_hessian(const Model<T>& model, SecondDerivativeWorkspace<T>& work, VectorIn<T>& q,
                         VectorIn<T>& v, VectorIn<T>& tau, VectorIn<T>& lambda, MatrixOut<T> qq,
                         MatrixOut<T> qv, MatrixOut<T> vv, MatrixOut<T> qtau,
                         const JointEffects& effects = {}) {
  return aba_hessian<T>(model, work, q, v, tau, WrenchesIn<T>(), lambda, qq, qv, vv, qtau, effects);
}

/// An n x n x n tensor: entry (i, j, k) is the derivative along direction k of entry (i, j) of a
/// first derivative.
template <typename T>
class SecondDerivative {
 public:
  explicit SecondDerivative(int n) : n_(n), columns_(MatrixX<T>::Constant(n, n * n, T(0))) {}

  int size() const { return n_; }
  const T& operator()(int i, int j, int k) const { return columns_(i, k * n_ + j); }
  /// All entries along direction k, n x n.
  auto along(int k) const { return columns_.middleCols(k * n_, n_); }
  auto along(int k) { return columns_.middleCols(k * n_, n_); }

 private:
  int n_;
  MatrixX<T> columns_;
};

/// All second derivatives of n results; xy has the derivatives along y of the first derivatives by
/// x. u is a for inverse dynamics and tau for forward dynamics. The others are zero, or vq with two
/// indices exchanged. n^3 numbers each: for small robots.
template <typename T>
struct SecondDerivatives {
  explicit SecondDerivatives(int n) : qq(n), vq(n), vv(n), uq(n) {}
  SecondDerivative<T> qq, vq, vv, uq;
};

/// All second derivatives of inverse dynamics, O(n^2 d).
template <typename T>
void rnea_second_derivatives(const Model<T>& model, SecondDerivativeWorkspace<T>& work,
                             VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a, WrenchesIn<T> external,
                             SecondDerivatives<T>& out, const JointEffects& effects = {});
/// The same without external wrenches.
template <typename T>
void rnea_second_derivatives(const Model<T>& model, SecondDerivativeWorkspace<T>& work,
                             VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a,
                             SecondDerivatives<T>& out, const JointEffects& effects = {}) {
  rnea_second_derivatives<T>(model, work, q, v, a, WrenchesIn<T>(), out, effects);
}

/// All second derivatives of forward dynamics, O(n^3 d). Only for models without loops.
/// @returns as aba_derivatives.
template <typename T>
FactorReport aba_second_derivatives(const Model<T>& model, SecondDerivativeWorkspace<T>& work,
                                    VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
                                    WrenchesIn<T> external, SecondDerivatives<T>& out,
                                    const JointEffects& effects = {});
/// The same without external wrenches.
template <typename T>
FactorReport aba_second_derivatives(const Model<T>& model, SecondDerivativeWorkspace<T>& work,
                                    VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
                                    SecondDerivatives<T>& out, const JointEffects& effects = {}) {
  return aba_second_derivatives<T>(model, work, q, v, tau, WrenchesIn<T>(), out, effects);
}

}  // namespace limb
