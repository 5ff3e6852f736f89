#pragma once

#include <random>

#include "limb/dynamics/arguments.hpp"

/// The configuration manifold: nq() coordinates, nv() tangent directions. q and tangents are those
/// of the independent joints; coupled joints follow. Each function throws Error for a wrong size.
/// All but random_configuration are O(n), the Jacobians O(n^2) for their zeros, and do not
/// allocate. Outputs may alias inputs.
///
/// Tangents are in the axes of the moved bodies: q moved by v is q exp(v) for quaternions, poses
/// and planar poses, and q + v for all other coordinates.
namespace limb {

/// q moved with velocity v for unit time.
template <typename T>
void integrate(const Model<T>& model, VectorIn<T>& q, VectorIn<T>& v, VectorOut<T> q_moved);

/// The velocity that moves q0 to q1 in unit time; the shorter rotation for quaternions.
template <typename T>
void difference(const Model<T>& model, VectorIn<T>& q0, VectorIn<T>& q1, VectorOut<T> v);

/// Geodesic of constant velocity from q0 (t = 0) to q1 (t = 1); extrapolates for other t.
template <typename T>
void interpolate(const Model<T>& model, VectorIn<T>& q0, VectorIn<T>& q1,
                 const std::type_identity_t<T>& t, VectorOut<T> q);

/// Norm of difference(q0, q1). Radians and metres are weighted equally.
template <typename T>
T distance(const Model<T>& model, VectorIn<T>& q0, VectorIn<T>& q1);

/// Normalizes the quaternions; other coordinates are unchanged.
template <typename T>
void normalize(const Model<T>& model, VectorOut<T> q);

/// Every independent joint at the origin of its coordinates.
template <typename T>
void neutral(const Model<T>& model, VectorOut<T> q);

/// Uniform inside the limits, those of followers included (without limits: -pi..pi, -1..1 m, all
/// orientations). The engine is the caller's: same seed, same states.
/// @throws Error (computation failed) if 1000 draws gave no state within the limits of all
/// followers.
template <Real T>
void random_configuration(const Model<T>& model, std::mt19937_64& engine, VectorOut<T> q);

/// Jacobians n x n, n = nv(), of tangents by tangents; block diagonal.
///
/// integrate(q, v) moves by J_q dq + J_v dv when q moves by dq and v changes by dv.
template <typename T>
void integrate_jacobians(const Model<T>& model, VectorIn<T>& v, MatrixOut<T> J_q, MatrixOut<T> J_v);

/// difference(q0, q1) changes by J_q0 dq0 + J_q1 dq1. Orientations must differ by less than a full
/// turn.
template <typename T>
void difference_jacobians(const Model<T>& model, VectorIn<T>& q0, VectorIn<T>& q1,
                          MatrixOut<T> J_q0, MatrixOut<T> J_q1);

}  // namespace limb
