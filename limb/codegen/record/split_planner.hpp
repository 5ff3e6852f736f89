#pragma once

#include "limb/codegen/record/split.hpp"
#include "limb/dynamics/factor/packed_factor.hpp"

namespace limb::codegen {

/// The recorded factors of the derivatives of forward dynamics: those of inverse dynamics, the
/// inverse of the mass matrix and its factorization M = L^T D L.
struct DerivativeFactors {
  MatrixX<Traced> dtau_dq, dtau_dv, M_inverse;
  kernel::PackedFactor<Traced> F;
};

/// Adds to `split` the products that make da_dq and da_dv from their factors, and its results.
/// @returns the values that the first step has to compute.
MatrixX<Traced> plan_products(const DerivativeFactors& factors, Split& split);

}  // namespace limb::codegen
