#pragma once

#include "limb/dynamics/arguments.hpp"

/// Checks of weight, stiffness and damping matrices. They allocate.
namespace limb {

/// Checks for a symmetric positive semidefinite matrix of this size.
/// @throws Error "call: ..." that states what is wrong.
void check_semidefinite(const char* call, const char* argument, MatrixIn<double>& m,
                        Eigen::Index size);
/// Checks for a symmetric positive definite matrix of this size.
void check_definite(const char* call, const char* argument, MatrixIn<double>& m, Eigen::Index size);

}  // namespace limb
