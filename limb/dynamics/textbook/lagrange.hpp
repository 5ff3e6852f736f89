#pragma once

#include <vector>

#include "limb/dynamics/arguments.hpp"

/// Energies, mass matrix and gravity from the Jacobians of the mass centres, as the derivation from
/// the Lagrangian writes them. Short, slow, readable; oracle and for teaching.
/// [Spong 2006, Euler-Lagrange equations]
namespace limb::textbook::lagrange {

/// How one body's mass centre moves with the robot's velocities; world axes.
template <typename T>
struct MassCenter {
  T mass;
  Vector3<T> p;       ///< where it is
  Matrix3<T> I;       ///< tensor about it, R I_body R^T
  MatrixX<T> Jv, Jw;  ///< 3 x velocity_size: its velocity Jv v, the body's angular velocity Jw v
};

/// Of all bodies but the world. Mass centres divide by masses; a body without mass has its own
/// origin for one.
template <typename T>
std::vector<MassCenter<T>> mass_centers(const Model<T>& model, VectorIn<T>& q);

/// M = sum of m Jv^T Jv + Jw^T I Jw.
template <typename T>
MatrixX<T> mass_matrix(const Model<T>& model, VectorIn<T>& q);

/// G = -sum of m Jv^T g: what holds the robot still.
template <typename T>
VectorX<T> gravity(const Model<T>& model, VectorIn<T>& q);

/// K = v^T M v / 2.
template <typename T>
T kinetic_energy(const Model<T>& model, VectorIn<T>& q, VectorIn<T>& v);

/// P = -sum of m g.p, zero at the world's origin.
template <typename T>
T potential_energy(const Model<T>& model, VectorIn<T>& q);

}  // namespace limb::textbook::lagrange
