#pragma once

#include <vector>

#include "limb/dynamics/arguments.hpp"

/// Energies, mass matrix and gravity from the Jacobians of the mass centres, as in the derivation
/// from the Lagrangian. Short, slow, readable: test oracle and teaching code. Each function
/// allocates and throws Error for a wrong size. [Spong 2006, Euler-Lagrange equations]
namespace limb::textbook::lagrange {

/// Mass centre of one body and its Jacobians by the generalized velocities; world axes.
template <typename T>
struct MassCenter {
  T mass;
  Vector3<T> p;       ///< position
  Matrix3<T> I;       ///< tensor about it, R I_body R^T
  MatrixX<T> Jv, Jw;  ///< 3 x nv: its velocity Jv v, the body's angular velocity Jw v
};

/// Mass centres of all bodies but the world. They divide by masses; a massless body has its origin
/// as mass centre.
template <typename T>
std::vector<MassCenter<T>> mass_centers(const Model<T>& model, VectorIn<T>& q);

/// M = sum of m Jv^T Jv + Jw^T I Jw.
template <typename T>
MatrixX<T> mass_matrix(const Model<T>& model, VectorIn<T>& q);

/// G = -sum of m Jv^T g: the torques that compensate gravity.
template <typename T>
VectorX<T> gravity(const Model<T>& model, VectorIn<T>& q);

/// K = v^T M v / 2.
template <typename T>
T kinetic_energy(const Model<T>& model, VectorIn<T>& q, VectorIn<T>& v);

/// P = -sum of m g.p, zero at the world's origin.
template <typename T>
T potential_energy(const Model<T>& model, VectorIn<T>& q);

}  // namespace limb::textbook::lagrange
