#pragma once

#include "limb/dynamics/aba_derivatives.hpp"
#include "limb/dynamics/rnea_gradient.hpp"
#include "limb/math/dual.hpp"

/// Second derivatives of inverse dynamics tau = rnea(q, v, a) and of forward dynamics
/// a = aba(q, v, tau): along a direction, summed with multipliers, or all of them.
///
/// What a second derivative by coordinates means here: column j of a first derivative is the change
/// along integrate(q, e e_j). Its second derivative along e_k is the change of that column's
/// entries along integrate(q, e e_k). For angles and lengths the order does not matter. For free,
/// spherical and planar joints it does: moving along e_j, then along e_k does not end where the
/// other order ends, and the two second derivatives differ by the first derivative along [e_j,
/// e_k]. Their mean is the Hessian of x -> f(integrate(q, x)) at x = 0, which is what an optimiser
/// that steps by integrate needs; *_hessian give that one, *_along and *_second_derivatives the
/// derivative of the first derivatives' entries. Between q and v, a or tau there is one second
/// derivative only.
///
/// Effects of drives have no second derivatives but through M^-1. No function allocates after its
/// workspace is made; each throws Error if a size is wrong, before anything is computed.
namespace limb {

/// The scratch memory of these functions: one for each thread and model.
template <typename T>
class SecondDerivativeWorkspace {
 public:
  explicit SecondDerivativeWorkspace(const Model<T>& model);

  // For the algorithms of this room.

  using One = Dual<T, 1>;   ///< along a direction
  using Many = Dual<T, 8>;  ///< along so many unit directions at a time

  /// A robot of another scalar with its inputs and results.
  template <typename S>
  struct Lifted {
    explicit Lifted(const Model<T>& model);
    Model<S> model;
    VectorX<S> q, v, a, step;
    std::vector<FrameWrench<S>> external;  ///< one for each body
  };
  Lifted<One> one;
  DerivativeWorkspace<One> one_work;
  MatrixX<One> dq, dv, da;
  Lifted<Many> many;
  GradientWorkspace<Many> many_work;
  VectorX<Many> lambda, by_q, by_v, by_a;

  DerivativeWorkspace<T> first;
  VectorX<T> a, step, mu, zero;
  MatrixX<T> a_q, a_v, a_tau, room;
  std::vector<Force<T>> F_B;  ///< on each body, from outside
};

/// Derivatives along the direction (dq, dv, da) of the three matrices of rnea_derivatives:
/// d/de of dtau_dq, dtau_dv and dtau_da = M at integrate(q, e dq), v + e dv, a + e da. O(n d).
template <typename T>
void rnea_derivatives_along(const Model<T>& model, SecondDerivativeWorkspace<T>& work,
                            VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a, VectorIn<T>& dq,
                            VectorIn<T>& dv, VectorIn<T>& da, MatrixOut<T> d_dtau_dq,
                            MatrixOut<T> d_dtau_dv, MatrixOut<T> d_dtau_da,
                            WrenchesIn<T> external = {}, const JointEffects& effects = {});

/// The same of aba_derivatives along (dq, dv, dtau): of ddq_dq, ddq_dv and ddq_dtau = M^-1. O(n^2
/// d).
/// @returns -1, or as aba_derivatives, with every result NaN. Robots without loops.
template <typename T>
int aba_derivatives_along(const Model<T>& model, SecondDerivativeWorkspace<T>& work, VectorIn<T>& q,
                          VectorIn<T>& v, VectorIn<T>& tau, VectorIn<T>& dq, VectorIn<T>& dv,
                          VectorIn<T>& dtau, MatrixOut<T> d_ddq_dq, MatrixOut<T> d_ddq_dv,
                          MatrixOut<T> d_ddq_dtau, WrenchesIn<T> external = {},
                          const JointEffects& effects = {});

/// Blocks of the Hessian of lambda . rnea(integrate(q, x), v, a) by x (at 0), v and a; qv(j, k) is
/// the one by x_j and v_k. The blocks va and aa are zero. O(n^2): a gradient in O(n) along each
/// direction. [Nganga 2021, second-order dynamics]
template <typename T>
void rnea_hessian(const Model<T>& model, SecondDerivativeWorkspace<T>& work, VectorIn<T>& q,
                  VectorIn<T>& v, VectorIn<T>& a, VectorIn<T>& lambda, MatrixOut<T> qq,
                  MatrixOut<T> qv, MatrixOut<T> vv, MatrixOut<T> qa, WrenchesIn<T> external = {},
                  const JointEffects& effects = {});

/// The same of lambda . aba(integrate(q, x), v, tau) by x, v and tau; vtau and tautau are zero.
/// O(n^3), of which the most is one product of matrices.
/// @returns -1, or as aba_derivatives, with every result NaN. Robots without loops.
template <typename T>
int aba_hessian(const Model<T>& model, SecondDerivativeWorkspace<T>& work, VectorIn<T>& q,
                VectorIn<T>& v, VectorIn<T>& tau, VectorIn<T>& lambda, MatrixOut<T> qq,
                MatrixOut<T> qv, MatrixOut<T> vv, MatrixOut<T> qtau, WrenchesIn<T> external = {},
                const JointEffects& effects = {});

/// n x n x n numbers: (i, j, k) is the derivative along direction k of entry (i, j) of a first
/// derivative.
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

/// All second derivatives of n results; xy holds the derivatives along y of the first derivatives
/// by x. u is a for inverse dynamics and tau for forward dynamics. The others are zero, or vq with
/// two indices exchanged. n^3 numbers each: for small robots.
template <typename T>
struct SecondDerivatives {
  explicit SecondDerivatives(int n) : qq(n), vq(n), vv(n), uq(n) {}
  SecondDerivative<T> qq, vq, vv, uq;
};

/// O(n^2 d).
template <typename T>
void rnea_second_derivatives(const Model<T>& model, SecondDerivativeWorkspace<T>& work,
                             VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& a,
                             SecondDerivatives<T>& out, WrenchesIn<T> external = {},
                             const JointEffects& effects = {});

/// O(n^3 d). @returns -1, or as aba_derivatives, with every result NaN. Robots without loops.
template <typename T>
int aba_second_derivatives(const Model<T>& model, SecondDerivativeWorkspace<T>& work,
                           VectorIn<T>& q, VectorIn<T>& v, VectorIn<T>& tau,
                           SecondDerivatives<T>& out, WrenchesIn<T> external = {},
                           const JointEffects& effects = {});

}  // namespace limb
