#pragma once

#include "limb/dynamics/regressor.hpp"
#include "limb/math/log_cholesky.hpp"

/// Inertial parameters of all bodies as numbers that an optimiser may choose freely: ten
/// log-Cholesky parameters for each (limb/math/log_cholesky.hpp), in the order of the bodies. Every
/// theta is a robot of solid bodies.
///
///   theta -> p = parameters_from_log_cholesky(theta),   tau = Y p,   dtau/dtheta = Y dp/dtheta
namespace limb {

/// The theta of the model's bodies. @throws Error that names the body which is no solid one (no
/// mass, or moments that no masses have; see inertia_report), or if theta has a wrong size.
template <typename T>
void log_cholesky_parameters(const Model<T>& model, VectorOut<T> theta);

/// Vectors of all bodies, both ways; p in the order of inertial_parameters. No allocation.
/// @throws Error if sizes differ or are no multiple of ten, and as inertia_from_log_cholesky and
/// log_cholesky do; the second names the body by its number, 1 for the first.
template <typename T>
void parameters_from_log_cholesky(VectorIn<T>& theta, VectorOut<T> p);
template <typename T>
void log_cholesky_from_parameters(VectorIn<T>& p, VectorOut<T> theta);

/// Y <- Y dp/dtheta, body by body: any regressor by inertial parameters (torques, gravity,
/// momentum; a row of an energy) becomes the derivative by log-Cholesky parameters, at theta. What
/// Y p gives is linear in p, but not in theta. No allocation.
/// @throws Error if theta has not one entry for each column.
template <typename T>
void regressor_by_log_cholesky(VectorIn<T>& theta, MatrixOut<T> Y);

}  // namespace limb
