#pragma once

#include <vector>

#include "limb/dynamics/derivatives/second_derivatives.hpp"
#include "limb/math/dual.hpp"

namespace limb {

/// The arrays of a SecondDerivativeWorkspace.
template <typename T>
struct SecondDerivativeWorkspaceData {
  explicit SecondDerivativeWorkspaceData(const Model<T>& model);

  using Dual1 = Dual<T, 1>;  ///< along one direction
  using Dual8 = Dual<T, 8>;  ///< along eight unit directions at a time

  /// A model of another scalar with its inputs.
  template <typename S>
  struct Lifted {
    explicit Lifted(const Model<T>& model);
    Model<S> model;
    VectorX<S> q, v, a, step;
    std::vector<FrameWrench<S>> external;  ///< one for each body
  };
  Lifted<Dual1> dual1;
  DerivativeWorkspace<Dual1> dual1_work;
  MatrixX<Dual1> dtau_dq, dtau_dv, dtau_da;
  Lifted<Dual8> dual8;
  GradientWorkspace<Dual8> dual8_work;
  VectorX<Dual8> lambda, by_q, by_v, by_a;

  DerivativeWorkspace<T> first;
  VectorX<T> a, step, mu, zero;
  MatrixX<T> da_dq, da_dv, da_dtau, buffer;
  std::vector<Force<T>> F_B;  ///< external wrench on each body
};

}  // namespace limb
