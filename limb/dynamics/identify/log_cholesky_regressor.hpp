#pragma once

#include "limb/dynamics/identify/regressor.hpp"
#include "limb/math/log_cholesky.hpp"

/// Unconstrained parametrization of the inertial parameters of all bodies, for optimization: ten
/// log-Cholesky parameters per body (limb/math/log_cholesky.hpp), in the order of the bodies. Every
/// theta gives physically consistent inertias.
///
///   theta -> p = parameters_from_log_cholesky(theta),   tau = Y p,   dtau/dtheta = Y dp/dtheta
namespace limb {

/// The theta of the model's bodies. @throws Error that names the body whose inertia is not
/// physically consistent (no mass, or impossible moments; see inertia_report), or if theta has the
/// wrong size.
template <typename T>
void log_cholesky_parameters(const Model<T>& model, VectorOut<T> theta);

/// Conversions between theta and p of all bodies; p in the order of inertial_parameters. No
/// allocation.
/// @throws Error if sizes differ or are not a multiple of ten, and as inertia_from_log_cholesky and
/// log_cholesky do; the second names the body by its number, 1 for the first.
template <typename T>
void parameters_from_log_cholesky(VectorIn<T>& theta, VectorOut<T> p);
template <typename T>
void log_cholesky_from_parameters(VectorIn<T>& p, VectorOut<T> theta);

/// Y <- Y dp/dtheta, body by body: converts any regressor by inertial parameters (torques, gravity,
/// momentum; a row of an energy) to the derivative by log-Cholesky parameters at theta. Y p is
/// linear in p, but not in theta. No allocation.
/// @throws Error if theta does not have one entry per column.
template <typename T>
void regressor_by_log_cholesky(VectorIn<T>& theta, MatrixOut<T> Y);

}  // namespace limb
