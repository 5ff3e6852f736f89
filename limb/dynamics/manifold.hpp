#pragma once

#include <random>

#include "limb/dynamics/arguments.hpp"

/// The robot's configurations as a manifold: position_size() numbers with velocity_size()
/// directions to move in. q and tangents are the robot's own; joints that follow others follow.
/// Each throws Error for a wrong size. All but random are O(n), the Jacobians O(n^2) for their
/// zeros, and do not allocate. Outputs may be the inputs themselves.
///
/// Tangents are in the axes of the moved bodies: q moved by v is q exp(v) for quaternions, poses
/// and poses in a plane, and q + v for all else.
namespace limb {

/// q moved with velocity v for unit time.
template <typename T>
void integrate(const Model<T>& model, VectorIn<T>& q, VectorIn<T>& v, VectorOut<T> q_moved);

/// The velocity that moves q0 to q1 in unit time; the shorter way round for quaternions.
template <typename T>
void difference(const Model<T>& model, VectorIn<T>& q0, VectorIn<T>& q1, VectorOut<T> v);

/// On the way of constant velocity from q0 (t = 0) to q1 (t = 1); beyond for other t.
template <typename T>
void interpolate(const Model<T>& model, VectorIn<T>& q0, VectorIn<T>& q1,
                 const std::type_identity_t<T>& t, VectorOut<T> q);

/// Length of difference(q0, q1). Radians and metres count alike.
template <typename T>
T distance(const Model<T>& model, VectorIn<T>& q0, VectorIn<T>& q1);

/// Unit quaternions made unit again; all else is untouched.
template <typename T>
void normalize(const Model<T>& model, VectorOut<T> q);

/// Every joint of its own at rest in the origin of its coordinates.
template <typename T>
void neutral(const Model<T>& model, VectorOut<T> q);

/// Uniform inside the limits, those of followers too (without limits: -pi..pi, -1..1 m, all
/// orientations). The engine is the caller's: same seed, same states.
/// @throws Error (computation failed) if 1000 draws found no state that all followers allow.
template <Real T>
void random(const Model<T>& model, std::mt19937_64& engine, VectorOut<T> q);

/// Jacobians n x n, n = velocity_size(), of tangents by tangents; block by block, zero elsewhere.
///
/// integrate(q, v) moves by J_q dq + J_v dv when q moves by dq and v changes by dv.
template <typename T>
void integrate_jacobians(const Model<T>& model, VectorIn<T>& v, MatrixOut<T> J_q, MatrixOut<T> J_v);

/// difference(q0, q1) changes by J_q0 dq0 + J_q1 dq1. Orientations less than a turn apart.
template <typename T>
void difference_jacobians(const Model<T>& model, VectorIn<T>& q0, VectorIn<T>& q1,
                          MatrixOut<T> J_q0, MatrixOut<T> J_q1);

}  // namespace limb
