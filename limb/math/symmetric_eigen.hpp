#pragma once

#include "limb/math/scalar.hpp"

/// Eigenvalues of small symmetric matrices in double, compiled once: the solvers are the slowest
/// templates of this module to compile. Float callers convert, which costs less than a second
/// instantiation.
namespace limb {

struct SymmetricEigen {
  Vector3<double> values;   ///< ascending
  Matrix3<double> vectors;  ///< columns, orthonormal
};

/// S must be finite; its lower triangle is read.
SymmetricEigen symmetric_eigen(const Matrix3<double>& S);
double smallest_eigenvalue(const Matrix4<double>& S);

}  // namespace limb
