#pragma once

#include "limb/dynamics/identify/parameter_derivatives.hpp"

namespace limb {

/// The arrays of a ParameterDerivativeWorkspace.
template <typename T>
struct ParameterDerivativeWorkspaceData {
  explicit ParameterDerivativeWorkspaceData(const Model<T>& model);

  ConstraintSet<T> set;  ///< the loops of the model
  ConstrainedDerivativeWorkspace<T> work;
  VectorX<T> f;
  MatrixX<T> df_dp;
};

}  // namespace limb
