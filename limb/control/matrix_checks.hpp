#pragma once

#include "limb/dynamics/arguments.hpp"

/// Checks of weights, stiffnesses and dampings. For designs: they allocate.
namespace limb {

/// A symmetric matrix of this size with no negative direction.
/// @throws Error "call: ..." that says what is wrong.
void check_semidefinite(const char* call, const char* argument, MatrixIn<double>& m,
                        Eigen::Index size);
/// The same with every direction positive.
void check_definite(const char* call, const char* argument, MatrixIn<double>& m, Eigen::Index size);

}  // namespace limb
